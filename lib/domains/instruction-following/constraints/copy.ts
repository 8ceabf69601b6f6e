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

/** Whether two words of a phrase differ. */
type Differ = (left: string, right: string) => boolean;

const inAnyCharacter: Differ = (left, right) => left !== right;

/** How many words differ; undefined where there are not equally many. */
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
 * Passages from the phrase's first word to its last, `small_n` of them, each the phrase but for one word.
 * @param asPattern what finds the first and the last word.
 * @param changes in how many words a passage may differ; the last one must in one.
 * @param changesIn how many words of a passage are not the phrase's.
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
  /** Strict: "then give your answer" asks for more than the prompt. */
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

  /** n_start may be 0 here, though the published checkers draw another then; n_end is excluded, as they have it. */
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
