/**
 * The byte pass over one record: UTF-8, JSON syntax, depth, duplicate keys, lone surrogates and number range in one go,
 * and for the end of a file the answer whether the bytes are a proper prefix of a record (Session file format, Native
 * writes, assets and recovery: only a genuinely incomplete fragment is a candidate for tail repair).
 *
 * It keeps one bit of state a container and one set of keys an open object, never recurses, and stops at the first
 * defect.
 */
import { MAX_DEPTH } from "./names";

export type JsonDefect =
  | "byte-order-mark"
  | "depth-exceeded"
  | "duplicate-key"
  | "invalid-json"
  | "invalid-utf8"
  | "lone-surrogate"
  | "not-an-object"
  | "number-out-of-range";

export type JsonScan =
  | { kind: "ok" }
  /** Some continuation makes it a record. */
  | { kind: "prefix" }
  /** No continuation can make it one. `offset` counts bytes from the start of what was scanned. */
  | { kind: "error"; code: JsonDefect; offset: number };

/** What may come next between tokens. */
const enum Expect {
  Value,
  ValueOrEnd,
  KeyOrEnd,
  Key,
  Colon,
  CommaOrEnd,
  Nothing,
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_U = 0x75;

const TRUE = Buffer.from("true");
const FALSE = Buffer.from("false");
const NULL = Buffer.from("null");

const OK: JsonScan = { kind: "ok" };
const PREFIX: JsonScan = { kind: "prefix" };

/** Scans one record without its LF. The outermost value must be an object. */
export function scanJson(bytes: Uint8Array): JsonScan {
  return new Scanner(bytes).run();
}

class Scanner {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at = 0;
  #defect: JsonDefect | "ends" | undefined;
  /** The containers that are open, outermost first: the keys seen of an object, null for an array. */
  readonly #open: (Set<string> | null)[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.byteLength;
  }

  run(): JsonScan {
    if (this.#bytes[0] === 0xef && this.#bytes[1] === 0xbb && this.#bytes[2] === 0xbf) {
      return { kind: "error", code: "byte-order-mark", offset: 0 };
    }
    let expect = Expect.Value;
    for (;;) {
      this.#skipSpace();
      if (this.#at >= this.#end) return expect === Expect.Nothing ? OK : PREFIX;
      const next = this.#token(expect);
      if (this.#defect === "ends") return PREFIX;
      if (this.#defect !== undefined) return { kind: "error", code: this.#defect, offset: this.#at };
      expect = next;
    }
  }

  #skipSpace(): void {
    while (this.#at < this.#end) {
      const byte = this.#bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return;
      this.#at += 1;
    }
  }

  /** Reads one token and says what may follow. A defect is left in `#defect`, at `#at`. */
  #token(expect: Expect): Expect {
    const byte = this.#bytes[this.#at];
    switch (expect) {
      case Expect.Nothing:
        return this.#fail(byte === undefined ? "invalid-json" : this.#syntaxOrUtf8(byte));
      case Expect.Colon:
        if (byte !== COLON) return this.#unexpected();
        this.#at += 1;
        return Expect.Value;
      case Expect.CommaOrEnd: {
        const inObject = this.#open[this.#open.length - 1] !== null;
        if (byte === COMMA) {
          this.#at += 1;
          return inObject ? Expect.Key : Expect.Value;
        }
        if (byte === (inObject ? CLOSE_BRACE : CLOSE_BRACKET)) return this.#close();
        return this.#unexpected();
      }
      case Expect.KeyOrEnd:
        if (byte === CLOSE_BRACE) return this.#close();
        return this.#key();
      case Expect.Key:
        return this.#key();
      case Expect.ValueOrEnd:
        if (byte === CLOSE_BRACKET) return this.#close();
        return this.#value();
      case Expect.Value:
        return this.#value();
    }
  }

  #close(): Expect {
    this.#at += 1;
    this.#open.pop();
    return this.#open.length === 0 ? Expect.Nothing : Expect.CommaOrEnd;
  }

  #key(): Expect {
    if (this.#bytes[this.#at] !== QUOTE) return this.#unexpected();
    const start = this.#at;
    const escaped = this.#string();
    if (this.#defect !== undefined) return Expect.Nothing;
    const keys = this.#open[this.#open.length - 1];
    const raw = this.#bytes.toString("utf8", start + 1, this.#at - 1);
    const key = escaped ? String(JSON.parse(`"${raw}"`)) : raw;
    if (keys?.has(key) === true) {
      this.#at = start;
      return this.#fail("duplicate-key");
    }
    keys?.add(key);
    return Expect.Colon;
  }

  #value(): Expect {
    const byte = this.#bytes[this.#at];
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (this.#open.length === 0 && byte !== OPEN_BRACE) return this.#fail("not-an-object");
      if (this.#open.length === MAX_DEPTH) return this.#fail("depth-exceeded");
      this.#open.push(byte === OPEN_BRACE ? new Set() : null);
      this.#at += 1;
      return byte === OPEN_BRACE ? Expect.KeyOrEnd : Expect.ValueOrEnd;
    }
    if (this.#open.length === 0) {
      return this.#fail(byte !== undefined && startsValue(byte) ? "not-an-object" : this.#syntaxOrUtf8(byte));
    }
    if (byte === QUOTE) this.#string();
    else if (byte === 0x74) this.#literal(TRUE);
    else if (byte === 0x66) this.#literal(FALSE);
    else if (byte === 0x6e) this.#literal(NULL);
    else if (byte !== undefined && (byte === MINUS || isDigit(byte))) this.#number();
    else return this.#unexpected();
    return Expect.CommaOrEnd;
  }

  #literal(word: Buffer): void {
    for (const expected of word) {
      if (this.#at >= this.#end) return this.#ends();
      if (this.#bytes[this.#at] !== expected) {
        this.#unexpected();
        return;
      }
      this.#at += 1;
    }
  }

  #number(): void {
    const start = this.#at;
    let exponent = false;
    if (this.#bytes[this.#at] === MINUS) this.#at += 1;
    if (this.#bytes[this.#at] === ZERO) this.#at += 1;
    else if (!this.#digits()) return;
    if (this.#bytes[this.#at] === 0x2e) {
      this.#at += 1;
      if (!this.#digits()) return;
    }
    const letter = this.#bytes[this.#at];
    if (letter === 0x65 || letter === 0x45) {
      exponent = true;
      this.#at += 1;
      const sign = this.#bytes[this.#at];
      if (sign === 0x2b || sign === MINUS) this.#at += 1;
      if (!this.#digits()) return;
    }
    // More digits of an exponent do not bring a number back into range; a number without one may still get one.
    const complete = this.#at < this.#end || exponent;
    if (complete && !Number.isFinite(Number(this.#bytes.toString("latin1", start, this.#at)))) {
      this.#at = start;
      this.#fail("number-out-of-range");
    }
  }

  /** At least one digit. */
  #digits(): boolean {
    const start = this.#at;
    while (isDigit(this.#bytes[this.#at])) this.#at += 1;
    if (this.#at > start) return true;
    if (this.#at >= this.#end) this.#ends();
    else this.#unexpected();
    return false;
  }

  /** Reads a string with its quotes; true when it holds an escape. */
  #string(): boolean {
    let escaped = false;
    this.#at += 1;
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) {
        this.#ends();
        return escaped;
      }
      if (byte === QUOTE) {
        this.#at += 1;
        return escaped;
      }
      if (byte === BACKSLASH) {
        escaped = true;
        if (!this.#escape()) return escaped;
      } else if (byte < 0x20) {
        this.#fail("invalid-json");
        return escaped;
      } else if (byte < 0x80) this.#at += 1;
      else if (!this.#multibyte(byte)) return escaped;
    }
  }

  #escape(): boolean {
    const start = this.#at;
    const letter = this.#bytes[start + 1];
    if (letter === undefined) return this.#stop("ends");
    if (letter !== LETTER_U) {
      this.#at += 1;
      if (!isShortEscape(letter)) return this.#stop(this.#syntaxOrUtf8(letter));
      this.#at += 1;
      return true;
    }
    const unit = this.#hex(start + 2);
    if (unit === undefined) return false;
    if (unit >= 0xdc00 && unit <= 0xdfff) return this.#stop("lone-surrogate");
    if (unit < 0xd800 || unit > 0xdbff) {
      this.#at = start + 6;
      return true;
    }
    return this.#lowSurrogate(start);
  }

  /** The second half of a pair must follow the first half at `start` at once. */
  #lowSurrogate(start: number): boolean {
    for (const [index, expected] of [BACKSLASH, LETTER_U].entries()) {
      const byte = this.#bytes[start + 6 + index];
      if (byte === undefined) return this.#stop("ends");
      if (byte !== expected) return this.#stop("lone-surrogate");
    }
    const low = this.#lowHex(start + 8);
    if (low === "ends") return this.#stop("ends");
    if (low === "other") return this.#stop("lone-surrogate");
    if (this.#hex(start + 8) === undefined) return false;
    this.#at = start + 12;
    return true;
  }

  /** Whether the digits at `from`, as far as they are there, can be those of U+DC00 to U+DFFF. */
  #lowHex(from: number): "low" | "ends" | "other" {
    const first = this.#bytes[from];
    if (first === undefined) return "ends";
    if (first !== 0x64 && first !== 0x44) return "other";
    const second = this.#bytes[from + 1];
    if (second === undefined) return "ends";
    const digit = hexDigit(second);
    return digit !== undefined && digit >= 0xc ? "low" : "other";
  }

  #hex(from: number): number | undefined {
    let value = 0;
    for (let index = from; index < from + 4; index += 1) {
      const byte = this.#bytes[index];
      if (byte === undefined) {
        this.#stop("ends");
        return undefined;
      }
      const digit = hexDigit(byte);
      if (digit === undefined) {
        this.#at = index;
        this.#stop(this.#syntaxOrUtf8(byte));
        return undefined;
      }
      value = value * 16 + digit;
    }
    return value;
  }

  /** One character of two to four bytes, by the table of well-formed sequences of the Unicode Standard (3-7). */
  #multibyte(lead: number): boolean {
    let more: number;
    let lowest = 0x80;
    let highest = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) more = 1;
    else if (lead >= 0xe0 && lead <= 0xef) {
      more = 2;
      if (lead === 0xe0) lowest = 0xa0;
      if (lead === 0xed) highest = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      more = 3;
      if (lead === 0xf0) lowest = 0x90;
      if (lead === 0xf4) highest = 0x8f;
    } else return this.#stop("invalid-utf8");
    for (let index = 1; index <= more; index += 1) {
      const byte = this.#bytes[this.#at + index];
      if (byte === undefined) return this.#stop("ends");
      if (byte < lowest || byte > highest) return this.#stop("invalid-utf8");
      lowest = 0x80;
      highest = 0xbf;
    }
    this.#at += more + 1;
    return true;
  }

  #ends(): void {
    this.#defect = "ends";
  }

  #stop(defect: JsonDefect | "ends"): false {
    this.#defect = defect;
    return false;
  }

  #fail(defect: JsonDefect): Expect {
    this.#defect = defect;
    return Expect.Nothing;
  }

  #unexpected(): Expect {
    return this.#fail(this.#syntaxOrUtf8(this.#bytes[this.#at]));
  }

  /** Between tokens any byte beyond ASCII is wrong; one that is not UTF-8 either is named for that. */
  #syntaxOrUtf8(byte: number | undefined): JsonDefect {
    if (byte === undefined || byte < 0x80) return "invalid-json";
    const at = this.#at;
    const wellFormed = this.#multibyte(byte) || this.#defect === "ends";
    this.#at = at;
    this.#defect = undefined;
    return wellFormed ? "invalid-json" : "invalid-utf8";
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

function startsValue(byte: number): boolean {
  return byte === QUOTE || byte === MINUS || isDigit(byte) || byte === 0x74 || byte === 0x66 || byte === 0x6e;
}

function isShortEscape(letter: number): boolean {
  switch (letter) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true;
    default:
      return false;
  }
}

function hexDigit(byte: number): number | undefined {
  if (byte >= ZERO && byte <= NINE) return byte - ZERO;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}
