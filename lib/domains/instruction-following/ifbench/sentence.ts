import { z } from "zod";
import { fields, WORD } from "../../../python/text.ts";
import { isWordless } from "../../blank.ts";
import { amount, noArguments, ordinal, phrase } from "../arguments.ts";
import { type Check, type ConstraintTable, constraint } from "../constraint.ts";
import { firstChar, trimPunctuationStart, withoutPunctuation } from "./punctuation.ts";

const BOUNDARY = `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`;

/** The phrase as a whole word, ignoring case; escapes pattern characters. */
function wholeWord(text: string): RegExp {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(`${BOUNDARY}${literal}${BOUNDARY}`, "iu");
}

/** Number of words that share their first letter with a neighbour; a run of n words counts n. */
function alliterationLength(sentence: string): number {
  const letters = fields(sentence.toLowerCase())
    .map((word) => firstChar(trimPunctuationStart(word)))
    .filter((letter) => letter !== undefined);
  let length = 0;
  for (let k = 1; k < letters.length; k += 1) {
    if (letters[k] !== letters[k - 1]) continue;
    length += k > 1 && letters[k - 1] === letters[k - 2] ? 1 : 2;
  }
  return length;
}

const wordCount = (sentence: string): number => fields(withoutPunctuation(sentence)).length;

/** True if `relation` holds between the measure of each sentence and that of the next; at least `least` sentences. */
const progression =
  (
    measure: (sentence: string) => number,
    relation: (now: number, next: number) => boolean,
    least: number,
  ): Check =>
  ({ sentences }) => {
    if (sentences.length < least) return false;
    const lengths = sentences.map(measure);
    return lengths.every((length, k) => k === 0 || relation(lengths[k - 1]!, length));
  };

/** Like progression, for two or more sentences that each contain a word. */
const writtenProgression = (
  measure: (sentence: string) => number,
  relation: (now: number, next: number) => boolean,
): Check => {
  const check = progression(measure, relation, 2);
  return (response) => !response.sentences.some(isWordless) && check(response);
};

/** Constraints between consecutive sentences. Source: IFBench, Pyatkin et al. 2025, out-of-domain constraints. */
export const SENTENCE: ConstraintTable = {
  "sentence:alliteration_increment": constraint(
    noArguments,
    () => writtenProgression(alliterationLength, (now, next) => next > now),
    () => progression(alliterationLength, (now, next) => next > now, 0),
  ),
  // The reference fails on a text without sentences, because it reads the first one.
  "sentence:increment": constraint(
    z.object({ small_n: amount }),
    ({ small_n }) => writtenProgression(wordCount, (now, next) => next === now + small_n),
    ({ small_n }) => progression(wordCount, (now, next) => next === now + small_n, 1),
  ),
  "sentence:keyword": constraint(z.object({ word: phrase, N: ordinal }), ({ word, N }) => {
    const pattern = wholeWord(word);
    return ({ sentences }) => N <= sentences.length && pattern.test(sentences[N - 1]!);
  }),
};
