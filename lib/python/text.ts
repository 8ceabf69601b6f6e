/**
 * Python's text operations that differ from JavaScript's. The labels of instruction-following data were computed in
 * Python, and a constraint means what its checker computes.
 * Source: The Python Standard Library, "Text Sequence Type: str", "re".
 */

/**
 * Inside a character class: what Python's str.split(), str.strip() and `\s` call white space. JavaScript's `\s` lacks five
 * of these and has U+FEFF.
 */
export const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
/** Inside a character class of a `u` regex: Python's `\w`, letters, digits, numerals and `_`, no combining marks. */
export const WORD = "\\p{L}\\p{N}_";

/** string.punctuation: the 32 ASCII marks. */
export const PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

const LEADING_SPACE = new RegExp(`^[${SPACE}]+`);
const FIELDS = new RegExp(`[^${SPACE}]+`, "g");
const COUNTED_WORDS = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]+/gu;
const WORD_CHAR = new RegExp(`^[${WORD}]$`, "u");
const SPACE_CHAR = new RegExp(`^[${SPACE}]$`);

/** True if `char`, one UTF-16 unit, is white space. */
export const isSpace = (char: string): boolean => SPACE_CHAR.test(char);

/** True if `char`, one code point, matches `\w`. */
export const isWordChar = (char: string): boolean => WORD_CHAR.test(char);

/** str.rstrip(chars) with `strip` saying which UTF-16 units go; white space when absent. Linear, unlike `/\s+$/`. */
export function trimEnd(text: string, strip: (char: string) => boolean = isSpace): string {
  let end = text.length;
  while (end > 0 && strip(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/** str.lstrip(). */
export const trimStart = (text: string): string => text.replace(LEADING_SPACE, "");

/** str.strip(). */
export const trim = (text: string): string => trimStart(trimEnd(text));

/** str.strip(chars): every leading and trailing character that is in `chars` (UTF-16 units). */
export function trimChars(text: string, chars: string): string {
  let start = 0;
  while (start < text.length && chars.includes(text[start]!)) start += 1;
  return trimEnd(text.slice(start), (char) => chars.includes(char));
}

/** not text.strip(). */
export const isBlank = (text: string): boolean =>
  LEADING_SPACE.exec(text)?.[0].length === text.length || text === "";

/** str.split(): the runs between white space, none empty. */
export const fields = (text: string): string[] => text.match(FIELDS) ?? [];

/**
 * The runs of `\w` that NLTK's RegexpTokenizer finds. Its `\w` is that of Unicode (UTS 18, with combining marks and
 * joiners, without superscripts), not that of Python's `re`: a word of Hindi is one word.
 */
export const words = (text: string): string[] => text.match(COUNTED_WORDS) ?? [];

/** str.isupper(): at least one cased character and none that is lower or title case. */
export const isUpper = (text: string): boolean =>
  /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);

/** str.islower(): at least one cased character and none that is upper or title case. */
export const isLower = (text: string): boolean =>
  /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text);

/** text.count(char) for one code point. */
export const countChar = (text: string, char: string): number => text.split(char).length - 1;

/** Characters at which str.splitlines splits. */
const LINE_ENDS = new Set("\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029");

/** str.splitlines(keepends). */
export function splitLines(text: string, keepEnds = false): string[] {
  const lines: string[] = [];
  let begin = 0;
  for (let i = 0; i < text.length; i++) {
    if (!LINE_ENDS.has(text[i]!)) continue;
    const end = i;
    if (text[i] === "\r" && text[i + 1] === "\n") i += 1;
    lines.push(text.slice(begin, keepEnds ? i + 1 : end));
    begin = i + 1;
  }
  return begin < text.length ? [...lines, text.slice(begin)] : lines;
}
