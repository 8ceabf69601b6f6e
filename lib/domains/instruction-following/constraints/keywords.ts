import { z } from "zod";
import { countChar, fields, trim } from "../../../python/text.ts";
import { isWordless } from "../../blank.ts";
import { amount, compare, noArguments, ordinal, phrase, relation } from "../arguments.ts";
import { type Check, type Constraint, type ConstraintTable, constraint } from "../constraint.ts";
import {
  expression,
  type Keyword,
  type KeywordReader,
  literal,
  wholeExpression,
  wholeWord,
} from "../text/keyword.ts";
import { ResponseText } from "../text/response-text.ts";

const NEVER: Check = () => false;

/** A constraint over keywords, which the published checkers take as expressions. */
function keywordConstraint<S extends z.ZodType>(
  schema: S,
  make: (args: z.output<S>, read: KeywordReader) => Check,
): Constraint {
  return constraint(
    schema,
    (args) => make(args, literal),
    (args) => make(args, expression),
  );
}

/** A check over keywords; it always fails if one of them is an expression that Python refuses. */
function overKeywords(
  keywords: readonly (Keyword | undefined)[],
  check: (keywords: readonly Keyword[]) => Check,
): Check {
  const usable = keywords.filter((each) => each !== undefined);
  return usable.length === keywords.length ? check(usable) : NEVER;
}

const frequency = keywordConstraint(
  z.object({ keyword: phrase, frequency: amount, relation }),
  ({ keyword: word, frequency: bound, relation: how }, read) =>
    overKeywords(
      [read(trim(word))],
      ([found]) =>
        (response) =>
          compare(found!.count(response), how, bound),
    ),
);

/** True if none of the words occurs, by the given keyword reader. */
const without =
  (read: KeywordReader) =>
  ({ forbidden_words: words }: { forbidden_words: readonly string[] }): Check =>
    overKeywords(words.map(read), (all) => (response) => !all.some((word) => word.found(response)));

/**
 * Counts letters and other characters in lower case. Unlike the published checkers, draws no random letter
 * for "#" or "ab".
 */
const letterFrequency = constraint(
  z.object({ letter: phrase, let_frequency: amount, let_relation: relation }),
  ({ letter, let_frequency: bound, let_relation: how }) => {
    const wanted = trim(letter).toLowerCase();
    return ({ lower }) => compare(countChar(lower, wanted), how, bound);
  },
);

/** Least length of a palindrome in strict mode: shorter words are palindromes by chance. */
const LEAST_PALINDROME = 3;

const lettersOf = (word: string): readonly string[] => word.match(/[\p{L}\p{N}]/gu) ?? [];

const isPalindrome = (word: string): boolean => [...word].reverse().join("") === word;

const startsAsItEnds = (tokens: readonly string[]): boolean =>
  tokens.length >= 2 && tokens[0]!.toLowerCase() === tokens.at(-1)!.toLowerCase();

/** True if the first letters of neighbouring words are neighbours in the alphabet. */
function climbs(left: string, right: string): boolean {
  const [a, b] = [left, right].map((word) => [...String.fromCodePoint(word.codePointAt(0)!).toLowerCase()]);
  // True also for a letter whose lower case has two characters ("İ"), because the checkers cannot exclude it as a
  // neighbour.
  return a!.length !== 1 || b!.length !== 1 || b![0]!.codePointAt(0)! - a![0]!.codePointAt(0)! === 1;
}

