import { HoneError } from "../../errors.ts";
import type { Verdict } from "../../records.ts";
import type { GroupEvent, RunHistory } from "../records/index.ts";
import type { Verifiers } from "../setup/index.ts";

/** Verdict for a rollout that had no verdict in the run. */
export const LOST: Verdict = { status: "unscored", cause: "so it was in the run" };

/** The run's verdicts on a group, in the order of its rollouts; undefined in logs that lack them. */
export function loggedVerdicts({ j, p }: GroupEvent): Verdict[] | undefined {
  return j?.map((logged, i): Verdict => {
    const parts = p?.[i];
    if (logged === null) return LOST;
    const [status, score] = logged;
    return { status, score, reason: "as it was in the run", ...(parts && { parts }) };
  });
}

/**
 * The verifiers of a replay: ones that open nothing if the log has every verdict; undefined for the recipe's.
 */
export function judgesOf({ stretches }: RunHistory, given: Verifiers | undefined): Verifiers | undefined {
  const isLogged = ({ j }: GroupEvent) => j !== undefined;
  if (
    given !== undefined ||
    !stretches.every(({ steps }) => steps.every((one) => one.groups.every(isLogged)))
  )
    return given;
  return NO_VERIFIERS;
}

const NO_VERIFIERS: Verifiers = {
  verify: () =>
    Promise.reject(
      new HoneError("HONE_ERR_INTERNAL", "a replay called a verifier, although the log has every verdict"),
    ),
  stats: () => ({}),
};
