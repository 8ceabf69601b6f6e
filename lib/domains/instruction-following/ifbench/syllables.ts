import { MISCOUNTED } from "./syllable-table.ts";

const VOWELS = /[aeiouy]+/g;

const KNOWN = new Map(MISCOUNTED.flatMap(([count, words]) => words.split(" ").map((word) => [word, count])));

/** Syllables by rule: groups of vowels, less a final e, plus a final "le" that follows a consonant; at least one. */
export function syllablesByRule(word: string): number {
  let count = word.match(VOWELS)?.length ?? 0;
  if (word.endsWith("e")) count -= 1;
  if (/[^aeiouy]le$/u.test(word)) count += 1;
  return Math.max(count, 1);
}

/** Syllables of a lower-case word without marks: from the table, else by rule; zero for a word with a digit. */
export function syllables(word: string): number {
  return /\p{Nd}/u.test(word) ? 0 : (KNOWN.get(word) ?? syllablesByRule(word));
}
