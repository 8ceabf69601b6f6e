import { PUNCTUATION, trimChars, trimEnd } from "../../../python/text.ts";

const MARKS = /[!-/:-@[-`{-~]/g;
const CLOSING = "\"'\u201d\u2019\u00bb)]}*_` ";
const EDGE = `${PUNCTUATION} `;

/** The text with every ASCII mark taken out: "1,000" is "1000", "don't" is "dont". */
export const withoutPunctuation = (text: string): string => text.replace(MARKS, "");

/** Strips ASCII punctuation and spaces from both ends; other white space stays. */
export const trimPunctuation = (text: string): string => trimChars(text, EDGE);

/** Strips ASCII punctuation and spaces from the start only. */
export function trimPunctuationStart(text: string): string {
  let start = 0;
  while (start < text.length && EDGE.includes(text[start]!)) start += 1;
  return text.slice(start);
}

/** Strips ASCII punctuation and spaces from the end only. */
export const trimPunctuationEnd = (text: string): string => trimEnd(text, (char) => EDGE.includes(char));

/** Strips closing quotes, brackets and emphasis after a sentence's last mark: `He said "Stop."` ends in a period. */
export const withoutClosing = (sentence: string): string =>
  trimEnd(sentence, (char) => CLOSING.includes(char));

/** First code point, or undefined if the text is empty. */
export const firstChar = (text: string): string | undefined => text[Symbol.iterator]().next().value;
