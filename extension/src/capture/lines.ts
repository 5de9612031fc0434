import { StringDecoder } from "node:string_decoder";

/** Splits a byte stream into lines that end with LF; a line over the limit is reported and skipped whole. */
export class LineReader {
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  #skipping = false;

  constructor(
    private readonly maxBytes: number,
    private readonly onLine: (line: string) => void,
    private readonly onTooLong: () => void,
  ) {}

  push(bytes: Buffer): void {
    this.#rest += this.#decoder.write(bytes);
    for (let end = this.#rest.indexOf("\n"); end >= 0; end = this.#rest.indexOf("\n")) {
      const line = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + 1);
      if (this.#skipping) this.#skipping = false;
      else if (Buffer.byteLength(line) > this.maxBytes) this.onTooLong();
      else if (line !== "") this.onLine(line);
    }
    if (this.#rest.length > this.maxBytes) {
      this.#rest = "";
      if (!this.#skipping) this.onTooLong();
      this.#skipping = true;
    }
  }
}
