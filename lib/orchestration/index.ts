/** The line: from recipe to trained weights. */

export { admissionOf, referenceFault } from "./admission.ts";
export type { Core } from "./core.ts";
export { nativeCore } from "./core.ts";
export { whyNotRunnable } from "./hardware.ts";
export { type Model, newModelConfig, openModel } from "./model.ts";
export { PromptEncoder } from "./prompts.ts";
export { thisMachine } from "./readiness.ts";
export { replayRun } from "./replay.ts";
export { type Rescoring, rescoreRun } from "./rescore.ts";
export {
  decodeIds,
  decodeLogprobs,
  type RecordedGroup,
  type RecordedRollout,
  type RecordedStep,
  readRolloutRecord,
  recordedSteps,
} from "./rollout-record.ts";
export { createRun } from "./run.ts";
export type { PinnedPolicy, Run, RunEnd, RunEvents, RunHooks, RunOptions, RunOutcome } from "./run-face.ts";
export { expectDemonstrations } from "./warm-start.ts";
export { BEFORE_FILE, openSources, openVerifiers } from "./workshop.ts";
