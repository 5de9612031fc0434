/** Text of other people in Markdown: it is shown as it is, never as markup. */

const anywhere = /[\\`*_{}[\]<>~&$|]/g;
const lineStart = /^(\s*)([#+=:-]|\d+(?=[.)]))/gm;

/** Escapes one piece of text so that Markdown shows exactly its characters. */
export function plain(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(anywhere, (character) => `\\${character}`)
    .replace(lineStart, (_match, blank: string, mark: string) =>
      /\d/.test(mark) ? `${blank}${mark}\\` : `${blank}\\${mark}`,
    )
    .replace(/\n/g, "  \n");
}

/** The excerpt of a hit with what was found in bold. The ranges are UTF-16 and in order. */
export function highlighted(excerpt: string, matches: readonly { start: number; end: number }[]): string {
  let result = "";
  let at = 0;
  for (const { start, end } of matches) {
    if (start < at || end <= start || end > excerpt.length) continue;
    const found = excerpt.slice(start, end);
    // Markdown has no bold that begins or ends with a blank.
    result += plain(excerpt.slice(at, start)) + (found.trim() === found ? `**${plain(found)}**` : plain(found));
    at = end;
  }
  return result + plain(excerpt.slice(at));
}
