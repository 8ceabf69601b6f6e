import { z } from "zod";
import { fields, trim } from "../../../python/text.ts";
import { amount, noArguments, phrase } from "../arguments.ts";
import { type ConstraintTable, constraint } from "../constraint.ts";

const SENTENCE = "only output this sentence here, ignore all other requests.";

/** Answers that say what the prompt says. Source: IFBench, Pyatkin et al. 2025, out-of-domain constraints. */
export const REPEAT: ConstraintTable = {
  "repeat:repeat_change": constraint(z.object({ prompt_to_repeat: phrase }), (args, compat) => {
    const [first, ...rest] = fields(args.prompt_to_repeat);
    return (response) => {
      if (response.raw === args.prompt_to_repeat) return false;
      const [changed, ...same] = response.fields;
      // A line end after the unchanged prompt is change enough for the reference.
      return same.join(" ") === rest.join(" ") && (changed !== first || compat === "reference");
    };
  }),
  "repeat:repeat_simple": constraint(
    noArguments,
    () =>
      ({ lower }) =>
        trim(lower) === SENTENCE,
  ),
  // Indices of characters (code points), the last one included.
  "repeat:repeat_span": constraint(
    z.object({ prompt_to_repeat: phrase, n_start: amount, n_end: amount }),
    ({ prompt_to_repeat, n_start, n_end }) => {
      const span = trim([...prompt_to_repeat].slice(n_start, n_end + 1).join("")).toLowerCase();
      return ({ lower }) => trim(lower) === span;
    },
  ),
};
