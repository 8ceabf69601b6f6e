import { bool, dict, float, int, list, NONE, type PythonValue, str } from "./value.ts";

/** Deeper nesting is not read; CPython's reader gives up at about twice this depth. */
const MAX_DEPTH = 500;
const MAX_DIGITS = 4300;

const BLANK = /[ \t\n\r]*/y;
const NUMBER = /(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them raw in strings
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const WORDS: readonly (readonly [string, PythonValue])[] = [
  ["null", NONE],
  ["true", bool(true)],
  ["false", bool(false)],
  ["NaN", float(Number.NaN)],
  ["Infinity", float(Number.POSITIVE_INFINITY)],
  ["-Infinity", float(Number.NEGATIVE_INFINITY)],
];
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/**
 * The value of a JSON text as Python's json.loads reads it, or undefined: `1` is an int and `1.0` a float, ints are
 * exact (up to 4,300 digits), NaN and Infinity are numbers, of equal keys the last value wins. Keys are never
 * looked up in an object, so none is special. Linear in the text; at most 500 levels.
 * Source: Python 3.11, module json.
 */
export function readJson(text: string): PythonValue | undefined {
  const reader = new JsonReader(text);
  try {
    return reader.document();
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

class Malformed extends Error {}

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): PythonValue {
    this.#skipBlank();
    const value = this.#value(0);
    this.#skipBlank();
    if (this.#at < this.#text.length) throw new Malformed();
    return value;
  }

  #value(depth: number): PythonValue {
    if (depth > MAX_DEPTH) throw new Malformed();
    const next = this.#text[this.#at];
    if (next === '"') return str(this.#string());
    if (next === "{") return this.#object(depth);
    if (next === "[") return this.#array(depth);
    const word = WORDS.find(([spelled]) => this.#text.startsWith(spelled, this.#at));
    if (word === undefined) return this.#number();
    this.#at += word[0].length;
    return word[1];
  }

  #array(depth: number): PythonValue {
    const items: PythonValue[] = [];
    this.#at += 1;
    this.#skipBlank();
    if (this.#take("]")) return list(items);
    for (;;) {
      items.push(this.#value(depth + 1));
      this.#skipBlank();
      if (this.#take("]")) return list(items);
      this.#expect(",");
      this.#skipBlank();
    }
  }

  #object(depth: number): PythonValue {
    const entries: [PythonValue, PythonValue][] = [];
    this.#at += 1;
    this.#skipBlank();
    if (this.#take("}")) return dict(entries)!;
    for (;;) {
      if (this.#text[this.#at] !== '"') throw new Malformed();
      const key = str(this.#string());
      this.#skipBlank();
      this.#expect(":");
      this.#skipBlank();
      entries.push([key, this.#value(depth + 1)]);
      this.#skipBlank();
      if (this.#take("}")) return dict(entries)!;
      this.#expect(",");
      this.#skipBlank();
    }
  }

  #string(): string {
    this.#at += 1;
    let value = "";
    for (;;) {
      value += this.#match(PLAIN)![0];
      if (this.#take('"')) return value;
      this.#expect("\\");
      const kind = this.#text[this.#at];
      this.#at += 1;
      value += kind === "u" ? this.#codeUnit() : (ESCAPES.get(kind ?? "") ?? fail());
    }
  }

  #codeUnit(): string {
    const digits = this.#text.slice(this.#at, this.#at + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new Malformed();
    this.#at += 4;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #number(): PythonValue {
    const [whole, integer, fraction, exponent] = this.#match(NUMBER) ?? fail();
    if (fraction !== undefined || exponent !== undefined) return float(Number(whole));
    if (integer!.length > MAX_DIGITS) throw new Malformed();
    return int(BigInt(integer!));
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
    if (!this.#take(character)) throw new Malformed();
  }
}

function fail(): never {
  throw new Malformed();
}
