import type { Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import type { Verifiers } from "../setup/index.ts";

const WARNING_GROUPS = 4;
const LIMIT_STEPS = 3;

/**
 * Wraps verifiers to detect one that no longer returns verdicts: in an outage nothing is trained. Completions without
 * an answer do not count either way. After four groups of completions in a row without a verdict `warn` is called,
 * once; after three steps' worth verify() throws HONE_ERR_VERIFIER with the last cause.
 */
export function failAfterRepeatedErrors(
  verifiers: Verifiers,
  { rollouts: { groupSize }, training: { groupsPerStep } }: Pick<Recipe, "rollouts" | "training">,
  warn: (message: string) => void,
): Verifiers {
  const limit = LIMIT_STEPS * groupsPerStep * groupSize;
  const inARow = new Map<string, { count: number; warned: boolean }>();
  const note = (name: string, cause: string | undefined) => {
    const state = inARow.get(name) ?? { count: 0, warned: false };
    inARow.set(name, cause === undefined ? { count: 0, warned: false } : state);
    if (cause === undefined) return;
    state.count += 1;
    if (state.count >= WARNING_GROUPS * groupSize && !state.warned) {
      state.warned = true;
      warn(`verifier ${name}: no verdict on the last ${state.count} completions: ${cause}`);
    }
    if (state.count < limit) return;
    throw new HoneError(
      "HONE_ERR_VERIFIER",
      `verifier ${name} has given no verdict on the last ${state.count} completions; the last time: ${cause}`,
      {
        details: { verifier: name, completions: state.count, cause },
        hint: "Repair the verifier and continue with --resume; `npx hone check <recipe>` tries every verifier.",
      },
    );
  };
  return {
    verify: async (requests) => {
      const verdicts = await verifiers.verify(requests);
      for (const [i, verdict] of verdicts.entries()) {
        // "no_answer" needs neither the judge, the sandbox nor the service that may be down
        if (verdict.status === "no_answer") continue;
        note(requests[i]!.problem.verifier, verdict.status === "unscored" ? verdict.cause : undefined);
      }
      return verdicts;
    },
    stats: () => verifiers.stats(),
  };
}
