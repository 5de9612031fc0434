/**
 * A small strict check that a text is one well-formed XML element: tags nest, attributes are quoted and unique,
 * character data holds no markup, and no character is one that XML 1.0 forbids. Throws where it is not.
 */
export function wellFormed(xml: string): void {
  // eslint-disable-next-line no-control-regex -- the characters that XML forbids
  const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u.exec(xml);
  if (forbidden !== null) throw new Error(`forbidden character at ${forbidden.index}`);
  const open: string[] = [];
  let roots = 0;
  let at = 0;
  const token = /<(\/?)([A-Za-z][\w:-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/y;
  while (at < xml.length) {
    token.lastIndex = at;
    const match = token.exec(xml);
    if (match === null) throw new Error(`not well formed at ${at}: ${JSON.stringify(xml.slice(at, at + 60))}`);
    const [whole, closing, name = "", attributes = "", empty, text] = match;
    if (text !== undefined) {
      if (/&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-fA-F]+);)/.test(text) || text.includes("]]>"))
        throw new Error(`bad text at ${at}`);
      if (open.length === 0 && text.trim() !== "") throw new Error(`text outside the root at ${at}`);
    } else if (closing === "/") {
      if (open.pop() !== name) throw new Error(`</${name}> closes nothing at ${at}`);
    } else {
      const names = [...attributes.matchAll(/([\w:-]+)="([^"]*)"/g)];
      if (new Set(names.map(([, key]) => key)).size !== names.length) throw new Error(`an attribute twice at ${at}`);
      for (const [, , value = ""] of names) {
        if (/&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-fA-F]+);)/.test(value)) throw new Error(`bad attribute at ${at}`);
      }
      if (open.length === 0) roots += 1;
      if (empty !== "/") open.push(name);
    }
    at += whole.length;
  }
  if (open.length > 0 || roots !== 1) throw new Error("not one element");
}
