/** Parses single characters of a pattern in Python's `re` syntax: escapes, classes, and letters of either case. */
import { type PatternCursor, PatternError } from "./pattern-cursor.ts";
import { isSpace, isWordChar } from "./text.ts";

export type CharacterTest = (char: string) => boolean;

const isDigit: CharacterTest = (char) => /^\p{Nd}$/u.test(char);

export const CLASS_ESCAPES: ReadonlyMap<string, CharacterTest> = new Map([
  ["d", isDigit],
  ["D", (c: string) => !isDigit(c)],
  ["s", isSpace],
  ["S", (c: string) => !isSpace(c)],
  ["w", isWordChar],
  ["W", (c: string) => !isWordChar(c)],
]);
const CHAR_ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({ a: "\x07", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "0": "\0" }),
);
const HEX_DIGITS: ReadonlyMap<string, number> = new Map(Object.entries({ x: 2, u: 4, U: 8 }));

/** The character that an escape represents; called after the escape's letter. */
export function escapedChar(text: PatternCursor, char: string): string {
  const digits = HEX_DIGITS.get(char);
  if (digits !== undefined) {
    const hex = text.ahead(digits);
    const code = Number.parseInt(hex, 16);
    if (!new RegExp(`^[0-9A-Fa-f]{${digits}}$`).test(hex) || code > 0x10ffff)
      throw new PatternError("invalid", `bad escape \\${char}`);
    text.skip(digits);
    return String.fromCodePoint(code);
  }
  const known = CHAR_ESCAPES.get(char);
  if (known === undefined && /[A-Za-z0-9]/.test(char))
    throw new PatternError("invalid", `bad escape \\${char}`);
  return known ?? char;
}

/** Parses a class in brackets; called after the opening one. */
export function readClass(text: PatternCursor, ignoreCase: boolean): CharacterTest {
  const negated = text.take("^");
  const tests: CharacterTest[] = [];
  do {
    const low = classItem(text);
    const range = typeof low === "string" && text.peek() === "-" && text.peek(1) !== "]";
    if (!range) {
      tests.push(typeof low === "string" ? (c) => c === low : low);
      continue;
    }
    text.skip(1);
    const high = classItem(text);
    const [from, to] = [low.codePointAt(0)!, typeof high === "string" ? high.codePointAt(0)! : -1];
    if (to < from) throw new PatternError("invalid", "bad character range");
    tests.push((c) => c.codePointAt(0)! >= from && c.codePointAt(0)! <= to);
  } while (!text.take("]"));
  const some: CharacterTest = (c) => tests.some((test) => test(c));
  // Case-insensitive matching folds the characters of the text; the characters of the class stay as written.
  const listed: CharacterTest = ignoreCase ? (c) => some(c) || some(c.toUpperCase()) : some;
  return (c) => listed(c) !== negated;
}

function classItem(text: PatternCursor): string | CharacterTest {
  const char = text.next();
  if (char !== "\\") return char;
  const escaped = text.next();
  if (escaped === "b") return "\b";
  return CLASS_ESCAPES.get(escaped) ?? escapedChar(text, escaped);
}

const FOLDED: ReadonlyMap<string, string> = new Map([
  ["İ", "i"],
  ["ı", "i"],
  ["ſ", "s"],
  ["µ", "μ"],
]);

/** A text as compared by re.IGNORECASE: lower case, one character for one, variants of a letter replaced by that letter. */
export function foldCase(text: string): string {
  return text
    .replace(/[İıſµ]/g, (char) => FOLDED.get(char)!)
    .toLowerCase()
    .replaceAll("ς", "σ");
}
