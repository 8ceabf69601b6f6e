import { STEP_STAGES } from "../../metrics/index.ts";
import type { Question } from "../question.ts";
import type { Overview } from "../wire.ts";

/** Describes every run, without its metrics. */
export function overview({ watch }: Question): Overview {
  return { runs: watch.runs.map((run) => run.info()), stages: STEP_STAGES, cursor: watch.cursor };
}
