/** Nested deeper than any constraint. */
const MAX_DEPTH = 50;
const MAX_CHARS = 1 << 20;

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
  "\n": "",
};
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };
const NAMES: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["None", null],
  ["True", true],
  ["False", false],
]);

/**
 * The value of a Python literal as repr() writes it: None, booleans, numbers, strings, lists, tuples (as lists) and
 * dicts with string keys. Nothing is evaluated. Throws SyntaxError, with the position, on anything else, on
 * integers JavaScript cannot hold, and past 2^20 characters or 50 levels.
 * Source: Python language reference §2.4, the part that ast.literal_eval takes and data sets use.
 */
export function parsePythonLiteral(text: string): unknown {
  if (text.length > MAX_CHARS) throw new SyntaxError(`a Python literal of ${text.length} characters`);
  return new Literal(text).whole();
}

class Literal {
  readonly #text: string;
  #at = 0;
  /** The display read last had a comma behind its last item. */
  #closedByComma = false;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#error("more behind the value");
    return value;
  }

  #value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw this.#error(`more than ${MAX_DEPTH} levels`);
    this.#space();
    const first = this.#text[this.#at];
    if (first === "[") return this.#items("]", () => this.#value(depth + 1));
    if (first === "(") return this.#tuple(depth + 1);
    if (first === "{") return Object.fromEntries(this.#items("}", () => this.#member(depth + 1)));
    if (first === "'" || first === '"') return this.#string();
    return this.#atom();
  }

  #member(depth: number): [string, unknown] {
    this.#space();
    const quote = this.#text[this.#at];
    if (quote !== "'" && quote !== '"') throw this.#error("a key that is no string");
    const key = this.#string();
    this.#space();
    if (this.#text[this.#at] !== ":") throw this.#error("no colon");
    this.#at += 1;
    return [key, this.#value(depth)];
  }

  /** Parentheses around one value without a comma would be that value, which repr() never writes. */
  #tuple(depth: number): unknown[] {
    const items = this.#items(")", () => this.#value(depth));
    if (items.length === 1 && !this.#closedByComma) throw this.#error("parentheses around one value");
    return items;
  }

  #items<T>(close: string, item: () => T): T[] {
    const items: T[] = [];
    let comma = false;
    this.#at += 1;
    for (;;) {
      this.#space();
      if (this.#text[this.#at] === close) break;
      items.push(item());
      this.#space();
      comma = this.#text[this.#at] === ",";
      if (comma) this.#at += 1;
      else if (this.#text[this.#at] !== close) throw this.#error(`neither a comma nor ${close}`);
    }
    this.#at += 1;
    this.#closedByComma = comma;
    return items;
  }

  #string(): string {
    const quote = this.#text[this.#at]!;
    let value = "";
    for (this.#at += 1; ; this.#at += 1) {
      const c = this.#text[this.#at];
      if (c === quote) break;
      if (c === undefined || c === "\n") throw this.#error("a string without its end");
      value += c === "\\" ? this.#escape() : c;
    }
    this.#at += 1;
    return value;
  }

  /** On a backslash; ends on the last character of the escape. Unknown escapes stay as they are, as in Python. */
  #escape(): string {
    this.#at += 1;
    const c = this.#text[this.#at] ?? "";
    const digits = HEX_DIGITS[c];
    if (digits === undefined) return ESCAPES[c] ?? `\\${c}`;
    const hex = this.#text.slice(this.#at + 1, this.#at + 1 + digits);
    const code = /^[0-9a-fA-F]+$/.test(hex) && hex.length === digits ? Number.parseInt(hex, 16) : -1;
    if (code < 0 || code > 0x10ffff) throw this.#error(`a bad \\${c} escape`);
    this.#at += digits;
    return String.fromCodePoint(code);
  }

  #atom(): unknown {
    const atom = /[\w.+-]*/y;
    atom.lastIndex = this.#at;
    const word = atom.exec(this.#text)![0];
    const value = NAMES.has(word) ? NAMES.get(word) : numberOf(word);
    if (value === undefined) throw this.#error("no value");
    this.#at += word.length;
    return value;
  }

  #space(): void {
    while (/[ \t\n\r\f]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  #error(what: string): SyntaxError {
    return new SyntaxError(`${what} at character ${this.#at} of a Python literal`);
  }
}

function numberOf(word: string): number | undefined {
  if (/^[+-]?(?:0+|[1-9]\d*)$/.test(word)) {
    const value = Number(word);
    return Number.isSafeInteger(value) ? value : undefined;
  }
  return /^[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?$/.test(word) ? Number(word) : undefined;
}
