import { isSpace, isWordChar } from "./text.ts";

/** What a regular expression says, read from its text. */
export type Node =
  | { readonly kind: "char"; readonly test: (char: string) => boolean }
  | { readonly kind: "assert"; readonly holds: Assertion }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Node[] }
  | {
      readonly kind: "repeat";
      readonly part: Node;
      readonly least: number;
      readonly most: number;
      readonly lazy: boolean;
    };

/** "word": between a word character and none; "line" assertions hold at ends of lines, "text" at those of the text. */
export type Assertion =
  | "word"
  | "notWord"
  | "lineStart"
  | "lineEnd"
  | "textStart"
  | "textEnd"
  | "lastLineEnd";

/** `invalid`: Python refuses the pattern too. `unsupported`: Python has it, matching in linear time cannot or does not. */
export class PatternError extends Error {
  readonly kind: "invalid" | "unsupported";

  constructor(kind: "invalid" | "unsupported", message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface SyntaxOptions {
  readonly ignoreCase: boolean;
  /** `^` and `$` hold at every line. */
  readonly multiline: boolean;
}

const isDigit = (char: string): boolean => /^\p{Nd}$/u.test(char);

const CLASS_ESCAPES: ReadonlyMap<string, (char: string) => boolean> = new Map([
  ["d", isDigit],
  ["D", (c: string) => !isDigit(c)],
  ["s", isSpace],
  ["S", (c: string) => !isSpace(c)],
  ["w", isWordChar],
  ["W", (c: string) => !isWordChar(c)],
]);
const ASSERT_ESCAPES: ReadonlyMap<string, Assertion> = new Map([
  ["b", "word"],
  ["B", "notWord"],
  ["A", "textStart"],
  ["Z", "textEnd"],
]);
const CHAR_ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({ a: "\x07", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "0": "\0" }),
);
const HEX_DIGITS: ReadonlyMap<string, number> = new Map(Object.entries({ x: 2, u: 4, U: 8 }));

const MAX_DEPTH = 50;
const MAX_REPEAT = 1000;

/**
 * Reads the part of Python's `re` that can be matched in linear time: characters, classes, `. \d \w \s \b ^ $`,
 * groups, alternatives, greedy and lazy repeats. Not back references, looking around, inline flags or possessive
 * repeats. Throws PatternError. With ignoreCase the text to be matched must be folded (pattern.ts).
 */
export function readPattern(source: string, options: SyntaxOptions): Node {
  return new Reader(source, options).pattern();
}

class Reader {
  readonly #chars: readonly string[];
  readonly #options: SyntaxOptions;
  #at = 0;
  #depth = 0;

  constructor(source: string, options: SyntaxOptions) {
    this.#chars = [...source];
    this.#options = options;
  }

