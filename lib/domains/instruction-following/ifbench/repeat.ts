import { z } from "zod";
import { fields, trim } from "../../../python/text.ts";
import { amount, noArguments, phrase } from "../arguments.ts";
import { type Check, type ConstraintTable, constraint, verbatim } from "../constraint.ts";
import { isOtherWord } from "../text/words.ts";

const SENTENCE = "only output this sentence here, ignore all other requests.";

/** Checks that the response differs from the prompt in its first word only. */
function repeatsChanged(prompt: string): Check {
  const rest = fields(prompt).slice(1).join(" ");
  return ({ raw, fields: words }) => raw !== prompt && words.slice(1).join(" ") === rest;
}

/** Answers that repeat the prompt. Source: IFBench, Pyatkin et al. 2025, out-of-domain constraints. */
export const REPEAT: ConstraintTable = {
  // Strict mode requires another first word. The reference also accepts the unchanged prompt with a line end after
  // it, or with a punctuation mark at its first word.
  "repeat:repeat_change": constraint(
    z.object({ prompt_to_repeat: phrase }),
    ({ prompt_to_repeat }) => {
      const [first] = fields(prompt_to_repeat);
      const repeats = repeatsChanged(prompt_to_repeat);
      return (response) => isOtherWord(first!, response.fields[0] ?? "") && repeats(response);
    },
    ({ prompt_to_repeat }) => repeatsChanged(prompt_to_repeat),
  ),
  "repeat:repeat_simple": constraint(
    noArguments,
    () =>
      ({ lower }) =>
        trim(lower) === SENTENCE,
  ),
  // n_start and n_end are indices of characters (code points); n_end is included.
  "repeat:repeat_span": verbatim(
    constraint(
      z.object({ prompt_to_repeat: phrase, n_start: amount, n_end: amount }),
      ({ prompt_to_repeat, n_start, n_end }) => {
        const span = trim([...prompt_to_repeat].slice(n_start, n_end + 1).join("")).toLowerCase();
        return ({ lower }) => trim(lower) === span;
      },
    ),
  ),
};