export const KEYWORDS: ConstraintTable = {
  "keywords:existence": keywordConstraint(
    z.object({ keywords: z.array(phrase).min(1) }),
    ({ keywords }, read) =>
      overKeywords(keywords.map(read), (all) => (response) => all.every((word) => word.found(response))),
  ),

  "keywords:forbidden_words": constraint(
    z.object({ forbidden_words: z.array(phrase).min(1) }),
    without(wholeWord),
    without(wholeExpression),
  ),

  "keywords:frequency": frequency,
  "keywords:word_count_different_numbers": frequency,
  "keywords:letter_frequency": letterFrequency,
  "letters:letter_counting2": letterFrequency,

  "letters:letter_counting": constraint(
    z.object({ N: ordinal, relation }),
    ({ N, relation: how }) =>
      ({ raw }) =>
        compare(raw.match(/[a-zA-Z]/g)?.length ?? 0, how, N),
  ),

  "keywords:word_once": keywordConstraint(z.object({ keyword: phrase }), ({ keyword: word }, read) =>
    overKeywords(
      [read(trim(word))],
      ([found]) =>
        (response) =>
          found!.count(response) === 1,
    ),
  ),

  "count:count_increment_word": keywordConstraint(
    z.object({ keyword1: phrase, keyword2: phrase }),
    (args, read) =>
      overKeywords(
        [args.keyword1, args.keyword2].map((word) => read(trim(word))),
        ([once, twice]) =>
          (response) =>
            once!.count(response) === 1 && twice!.count(response) === 2,
      ),
  ),

  /** Strict mode also finds the word beside punctuation; the published checker finds it only between spaces. */
  "keywords:exclude_word_harder": constraint(
    z.object({ keyword: phrase }),
    ({ keyword: word }) => {
      const excluded = wholeWord(trim(word));
      return (response) => !excluded.found(response);
    },
    ({ keyword: word }) =>
      ({ raw }) =>
        !raw.includes(` ${word} `),
  ),

  "keywords:no_adjacent_consecutive": constraint(
    noArguments,
    () =>
      ({ fields: words }) =>
        words.every((word, i) => i === 0 || !climbs(words[i - 1]!, word)),
  ),

  "keywords:palindrome": constraint(
    noArguments,
    () =>
      ({ fields: words }) =>
        words.some((word) => isPalindrome(word) && lettersOf(word).length >= LEAST_PALINDROME),
    () =>
      ({ fields: words }) =>
        words.some(isPalindrome),
  ),

  "keywords:keyword_specific_position": constraint(
    z.object({ keyword: phrase, n: ordinal, m: ordinal }),
    ({ keyword: word, n, m }) =>
      ({ splitSentences: sentences }) => {
        const sentence = sentences[n - 1];
        return sentence !== undefined && new ResponseText(sentence).tokens[m - 1] === trim(word);
      },
  ),

  /** The reference also counts punctuation marks as words. */
  "keywords:start_end": constraint(
    noArguments,
    () =>
      ({ tokens }) =>
        startsAsItEnds(tokens) && !isWordless(tokens[0]!),
    () =>
      ({ tokens }) =>
        startsAsItEnds(tokens),
  ),
};

const sameWord = (left: string | undefined, right: string): boolean =>
  left?.toLowerCase() === right.toLowerCase();
const firstField = (text: string): string | undefined => fields(text)[0];
const lastWord = (text: string): string | undefined => fields(text).at(-1)?.replace(NOT_IN_WORD, "");
const NOT_IN_WORD = /[^\p{L}\p{N}_]/gu;

const firstWord = z.object({ first_word: phrase });
const finalWord = z.object({ last_word: phrase });

/** First and last words, of the whole response or of every sentence. */
export const EDGE_WORDS: ConstraintTable = {
  "first_word:first_word_sent": constraint(
    firstWord,
    ({ first_word: word }) =>
      ({ splitSentences: sentences }) =>
        sentences.every((sentence) => sameWord(firstField(sentence), word)),
  ),
  "first_word:first_word_answer": constraint(
    firstWord,
    ({ first_word: word }) =>
      ({ fields: [first] }) =>
        sameWord(first, word),
  ),
  "last_word:last_word_sent": constraint(
    finalWord,
    ({ last_word: word }) =>
      ({ splitSentences: sentences }) =>
        sentences.every((sentence) => sameWord(lastWord(sentence), word)),
  ),
  "last_word:last_word_answer": constraint(
    finalWord,
    ({ last_word: word }) =>
      ({ raw }) =>
        sameWord(lastWord(raw), word),
  ),
};
