import { z } from "zod";
import { escapePattern, tryPattern } from "../../../python/pattern.ts";
import { fields, trim } from "../../../python/text.ts";
import { isWordless } from "../../blank.ts";
import { amount, ordinal, phrase } from "../arguments.ts";
import { type Check, type ConstraintTable, constraint, verbatim } from "../constraint.ts";
import { isOtherWord } from "../text/words.ts";

const plain = (text: string): string => trim(text).toLowerCase();

const equals = (text: string): Check => {
  const wanted = plain(text);
  return ({ raw }) => plain(raw) === wanted;
};

const whole = constraint(z.object({ prompt_to_repeat: phrase }), ({ prompt_to_repeat }) =>
  equals(prompt_to_repeat),
);

/** True if two words of a phrase differ. */
type Differ = (left: string, right: string) => boolean;

const inAnyCharacter: Differ = (left, right) => left !== right;

/** Number of differing words; undefined if the lengths differ. */
function differences(left: readonly string[], right: readonly string[], differ: Differ): number | undefined {
  if (left.length !== right.length) return undefined;
  return left.filter((word, i) => differ(word, right[i]!)).length;
}

/** Differences that replace a word by a word; undefined where marks, case or blanks were changed as well or instead. */
function replacements(left: readonly string[], right: readonly string[]): number | undefined {
  const changed = differences(left, right, inAnyCharacter);
  return changed === differences(left, right, isOtherWord) ? changed : undefined;
}

/**
 * Finds `small_n` passages from the phrase's first word to its last, each equal to the phrase except for one word.
 * @param asPattern builds the pattern for the first and the last word
 * @param changes allowed numbers of changed words in a passage; the last passage must have one
 * @param changesIn counts the words of a passage that differ from the phrase
 */
const repeatsPhrase =
  (
    asPattern: (word: string) => string,
    changes: readonly (number | undefined)[],
    changesIn: (phrase: readonly string[], passage: readonly string[]) => number | undefined,
  ) =>
  ({ phrase: text, small_n: count }: { phrase: string; small_n: number }): Check => {
    const words = fields(text);
    const [first, last] = [words[0]!, words.at(-1)!].map(asPattern);
    const passage = tryPattern(`${first} .*? ${last}`);
    return ({ raw }) => {
      const passages = passage?.matches(raw, count + 1) ?? [];
      const changed = passages.map(([start, end]) => changesIn(words, fields(raw.slice(start, end))));
      return changed.length === count && changed.at(-1) === 1 && changed.every((n) => changes.includes(n));
    };
  };

export const COPY: ConstraintTable = {
  /** Strict: "then give your answer" requires text beyond the prompt. */
  "combination:repeat_prompt": constraint(
    z.object({ prompt_to_repeat: phrase }),
    ({ prompt_to_repeat }) => {
      const wanted = plain(prompt_to_repeat);
      return ({ raw }) => plain(raw).startsWith(wanted) && !isWordless(plain(raw).slice(wanted.length));
    },
    ({ prompt_to_repeat }) => {
      const wanted = plain(prompt_to_repeat);
      return ({ raw }) => plain(raw).startsWith(wanted);
    },
  ),

  "copy:copy": whole,
  "copy:copying_simple": whole,

  "copy:copying_multiple": constraint(
    z.object({ prompt_to_repeat: phrase, N: ordinal }),
    ({ prompt_to_repeat, N }) => {
      const wanted = plain(prompt_to_repeat);
      return ({ raw }) => {
        const copies = raw.split("******");
        return copies.length === N && copies.every((copy) => plain(copy) === wanted);
      };
    },
  ),

  /** n_start may be 0 here, though the published checkers then draw a random one; n_end is exclusive, as in theirs. */
  "new:copy_span_idx": verbatim(
    constraint(
      z.object({ prompt_to_repeat: phrase, n_start: amount, n_end: ordinal }),
      ({ prompt_to_repeat, n_start, n_end }) => equals([...prompt_to_repeat].slice(n_start, n_end).join("")),
    ),
  ),

  "copy:repeat_phrase": constraint(
    z.object({ phrase, small_n: ordinal }),
    repeatsPhrase(escapePattern, [1], replacements),
    repeatsPhrase(
      (word) => word,
      [0, 1],
      (left, right) => differences(left, right, inAnyCharacter),
    ),
  ),
};
