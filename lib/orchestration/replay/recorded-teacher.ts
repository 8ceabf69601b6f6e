import type { Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import type { TeachTokens } from "../pipeline/index.ts";
import {
  decodeLogprobs,
  noRecordOf,
  type RecordedGroup,
  readRolloutRecord,
  recordedSteps,
} from "../records/index.ts";

/** Error for a run that learnt from token lists of a server, which are not recorded. */
export const noServer = (): HoneError =>
  new HoneError(
    "HONE_ERR_UNSUPPORTED",
    "the run was distilled from a teacher server's most likely tokens, which the rollout record does not contain",
    { hint: "Runs with teacher.folder, or without teacher.divergence, can be repeated and explained." },
  );

/**
 * The teacher server's recorded scores: a replay does not call the server, which might return other bits. Undefined
 * for a teacher that computes locally. Throws HONE_ERR_UNSUPPORTED for one that returned token lists; the returned
 * function throws HONE_ERR_USAGE for a step that was not recorded.
 */
export function recordedTeacher(
  dir: string,
  { teacher }: Recipe,
): ((step: number) => TeachTokens) | undefined {
  if (teacher?.endpoint === undefined) return undefined;
  if (teacher.divergence !== undefined) throw noServer();
  return (step) => async (batch) => {
    const steps = recordedSteps(dir);
    const what = `what the server of teacher.endpoint said in step ${step}`;
    if (!steps.includes(step)) throw noRecordOf(dir, step, steps, what);
    const logprobs = new Float32Array(batch.tokens.length);
    for await (const line of readRolloutRecord(dir, step)) {
      if ("schema" in line) continue;
      for (const { sequence, teacher: said } of (line as RecordedGroup).rollouts) {
        if (sequence === undefined) continue;
        if (said === undefined) throw noRecordOf(dir, step, steps, what);
        const own = decodeLogprobs(said);
        logprobs.set(own, batch.cuSeqlens[sequence + 1]! - own.length);
      }
    }
    return { logprobs };
  };
}
