/** Replays recorded runs and recomputes their steps. */

export {
  type BeforeStep,
  diverged,
  expectSameStep,
  expectSameUpdate,
  openBeforeStep,
} from "./before-step.ts";
export {
  batchUpdates,
  expectRecorded,
  type Hooked,
  type ResettledGroup,
  recordedBatch,
  settleRecorded,
} from "./recorded-groups.ts";
export { replayRun } from "./replay.ts";
export { type Rescoring, rescoreRun } from "./rescore.ts";
