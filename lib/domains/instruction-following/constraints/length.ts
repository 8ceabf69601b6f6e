import { z } from "zod";
import { fields, isBlank, SPACE, trim, WORD } from "../../../python/text.ts";
import { isWordless } from "../../blank.ts";
import { amount, compare, compareWritten, noArguments, ordinal, phrase, relation } from "../arguments.ts";
import { type Check, type ConstraintTable, constraint } from "../constraint.ts";
import { ResponseText } from "../text/response-text.ts";

const ASTERISKS = new RegExp(`[${SPACE}]?\\*\\*\\*[${SPACE}]?`);

const isWritten = (text: string): boolean => !isWordless(text);

/** Number of parts, without blank ones at either end; undefined if one in the middle is blank. */
export function countParts(parts: readonly string[]): number | undefined {
  const blank = parts.map(isBlank);
  if (blank.slice(1, -1).includes(true)) return undefined;
  return blank.filter((each) => !each).length;
}

/** Counts parts as countParts does, but is undefined if a non-blank part has no visible word. */
export function countWrittenParts(parts: readonly string[]): number | undefined {
  return parts.some((part) => !isBlank(part) && isWordless(part)) ? undefined : countParts(parts);
}

/** True if separators divide the response into exactly `count` parts. */
const dividedBy =
  (separator: string | RegExp, count: number, countOf: typeof countParts): Check =>
  ({ raw }) =>
    countOf(raw.split(separator)) === count;

const LOWERCASE_WORDS = new RegExp(`(?<![${WORD}])[a-z]+(?![${WORD}])`, "gu");

/** Characters that end the first word of a text. */
const WORD_END = /[.,?!'"].*$/s;

function openingWord(paragraph: string): string {
  const [word = ""] = fields(paragraph);
  return word.replace(/^'+/, "").replace(/^"+/, "").replace(WORD_END, "").toLowerCase();
}

/** True if a paragraph has `sentences` sentences of `words` tokens each. */
function composed(paragraph: string, sentences: number, words: number): boolean {
  const { splitSentences } = new ResponseText(paragraph);
  return (
    splitSentences.length === sentences &&
    splitSentences.every((sentence) => new ResponseText(sentence).tokens.length === words)
  );
}

interface Composition {
  readonly n_sent: number;
  readonly n_words: number;
}
const threeComposed =
  ({ n_sent, n_words }: Composition): Check =>
  ({ raw }) => {
    const paragraphs = raw.split(ASTERISKS);
    return countParts(paragraphs) === 3 && paragraphs.every((each) => composed(each, n_sent, n_words));
  };

/**
 * True if every sentence has n_words - 1 words or more: one of its n_words tokens may be the mark at its end.
 */
const hasWordsFor =
  ({ n_words }: Composition): Check =>
  ({ raw }) =>
    raw
      .split(ASTERISKS)
      .flatMap((paragraph) => new ResponseText(paragraph).splitSentences)
      .every((sentence) => new ResponseText(sentence).tokens.filter(isWritten).length >= n_words - 1);

interface NthParagraph {
  readonly num_paragraphs: number;
  readonly nth_paragraph: number;
  readonly first_word: string;
}
/** @param counts decides whether a non-blank paragraph counts */
const nthBegins =
  (counts: (paragraph: string) => boolean) =>
  ({ num_paragraphs: count, nth_paragraph: nth, first_word: word }: NthParagraph): Check => {
    const wanted = trim(word).toLowerCase();
    return ({ raw }) => {
      const paragraphs = raw.split("\n\n");
      const written = paragraphs.filter((paragraph) => !isBlank(paragraph));
      // `nth` counts blank paragraphs, `count` does not.
      return (
        written.length === count &&
        written.every(counts) &&
        nth <= count &&
        openingWord(paragraphs[nth - 1]!) === wanted
      );
    };
  };

export const LENGTH: ConstraintTable = {
  "length_constraints:number_sentences": constraint(
    z.object({ num_sentences: amount, relation }),
    ({ num_sentences: bound, relation: how }) =>
      ({ sentences }) =>
        compareWritten(sentences, how, bound),
    ({ num_sentences: bound, relation: how }) =>
      ({ sentences }) =>
        compare(sentences.length, how, bound),
  ),

  "length_constraints:number_words": constraint(
    z.object({ num_words: amount, relation }),
    ({ num_words: bound, relation: how }) =>
      ({ words }) =>
        compareWritten(words, how, bound),
    ({ num_words: bound, relation: how }) =>
      ({ words }) =>
        compare(words.length, how, bound),
  ),

  "length_constraints:number_paragraphs": constraint(
    z.object({ num_paragraphs: amount }),
    ({ num_paragraphs: count }) => dividedBy(ASTERISKS, count, countWrittenParts),
    ({ num_paragraphs: count }) => dividedBy(ASTERISKS, count, countParts),
  ),

  "paragraphs:paragraphs": constraint(
    noArguments,
    () => dividedBy(ASTERISKS, 2, countWrittenParts),
    () => dividedBy(ASTERISKS, 2, countParts),
  ),
  "paragraphs:paragraphs2": constraint(
    noArguments,
    () => dividedBy("\n\n", 2, countWrittenParts),
    () => dividedBy("\n\n", 2, countParts),
  ),

  "length_constraints:nth_paragraph_first_word": constraint(
    z.object({ num_paragraphs: amount, nth_paragraph: ordinal, first_word: phrase }),
    nthBegins(isWritten),
    nthBegins(() => true),
  ),

  "count:lowercase_counting": constraint(
    z.object({ N: ordinal }),
    ({ N }) =>
      ({ raw }) =>
        (raw.match(LOWERCASE_WORDS)?.length ?? 0) <= N,
  ),

  "count:counting_composition": constraint(
    z.object({ n_sent: amount, n_words: amount }),
    (args) => (response) => threeComposed(args)(response) && hasWordsFor(args)(response),
    threeComposed,
  ),

  "count:count_unique": constraint(
    noArguments,
    () =>
      ({ tokens }) =>
        new Set(tokens).size === tokens.length,
  ),
};
