import { z } from "zod";
import { fields, PUNCTUATION, trim } from "../../../python/text.ts";
import { isWordless } from "../../blank.ts";
import { amount, noArguments, ordinal, trimmed } from "../arguments.ts";
import { type Check, type ConstraintTable, constraint } from "../constraint.ts";
import type { ResponseText } from "../text/response-text.ts";
import {
  firstChar,
  trimPunctuation,
  trimPunctuationEnd,
  trimPunctuationStart,
  withoutPunctuation,
} from "./punctuation.ts";
import { syllables } from "./syllables.ts";
import { wordlike, wordTokensOf } from "./tokens.ts";
import { loadVerbTagger } from "./verb-tagger.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz";
const PRIMES = new Set([
  2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
]);

/** Words without any ASCII mark, lower case: "Well-known" is "wellknown". */
const plainWords = (response: ResponseText): string[] => fields(withoutPunctuation(response.lower));

/** True if `relation` holds between all neighbours. */
const eachPair = <T>(items: readonly T[], relation: (left: T, right: T) => boolean): boolean =>
  items.every((item, k) => k === 0 || relation(items[k - 1]!, item));

function followsAlphabet({ raw }: ResponseText): boolean {
  const words = fields(withoutPunctuation(raw));
  const start = ALPHABET.indexOf(firstChar(words[0] ?? " ")!.toLowerCase());
  return (
    start >= 0 && words.every((word, k) => word.toLowerCase()[0] === ALPHABET[(start + k) % ALPHABET.length])
  );
}

function threeVowels({ raw, lower }: ResponseText): boolean {
  return !trim(raw).includes("\n") && new Set(lower.match(/[aeiou]/g)).size <= 3;
}

function isLongPalindrome(word: string): boolean {
  const chars = [...word];
  return chars.length >= 5 && chars.every((char, k) => char === chars[chars.length - 1 - k]);
}

/** A palindrome other than repetitions such as "aaaaa" or "-----". */
const isPalindromeOfLetters = (word: string): boolean =>
  isLongPalindrome(word) && new Set(word).size > 1 && [...word].every((char) => !isWordless(char));

function noMoreThan(limit: number): Check {
  return (response) => {
    const counts = new Map<string, number>();
    for (const word of plainWords(response)) counts.set(word, (counts.get(word) ?? 0) + 1);
    return [...counts.values()].every((count) => count <= limit);
  };
}

/** True if words with odd and with even numbers of syllables alternate. */
const alternates: Check = (response) =>
  eachPair(
    plainWords(response).map((word) => syllables(word) % 2),
    (left, right) => left !== right,
  );

/** True if the last word of each sentence is the first word of the next. */
function chained({ sentences }: ResponseText): boolean {
  return eachPair(sentences, (now, next) => {
    const last = fields(trimPunctuationEnd(now)).at(-1);
    const first = fields(trimPunctuationStart(next))[0];
    return last !== undefined && last.toLowerCase() === first?.toLowerCase();
  });
}

/** True if a line starts and ends with the same word, ignoring case; also true for a blank line. */
function closesAsItOpens(line: string): boolean {
  const words = edgeWords(line);
  return words[0] === words.at(-1);
}

const edgeWords = (line: string): string[] => fields(trimPunctuation(trim(line).toLowerCase()));

function secondFromBothEnds(word: string): Check {
  return ({ tokens }) => {
    const last = tokens.at(-1);
    // A single closing mark is not the last word; a closing quote ('') or an ellipsis is.
    const words = last !== undefined && PUNCTUATION.includes(last) ? tokens.slice(0, -1) : tokens;
    return words.length >= 2 && words[1]!.toLowerCase() === word && words.at(-2)!.toLowerCase() === word;
  };
}

/**
 * Constraints on the order, shape and place of words. Source: IFBench, Pyatkin et al. 2025, out-of-domain
 * constraints.
 */
export const WORDS: ConstraintTable = {
  "words:alphabet": constraint(noArguments, () => followsAlphabet),
  "words:vowel": constraint(noArguments, () => threeVowels),
  "words:consonants": constraint(
    noArguments,
    () =>
      ({ lower }) =>
        fields(lower).every((word) => /[b-df-hj-np-tv-z]{2}/.test(word)),
  ),
  // The reference accepts one palindrome repeated ten times, and repetitions of one letter.
  "words:palindrome": constraint(
    noArguments,
    () => (response) => new Set(plainWords(response).filter(isPalindromeOfLetters)).size >= 10,
    () => (response) => plainWords(response).filter(isLongPalindrome).length >= 10,
  ),
  "words:prime_lengths": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        fields(withoutPunctuation(raw)).every((word) => PRIMES.has([...word].length)),
  ),
  "words:start_verb": constraint(noArguments, () => {
    const startsWithVerb = loadVerbTagger();
    return ({ tokens }) => startsWithVerb(tokens);
  }),
  "words:repeats": constraint(z.object({ small_n: amount }), ({ small_n }) => noMoreThan(small_n)),
  "words:odd_even_syllables": constraint(
    noArguments,
    () => (response) => plainWords(response).length > 1 && alternates(response),
    () => alternates,
  ),
  "words:last_first": constraint(
    noArguments,
    () => (response) => response.sentences.length > 1 && chained(response),
    () => chained,
  ),
  // Strict mode needs at least two words; in the reference a paragraph of one word, or of none, counts as ending with
  // its first word.
  "words:paragraph_last_first": constraint(
    noArguments,
    () =>
      ({ raw }) => {
        const lines = raw.split("\n");
        return lines.some((line) => edgeWords(line).length > 1) && lines.every(closesAsItOpens);
      },
    () =>
      ({ raw }) =>
        raw.split("\n").every(closesAsItOpens),
  ),
  "words:no_consecutive": constraint(
    noArguments,
    () => (response) =>
      eachPair(
        plainWords(response).map((word) => firstChar(word)),
        (left, right) => left !== right,
      ),
  ),
  "words:keywords_specific_position": constraint(
    z.object({ keyword: trimmed, n: ordinal, m: ordinal }),
    ({ keyword: word, n, m }) =>
      ({ sentences }) =>
        n <= sentences.length &&
        wordlike(wordTokensOf(sentences[n - 1]!))[m - 1]?.toLowerCase() === word.toLowerCase(),
  ),
  "words:words_position": constraint(z.object({ keyword: trimmed }), (args) =>
    secondFromBothEnds(args.keyword.toLowerCase()),
  ),
};
