import { z } from "zod";
import { fields, isBlank, SPACE, trim, WORD } from "../../../python/text.ts";
import { amount, compare, noArguments, ordinal, phrase, relation } from "../arguments.ts";
import { type ConstraintTable, constraint } from "../constraint.ts";
import { ResponseText } from "../text/response-text.ts";

const ASTERISKS = new RegExp(`[${SPACE}]?\\*\\*\\*[${SPACE}]?`);

/** Number of parts, blank ones at either end aside; undefined where one in the middle is blank. */
export function countParts(parts: readonly string[]): number | undefined {
  const blank = parts.map(isBlank);
  if (blank.slice(1, -1).includes(true)) return undefined;
  return blank.filter((each) => !each).length;
}

const LOWERCASE_WORDS = new RegExp(`(?<![${WORD}])[a-z]+(?![${WORD}])`, "gu");

/** A first word ends at the first of these. */
const WORD_END = /[.,?!'"].*$/s;

function openingWord(paragraph: string): string {
  const [word = ""] = fields(paragraph);
  return word.replace(/^'+/, "").replace(/^"+/, "").replace(WORD_END, "").toLowerCase();
}

/** Whether a paragraph is `sentences` sentences of `words` tokens each. */
function composed(paragraph: string, sentences: number, words: number): boolean {
  const { splitSentences } = new ResponseText(paragraph);
  return (
    splitSentences.length === sentences &&
    splitSentences.every((sentence) => new ResponseText(sentence).tokens.length === words)
  );
}

export const LENGTH: ConstraintTable = {
  "length_constraints:number_sentences": constraint(
    z.object({ num_sentences: amount, relation }),
    ({ num_sentences: bound, relation: how }) =>
      ({ sentences }) =>
        compare(sentences.length, how, bound),
  ),

  "length_constraints:number_words": constraint(
    z.object({ num_words: amount, relation }),
    ({ num_words: bound, relation: how }) =>
      ({ words }) =>
        compare(words.length, how, bound),
  ),

  "length_constraints:number_paragraphs": constraint(
    z.object({ num_paragraphs: amount }),
    ({ num_paragraphs: count }) =>
      ({ raw }) =>
        countParts(raw.split(ASTERISKS)) === count,
  ),

  "paragraphs:paragraphs": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        countParts(raw.split(ASTERISKS)) === 2,
  ),
  "paragraphs:paragraphs2": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        countParts(raw.split("\n\n")) === 2,
  ),

  "length_constraints:nth_paragraph_first_word": constraint(
    z.object({ num_paragraphs: amount, nth_paragraph: ordinal, first_word: phrase }),
    ({ num_paragraphs: count, nth_paragraph: nth, first_word: word }) => {
      const wanted = trim(word).toLowerCase();
      return ({ raw }) => {
        const paragraphs = raw.split("\n\n");
        const written = paragraphs.filter((paragraph) => !isBlank(paragraph)).length;
        // The nth counts blank paragraphs, their number does not.
        return written === count && nth <= written && openingWord(paragraphs[nth - 1]!) === wanted;
      };
    },
  ),

  "count:lowercase_counting": constraint(
    z.object({ N: ordinal }),
    ({ N }) =>
      ({ raw }) =>
        (raw.match(LOWERCASE_WORDS)?.length ?? 0) <= N,
  ),

  "count:counting_composition": constraint(
    z.object({ n_sent: amount, n_words: amount }),
    ({ n_sent: sentences, n_words: words }) =>
      ({ raw }) => {
        const paragraphs = raw.split(ASTERISKS);
        return countParts(paragraphs) === 3 && paragraphs.every((each) => composed(each, sentences, words));
      },
  ),

  "count:count_unique": constraint(
    noArguments,
    () =>
      ({ tokens }) =>
        new Set(tokens).size === tokens.length,
  ),
};
