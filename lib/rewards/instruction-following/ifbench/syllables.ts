const VOWELS = /[aeiouy]+/g;

/** Syllables by rule: groups of vowels, less a final e, plus a final "le" that follows a consonant; at least one. */
export function syllablesByRule(word: string): number {
  let count = word.match(VOWELS)?.length ?? 0;
  if (word.endsWith("e")) count -= 1;
  if (/[^aeiouy]le$/u.test(word)) count += 1;
  return Math.max(count, 1);
}

/** Syllables of a lower-case word without marks; none of one with a digit in it. */
export function syllables(word: string): number {
  return /\p{Nd}/u.test(word) ? 0 : syllablesByRule(word);
}
