import { CLASS_ESCAPES, escapedChar, foldCase, readClass } from "./pattern-characters.ts";
import { PatternCursor, PatternError } from "./pattern-cursor.ts";

/** The syntax tree of a regular expression. */
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

/** "word": a word boundary; "line" assertions match at line ends, "text" ones at the ends of the text. */
export type Assertion =
  | "word"
  | "notWord"
  | "lineStart"
  | "lineEnd"
  | "textStart"
  | "textEnd"
  | "lastLineEnd";

export interface SyntaxOptions {
  readonly ignoreCase: boolean;
  /** True if `^` and `$` match at every line's start and end (re.MULTILINE). */
  readonly multiline: boolean;
}

const ASSERT_ESCAPES: ReadonlyMap<string, Assertion> = new Map([
  ["b", "word"],
  ["B", "notWord"],
  ["A", "textStart"],
  ["Z", "textEnd"],
]);
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
  readonly #text: PatternCursor;
  readonly #options: SyntaxOptions;
  #depth = 0;

  constructor(source: string, options: SyntaxOptions) {
    this.#text = new PatternCursor(source);
    this.#options = options;
  }

  pattern(): Node {
    const node = this.#choice();
    if (!this.#text.ended) throw new PatternError("invalid", "unbalanced parenthesis");
    return node;
  }

  #choice(): Node {
    if (++this.#depth > MAX_DEPTH) throw new PatternError("unsupported", "nested too deep");
    const parts = [this.#sequence()];
    while (this.#text.take("|")) parts.push(this.#sequence());
    this.#depth -= 1;
    return parts.length === 1 ? parts[0]! : { kind: "choice", parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    for (;;) {
      const char = this.#text.peek();
      if (char === undefined || char === "|" || char === ")") return { kind: "sequence", parts };
      parts.push(this.#repeated(this.#atom()));
    }
  }

  #atom(): Node {
    const char = this.#text.next();
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
        return { kind: "char", test: readClass(this.#text, this.#options.ignoreCase) };
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

  #group(): Node {
    if (this.#text.take("?")) {
      if (this.#text.take("P")) {
        if (!this.#text.take("<")) throw new PatternError("unsupported", "a back reference");
        while (!this.#text.take(">")) this.#text.next();
      } else if (!this.#text.take(":"))
        throw new PatternError("unsupported", "looking around or inline flags");
    }
    const node = this.#choice();
    if (!this.#text.take(")")) throw new PatternError("invalid", "missing )");
    return node;
  }

  #escape(): Node {
    const char = this.#text.next();
    const assertion = ASSERT_ESCAPES.get(char);
    if (assertion !== undefined) return { kind: "assert", holds: assertion };
    const test = CLASS_ESCAPES.get(char);
    if (test !== undefined) return { kind: "char", test };
    if (/[1-9]/.test(char)) throw new PatternError("unsupported", "a back reference");
    return this.#literal(escapedChar(this.#text, char));
  }

  #repeated(part: Node): Node {
    const bounds = this.#bounds();
    if (bounds === undefined) return part;
    const [least, most] = bounds;
    if (part.kind === "assert") throw new PatternError("unsupported", "a repeated assertion");
    if (most < least) throw new PatternError("invalid", "bounds of a repeat out of order");
    if (least > MAX_REPEAT || (most > MAX_REPEAT && most !== Number.POSITIVE_INFINITY))
      throw new PatternError("unsupported", `a repeat of more than ${MAX_REPEAT}`);
    const lazy = this.#text.take("?");
    if (this.#bounds() !== undefined) throw new PatternError("invalid", "multiple repeat");
    return { kind: "repeat", part, least, most, lazy };
  }

  #bounds(): readonly [number, number] | undefined {
    if (this.#text.take("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.#text.take("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.#text.take("?")) return [0, 1];
    const braces = /^\{(?:(\d{1,9})(?:(,)(\d{0,9}))?|,(\d{1,9}))\}/.exec(this.#text.ahead(22));
    if (braces === null) return undefined;
    this.#text.skip(braces[0].length);
    const least = Number(braces[1] ?? 0);
    const upper = braces[4] ?? (braces[2] === undefined ? braces[1]! : braces[3]!);
    return [least, upper === "" ? Number.POSITIVE_INFINITY : Number(upper)];
  }
}
