import { HoneError } from "./errors.ts";

/** What a reader makes of each kind of JSON value. Numbers come as they are written, so that no digit is lost. */
export interface JsonMaker<Value> {
  /** null, true, false. */
  constant(value: null | boolean): Value;
  /** @param isInteger without fraction and exponent. */
  number(digits: string, isInteger: boolean): Value;
  string(text: string): Value;
  list(items: Value[]): Value;
  /** In the order of the text, equal keys as often as they stand there. */
  object(members: [key: string, value: Value][]): Value;
  /** Words that a dialect knows beside JSON's three, each with its value: NaN. */
  readonly words?: ReadonlyMap<string, Value>;
  /** Deeper nesting is refused. */
  readonly maxDepth: number;
}

/**
 * The value of a JSON text. Linear in the text. Throws SyntaxError with the place of the first fault.
 * Source: RFC 8259.
 */
export function readJsonText<Value>(text: string, make: JsonMaker<Value>): Value {
  return new JsonText(text).read(make);
}

/**
 * The members of a JSON object as JSON text by key, digits as they stand: the last of a key wins. The values are told
 * apart, not read: each is for a reader, which then fails alone. Throws HONE_ERR_DATA.
 */
export function membersOf(json: string): Map<string, string> {
  return refusing("object", () => new JsonText(json).members());
}

/** The elements of a JSON array in the same way. Throws HONE_ERR_DATA. */
export function elementsOf(json: string): string[] {
  return refusing("array", () => new JsonText(json).elements());
}

function refusing<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new HoneError("HONE_ERR_DATA", `no JSON ${what}: ${cause.message}`, { cause });
  }
}

const BLANK = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const WORD = /-?[A-Za-z]+/y;
/** What a value may be that is no string, list or object. */
const BARE = /[^\s,:[\]{}"]+/y;
const UNBRACKETED = /[^"[\]{}]*/y;
const BRACKETS: ReadonlySet<string> = new Set("[]{}");
const CONSTANTS: ReadonlyMap<string, null | boolean> = new Map([
  ["null", null],
  ["true", true],
  ["false", false],
]);

/** A JSON text and how far it has been read. */
class JsonText {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read<Value>(make: JsonMaker<Value>): Value {
    return this.#whole(() => this.#value(make, 0));
  }

  elements(): string[] {
    const elements: string[] = [];
    this.#whole(() => this.#list(() => void elements.push(this.#skipped())));
    return elements;
  }

  members(): Map<string, string> {
    const members = new Map<string, string>();
    this.#whole(() => this.#object((key) => void members.set(key, this.#skipped())));
    return members;
  }

  #whole<T>(read: () => T): T {
    this.#skipBlank();
    const value = read();
    this.#skipBlank();
    if (this.#at < this.#text.length) this.#fault("more behind its end");
    return value;
  }

  #value<Value>(make: JsonMaker<Value>, depth: number): Value {
    if (depth > make.maxDepth) this.#fault(`nested deeper than ${make.maxDepth}`);
    const next = this.#text[this.#at];
    if (next === '"') return make.string(this.#string());
    if (next === "[") {
      const items: Value[] = [];
      this.#list(() => void items.push(this.#value(make, depth + 1)));
      return make.list(items);
    }
    if (next === "{") {
      const members: [string, Value][] = [];
      this.#object((key) => void members.push([key, this.#value(make, depth + 1)]));
      return make.object(members);
    }
    return this.#scalar(make);
  }

  #scalar<Value>(make: JsonMaker<Value>): Value {
    const number = this.#match(NUMBER);
    if (number !== null) return make.number(number[0], number[1] === undefined && number[2] === undefined);
    const start = this.#at;
    const word = this.#match(WORD)?.[0] ?? "";
    const constant = CONSTANTS.get(word);
    if (constant !== undefined) return make.constant(constant);
    const value = make.words?.get(word);
    if (value !== undefined) return value;
    this.#at = start;
    return this.#fault("no value");
  }

  #list(item: () => void): void {
    this.#expect("[");
    this.#skipBlank();
    if (this.#take("]")) return;
    for (;;) {
      item();
      this.#skipBlank();
      if (this.#take("]")) return;
      this.#expect(",");
      this.#skipBlank();
    }
  }

  #object(member: (key: string) => void): void {
    this.#expect("{");
    this.#skipBlank();
    if (this.#take("}")) return;
    for (;;) {
      const key = this.#string();
      this.#skipBlank();
      this.#expect(":");
      this.#skipBlank();
      member(key);
      this.#skipBlank();
      if (this.#take("}")) return;
      this.#expect(",");
      this.#skipBlank();
    }
  }

  #string(): string {
    const start = this.#at;
    this.#skipString();
    try {
      return JSON.parse(this.#text.slice(start, this.#at)) as string;
    } catch {
      this.#at = start;
      return this.#fault("no string");
    }
  }

  /** To behind the closing quote; what stands between the quotes is not looked at. */
  #skipString(): void {
    this.#expect('"');
    for (let end = this.#text.indexOf('"', this.#at); end >= 0; end = this.#text.indexOf('"', end + 1)) {
      if (this.#backslashesBefore(end) % 2 === 1) continue;
      this.#at = end + 1;
      return;
    }
    this.#fault("no end of the string");
  }

  #backslashesBefore(end: number): number {
    let start = end;
    while (start > this.#at && this.#text[start - 1] === "\\") start -= 1;
    return end - start;
  }

  /** The text of a value, of which only strings and brackets are looked at. */
  #skipped(): string {
    const start = this.#at;
    let depth = 0;
    do {
      if (depth > 0) this.#match(UNBRACKETED);
      const next = this.#text[this.#at];
      if (next === '"') this.#skipString();
      else if (next === "[" || next === "{") depth += 1;
      else if (depth > 0 && (next === "]" || next === "}")) depth -= 1;
      else if (depth > 0 || this.#match(BARE) === null) this.#fault("no value");
      if (next !== undefined && BRACKETS.has(next)) this.#at += 1;
    } while (depth > 0);
    return this.#text.slice(start, this.#at);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  #skipBlank(): void {
    this.#match(BLANK);
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #expect(character: string): void {
    if (!this.#take(character)) this.#fault(`no ${character}`);
  }

  #fault(what: string): never {
    throw new SyntaxError(`${what} at character ${this.#at + 1}`);
  }
}
