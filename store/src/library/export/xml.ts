import { graphemesOf } from "../../session/graphemes";

/** Text as XML character data: markup escaped, characters that XML 1.0 has no way to hold replaced. */
export function escapeXml(text: string): string {
  return (
    text
      // eslint-disable-next-line no-control-regex -- these are the characters that XML forbids
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
  );
}

/** Text as the value of a double-quoted attribute. */
export function attribute(text: string): string {
  return escapeXml(text).replaceAll('"', "&quot;");
}

/** One line of at most so many columns, wide characters counting two, cut at a grapheme border with `…`. */
export function cut(text: string, columns: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  let width = 0;
  /** Where the part ends that has room for the ellipsis behind it. */
  let end = 0;
  for (const { index, segment } of graphemesOf(line)) {
    width += WIDE.test(segment) ? 2 : 1;
    if (width > columns) return `${line.slice(0, end).trimEnd()}…`;
    if (width < columns) end = index + segment.length;
  }
  return line;
}

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{3fffd}]/u;
