/**
 * The letter a response chooses, by three rules. Each takes time linear in the response: no pattern repeats what may
 * match in more than one way.
 */

/** First "Answer: X", in any case; a letter of the wrong case comes back as it is and equals no answer. */
export function gpqaLetter(response: string): string | undefined {
  return /Answer[ \t]*:[ \t]*\$?([A-D])/i.exec(response)?.[1];
}

/** Python's `\s`, which has separators that JavaScript's lacks and lacks the byte order mark. */
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";

/**
 * The first of three levels that finds one: the first "answer is (X)"; the last "answer: X" of the first line that
 * has one; the last letter that stands alone, be it the pronoun "I".
 */
export function mmluProLetter(response: string): string | undefined {
  return /answer is \(?([A-J])/.exec(response)?.[1] ?? labelledLetter(response) ?? loneLetter(response);
}

function labelledLetter(response: string): string | undefined {
  let found: RegExpExecArray | undefined;
  for (const match of response.matchAll(new RegExp(`[aA]nswer:${SPACE}*([A-J])`, "g"))) {
    if (found !== undefined && response.slice(found.index, match.index).includes("\n")) break;
    found = match;
  }
  return found?.[1];
}

function loneLetter(response: string): string | undefined {
  let last: string | undefined;
  for (const [letter] of response.matchAll(/(?<![\p{L}\p{N}_])[A-J](?![\p{L}\p{N}_])/gu)) last = letter;
  return last;
}

/** What may stand around a letter: emphasis, brackets, a font, a box. Bounded, so that no run is tried twice over. */
const OPENING = "(?:[\\s*_$({\\[]|\\\\(?:boxed|text|textbf|mathrm|mathbf|\\()\\{?){0,8}";
const STATED = new RegExp(
  `(?:\\b(?:[aA]nswer|ANSWER)\\s{0,8}(?:\\*\\*)?\\s{0,8}(?:is\\b|IS\\b|:)\\s{0,8}:?|\\\\boxed\\{)(${OPENING})([A-J])(?![\\p{L}\\p{N}_'’])`,
  "gu",
);
/** A response that is nothing but its letter. */
const ALONE = /^[\s*_$({[]{0,8}([A-J])[\s*_$)}\].]{0,8}$/;

/**
 * The last letter that is stated as the answer, in a box, after "answer is" or after "answer:"; or the response if
 * it is a letter. An unmarked "A" or "I" before a word in small letters is an article or a pronoun.
 */
export function committedLetter(response: string): string | undefined {
  let last: string | undefined;
  for (const match of response.matchAll(STATED)) {
    const [whole, opening, letter] = match;
    const next = response.slice(match.index + whole.length, match.index + whole.length + 3);
    const isWord = /^ \p{Ll}/u.test(next) && /^\s*$/.test(opening!) && !whole.startsWith("\\");
    if (!(isWord && (letter === "A" || letter === "I"))) last = letter;
  }
  return last ?? ALONE.exec(response.trim())?.[1];
}
