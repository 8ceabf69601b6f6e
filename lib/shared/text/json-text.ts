import { HoneError } from "../../errors.ts";

/** Makes values of each JSON type. Numbers are passed as text, so that no digit is lost. */
export interface JsonMaker<Value> {
  /** Makes the value of null, true or false. */
  constant(value: null | boolean): Value;
  /** @param isInteger true without fraction and exponent */
  number(digits: string, isInteger: boolean): Value;
  string(text: string): Value;
  list(items: Value[]): Value;
  /** Members in the order of the text, including duplicate keys. */
  object(members: [key: string, value: Value][]): Value;
  /** Further words that a JSON dialect has, such as NaN, each with its value. */
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
 * The members of a JSON object as JSON text by key, with unchanged digits; of equal keys the last wins. Values are
 * separated but not parsed: each is parsed separately later, so that a bad one fails alone. Throws HONE_ERR_DATA.
 */
export function membersOf(json: string): Map<string, string> {
  return refusing("object", () => new JsonText(json).members());
}

/** The elements of a JSON array as JSON text, unchanged and not parsed. Throws HONE_ERR_DATA. */
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
/** Characters of a value that is neither string, list nor object. */
const BARE = /[^\s,:[\]{}"]+/y;
const UNBRACKETED = /[^"[\]{}]*/y;
const BRACKETS: ReadonlySet<string> = new Set("[]{}");
const CONSTANTS: ReadonlyMap<string, null | boolean> = new Map([
  ["null", null],
  ["true", true],
  ["false", false],
]);

/** A text and how far it has been read. */
class Cursor {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The next character; undefined at the end. */
  get next(): string | undefined {
    return this.text[this.at];
  }

  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found !== null) this.at += found[0].length;
    return found;
  }

  skipBlank(): void {
    this.match(BLANK);
  }

  take(character: string): boolean {
    if (this.next !== character) return false;
    this.at += 1;
    return true;
  }

  expect(character: string): void {
    if (!this.take(character)) this.fault(`no ${character}`);
  }

  fault(what: string, at = this.at): never {
    throw new SyntaxError(`${what} at character ${at + 1}`);
  }

  /** Moves past the closing quote: looks only for quotes and the backslashes before them. */
  skipString(): void {
    const start = this.at + 1;
    this.expect('"');
    for (let end = this.text.indexOf('"', start); end >= 0; end = this.text.indexOf('"', end + 1)) {
      if (this.#backslashes(start, end) % 2 === 1) continue;
      this.at = end + 1;
      return;
    }
    this.fault("unterminated string");
  }

  /** Number of backslashes before `end`, not counting any before `start`. */
  #backslashes(start: number, end: number): number {
    let first = end;
    while (first > start && this.text[first - 1] === "\\") first -= 1;
    return end - first;
  }
}

class JsonText {
  readonly #in: Cursor;

  constructor(text: string) {
    this.#in = new Cursor(text);
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
    this.#in.skipBlank();
    const value = read();
    this.#in.skipBlank();
    if (this.#in.at < this.#in.text.length) this.#in.fault("more behind its end");
    return value;
  }

  #value<Value>(make: JsonMaker<Value>, depth: number): Value {
    if (depth > make.maxDepth) this.#in.fault(`nested deeper than ${make.maxDepth}`);
    const next = this.#in.next;
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
    const number = this.#in.match(NUMBER);
    if (number !== null) return make.number(number[0], number[1] === undefined && number[2] === undefined);
    const start = this.#in.at;
    const word = this.#in.match(WORD)?.[0] ?? "";
    const constant = CONSTANTS.get(word);
    if (constant !== undefined) return make.constant(constant);
    const value = make.words?.get(word);
    if (value !== undefined) return value;
    return this.#in.fault("no value", start);
  }

  #list(item: () => void): void {
    this.#in.expect("[");
    this.#in.skipBlank();
    if (this.#in.take("]")) return;
    for (;;) {
      item();
      this.#in.skipBlank();
      if (this.#in.take("]")) return;
      this.#in.expect(",");
      this.#in.skipBlank();
    }
  }

  #object(member: (key: string) => void): void {
    this.#in.expect("{");
    this.#in.skipBlank();
    if (this.#in.take("}")) return;
    for (;;) {
      const key = this.#string();
      this.#in.skipBlank();
      this.#in.expect(":");
      this.#in.skipBlank();
      member(key);
      this.#in.skipBlank();
      if (this.#in.take("}")) return;
      this.#in.expect(",");
      this.#in.skipBlank();
    }
  }

  #string(): string {
    const start = this.#in.at;
    this.#in.skipString();
    try {
      return JSON.parse(this.#in.text.slice(start, this.#in.at)) as string;
    } catch {
      return this.#in.fault("no string", start);
    }
  }

  /** Returns the text of a value; looks only at its strings and brackets. */
  #skipped(): string {
    const start = this.#in.at;
    let depth = 0;
    do {
      if (depth > 0) this.#in.match(UNBRACKETED);
      const next = this.#in.next;
      if (next === '"') this.#in.skipString();
      else if (next === "[" || next === "{") depth += 1;
      else if (depth > 0 && (next === "]" || next === "}")) depth -= 1;
      else if (depth > 0 || this.#in.match(BARE) === null) this.#in.fault("no value");
      if (next !== undefined && BRACKETS.has(next)) this.#in.at += 1;
    } while (depth > 0);
    return this.#in.text.slice(start, this.#in.at);
  }
}