  pattern(): Node {
    const node = this.#choice();
    if (this.#at < this.#chars.length) throw new PatternError("invalid", "unbalanced parenthesis");
    return node;
  }

  #take(char: string): boolean {
    if (this.#chars[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #next(): string {
    const char = this.#chars[this.#at++];
    if (char === undefined) throw new PatternError("invalid", "ends too early");
    return char;
  }

  #choice(): Node {
    if (++this.#depth > MAX_DEPTH) throw new PatternError("unsupported", "nested too deep");
    const parts = [this.#sequence()];
    while (this.#take("|")) parts.push(this.#sequence());
    this.#depth -= 1;
    return parts.length === 1 ? parts[0]! : { kind: "choice", parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    for (;;) {
      const char = this.#chars[this.#at];
      if (char === undefined || char === "|" || char === ")") return { kind: "sequence", parts };
      parts.push(this.#repeated(this.#atom()));
    }
  }

  #atom(): Node {
    const char = this.#next();
    const { multiline } = this.#options;
    switch (char) {
      case ".":
        return { kind: "char", test: (c) => c !== "\n" };
      case "^":
        return { kind: "assert", holds: multiline ? "lineStart" : "textStart" };
      case "$":
        return { kind: "assert", holds: multiline ? "lineEnd" : "lastLineEnd" };
      case "(":
        return this.#group();
      case "[":
        return { kind: "char", test: this.#class() };
      case "\\":
        return this.#escape();
      case "*":
      case "+":
      case "?":
        throw new PatternError("invalid", "nothing to repeat");
      default:
        return this.#literal(char);
    }
  }

  #literal(char: string): Node {
    const wanted = this.#options.ignoreCase ? foldCase(char) : char;
    return { kind: "char", test: (c) => c === wanted };
  }

  /** A class made for any case, asked about folded characters. */
  #folding(test: (char: string) => boolean): (char: string) => boolean {
    return this.#options.ignoreCase ? (c) => test(c) || test(c.toUpperCase()) : test;
  }

  #group(): Node {
    if (this.#take("?")) {
      if (this.#take("P")) {
        if (!this.#take("<")) throw new PatternError("unsupported", "a back reference");
        while (!this.#take(">")) this.#next();
      } else if (!this.#take(":")) throw new PatternError("unsupported", "looking around or inline flags");
    }
    const node = this.#choice();
    if (!this.#take(")")) throw new PatternError("invalid", "missing )");
    return node;
  }

  #escape(): Node {
    const char = this.#next();
    const assertion = ASSERT_ESCAPES.get(char);
    if (assertion !== undefined) return { kind: "assert", holds: assertion };
    const test = CLASS_ESCAPES.get(char);
    if (test !== undefined) return { kind: "char", test };
    if (/[1-9]/.test(char)) throw new PatternError("unsupported", "a back reference");
    return this.#literal(this.#escapedChar(char));
  }

  #escapedChar(char: string): string {
    const digits = HEX_DIGITS.get(char);
    if (digits !== undefined) {
      const hex = this.#chars.slice(this.#at, this.#at + digits).join("");
      const code = Number.parseInt(hex, 16);
      if (!new RegExp(`^[0-9A-Fa-f]{${digits}}$`).test(hex) || code > 0x10ffff)
        throw new PatternError("invalid", `bad escape \\${char}`);
      this.#at += digits;
      return String.fromCodePoint(code);
    }
    const known = CHAR_ESCAPES.get(char);
    if (known === undefined && /[A-Za-z0-9]/.test(char))
      throw new PatternError("invalid", `bad escape \\${char}`);
    return known ?? char;
  }

  #class(): (char: string) => boolean {
    const negated = this.#take("^");
    const tests: ((char: string) => boolean)[] = [];
    do {
      const low = this.#classItem();
      const range =
        typeof low === "string" && this.#chars[this.#at] === "-" && this.#chars[this.#at + 1] !== "]";
      if (!range) {
        tests.push(typeof low === "string" ? (c) => c === low : low);
        continue;
      }
      this.#at += 1;
      const high = this.#classItem();
      const [from, to] = [low.codePointAt(0)!, typeof high === "string" ? high.codePointAt(0)! : -1];
      if (to < from) throw new PatternError("invalid", "bad character range");
      tests.push((c) => c.codePointAt(0)! >= from && c.codePointAt(0)! <= to);
    } while (!this.#take("]"));
    const listed = this.#folding((c) => tests.some((test) => test(c)));
    return (c) => listed(c) !== negated;
  }

  #classItem(): string | ((char: string) => boolean) {
    const char = this.#next();
    if (char !== "\\") return char;
    const escaped = this.#next();
    if (escaped === "b") return "\b";
    return CLASS_ESCAPES.get(escaped) ?? this.#escapedChar(escaped);
  }

  #repeated(part: Node): Node {
    const bounds = this.#bounds();
    if (bounds === undefined) return part;
    const [least, most] = bounds;
    if (part.kind === "assert") throw new PatternError("unsupported", "a repeated assertion");
    if (most < least) throw new PatternError("invalid", "bounds of a repeat out of order");
    if (least > MAX_REPEAT || (most > MAX_REPEAT && most !== Number.POSITIVE_INFINITY))
      throw new PatternError("unsupported", `a repeat of more than ${MAX_REPEAT}`);
    const lazy = this.#take("?");
    if (this.#bounds() !== undefined) throw new PatternError("invalid", "multiple repeat");
    return { kind: "repeat", part, least, most, lazy };
  }

  #bounds(): readonly [number, number] | undefined {
    if (this.#take("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.#take("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.#take("?")) return [0, 1];
    const braces = /^\{(?:(\d{1,9})(?:(,)(\d{0,9}))?|,(\d{1,9}))\}/.exec(
      this.#chars.slice(this.#at, this.#at + 22).join(""),
    );
    if (braces === null) return undefined;
    this.#at += braces[0].length;
    const least = Number(braces[1] ?? 0);
    const upper = braces[4] ?? (braces[2] === undefined ? braces[1]! : braces[3]!);
    return [least, upper === "" ? Number.POSITIVE_INFINITY : Number(upper)];
  }
}

const FOLDED: ReadonlyMap<string, string> = new Map([
  ["İ", "i"],
  ["ı", "i"],
  ["ſ", "s"],
  ["µ", "μ"],
]);

/** A text as re.IGNORECASE compares it: lower case, one character for one, look-alikes of a letter made that letter. */
export function foldCase(text: string): string {
  return text
    .replace(/[İıſµ]/g, (char) => FOLDED.get(char)!)
    .toLowerCase()
    .replaceAll("ς", "σ");
}
