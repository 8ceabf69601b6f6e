import { z } from "zod";
import { fields, WORD } from "../../../python/text.ts";
import { isWordless } from "../../blank.ts";
import { amount, noArguments, ordinal, trimmed } from "../arguments.ts";
import { type Check, type ConstraintTable, constraint } from "../constraint.ts";
import type { ResponseText } from "../text/response-text.ts";
import { isDigits } from "./digits.ts";
import { trimPunctuation, withoutPunctuation } from "./punctuation.ts";
import { wordTokensOf } from "./tokens.ts";

const CONJUNCTIONS = new Set(["and", "but", "for", "nor", "or", "so", "yet"]);

const NAMES = new Set(
  (
    "Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte Alexander Amelia Benjamin " +
    "Harper Leo Zoe Daniel Chloe Samuel Lily Matthew Grace Owen Abigail Gabriel Ella Jacob Scarlett Nathan Victoria " +
    "Elijah Layla Nicholas Audrey David Hannah Christopher Penelope Thomas Nora Andrew Aria Joseph Claire Ryan " +
    "Stella Jonathan"
  ).split(" "),
);

const PRONOUNS = new Set(
  (
    "i me we us you he him she her it they them my mine our ours your yours his hers its their theirs myself " +
    "ourselves yourself yourselves himself herself itself themselves this that these those who whom whose which what " +
    "whoever whomever whatever whichever anybody anyone anything everybody everyone everything nobody nothing " +
    "somebody someone something each either neither both all some any none"
  ).split(" "),
);

/** Runs of Python's `\w`, whereas ResponseText.words uses NLTK's tokens. */
const WORD_RUNS = new RegExp(`[${WORD}]+`, "gu");

/** Required number of occurrences of each of the five keywords. */
const KEYWORD_COUNTS = [1, 2, 3, 5, 7];

const JAPANESE = /[\u3040-\u30ff\u4e00-\u9fff]/;

/**
 * Distinct words, separated by white space, in lower case and without punctuation at their ends; "" for a word of
 * punctuation only.
 */
const uniqueWords = (response: ResponseText): string[] => [
  ...new Set(fields(response.lower).map(trimPunctuation)),
];

const plainWord = (word: string): string => trimPunctuation(word).toLowerCase();

const conjunctions = (response: ResponseText): string[] =>
  response.fields.filter((word) => CONJUNCTIONS.has(plainWord(word)));

/** Requires every punctuation mark, and the interrobang (`?!`, `!?` or ‽) in addition to its two marks. */
function coversPunctuation({ raw }: ResponseText): boolean {
  if (!["?!", "!?", "‽"].some((bang) => raw.includes(bang))) return false;
  const rest = raw.includes("?!") ? raw.replace("?!", "") : raw.replace("!?", "");
  return [".", ",", "!", "?", ";", ":"].every((mark) => rest.includes(mark));
}

/** Every `period`-th word has a Japanese character, unless it is a number or only marks. */
const japaneseEvery =
  (period: number): Check =>
  ({ fields: all }) => {
    for (let k = period - 1; k < all.length; k += period) {
      const word = trimPunctuation(all[k]!);
      if (word !== "" && !isDigits(word) && !JAPANESE.test(word)) return false;
    }
    return true;
  };

const isWritten = (word: string): boolean => !isWordless(word);

const occurrences = (text: string, part: string): number => text.split(part).length - 1;

/** Counts of words, names, numbers and marks. Source: IFBench, Pyatkin et al. 2025, out-of-domain constraints. */
export const COUNT: ConstraintTable = {
  "count:word_count_range": constraint(
    z.object({ min_words: amount, max_words: amount }),
    ({ min_words, max_words }) =>
      ({ words }) =>
        min_words <= words.filter(isWritten).length && words.length <= max_words,
    ({ min_words, max_words }) =>
      ({ words }) =>
        min_words <= words.length && words.length <= max_words,
  ),
  // A run of marks is not a word; the reference counts it as the word "".
  "count:unique_word_count": constraint(
    z.object({ N: amount }),
    ({ N }) =>
      (response) =>
        uniqueWords(response).filter(isWritten).length >= N,
    ({ N }) =>
      (response) =>
        uniqueWords(response).length >= N,
  ),
  // The reference counts "and", "And" and "and," as three conjunctions.
  "count:conjunctions": constraint(
    z.object({ small_n: amount }),
    ({ small_n }) =>
      (response) =>
        new Set(conjunctions(response).map(plainWord)).size >= small_n,
    ({ small_n }) =>
      (response) =>
        new Set(conjunctions(response)).size >= small_n,
  ),
  "count:person_names": constraint(
    z.object({ N: amount }),
    ({ N }) =>
      ({ raw }) =>
        new Set(raw.match(WORD_RUNS)?.filter((word) => NAMES.has(word))).size >= N,
  ),
  "count:numbers": constraint(
    z.object({ N: amount }),
    ({ N }) =>
      ({ raw }) =>
        (withoutPunctuation(raw).match(/\p{Nd}+/gu)?.length ?? 0) === N,
  ),
  "count:punctuation": constraint(noArguments, () => coversPunctuation),
  // Strict mode requires an N-th word in Japanese; the reference also accepts a text too short to have one, and an
  // N-th word that is a number or a punctuation mark.
  "count:words_japanese": constraint(
    z.object({ N: ordinal }),
    ({ N }) => {
      const check = japaneseEvery(N);
      return (response) =>
        response.fields.some((word, k) => (k + 1) % N === 0 && JAPANESE.test(word)) && check(response);
    },
    ({ N }) => japaneseEvery(N),
  ),
  "count:pronouns": constraint(
    z.object({ N: amount }),
    ({ N }) =>
      ({ lower }) =>
        wordTokensOf(lower.replaceAll("/", " ")).filter((token) => PRONOUNS.has(token)).length >= N,
  ),
  // Substrings count: "doors" has a "door".
  "count:keywords_multiple": constraint(
    z.object({
      keyword1: trimmed,
      keyword2: trimmed,
      keyword3: trimmed,
      keyword4: trimmed,
      keyword5: trimmed,
    }),
    (args) => {
      const keywords = [args.keyword1, args.keyword2, args.keyword3, args.keyword4, args.keyword5];
      return ({ lower }) =>
        keywords.every((word, k) => occurrences(lower, word.toLowerCase()) === KEYWORD_COUNTS[k]);
    },
  ),
};
