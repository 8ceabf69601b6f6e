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

/** For a run that learnt from tokens listed by a server, which no record has. */
export const noServer = (): HoneError =>
  new HoneError(
    "HONE_ERR_UNSUPPORTED",
    "the run learnt from likeliest tokens that a server listed, which its record does not have",
    { hint: "Runs with teacher.folder, or without teacher.divergence, can be repeated and explained." },
  );

/**
 * What a server said when the run asked it, from the rollout record: a replay asks none, which might say other bits.
 * Undefined for a teacher that computes here. Throws HONE_ERR_UNSUPPORTED for one that listed tokens; what it returns throws
 * HONE_ERR_USAGE for a step that was not recorded.
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
