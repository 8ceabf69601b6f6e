/** The stages of the pipeline and the accounting of what passes along it. */

export { type ActorOptions, actorOptions, type GroupRollouts, submitGroup } from "./actor.ts";
export { type BatchHook, type BatchWish, given, weighed } from "./batch-advantages.ts";
export { batchGroups, type StepBatch } from "./batcher.ts";
export { customSlopes, openSlopes } from "./custom-slopes.ts";
export { type Diagnosis, diagnose, type PipelineFacts, type PipelineSnapshot } from "./diagnosis.ts";
export { EntropyControl, type EntropyState } from "./entropy-control.ts";
export type { EpisodeStage } from "./episode-stage.ts";
export { GroupAccounting } from "./group-accounting.ts";
export type { DrawnGroup, GroupRequest, UnfinishedGroups } from "./group-request.ts";
export {
  type GroupHook,
  type ReplayedGroup,
  rewarded,
  type SettledGroup,
  settle,
  shapingOptions,
} from "./grouper.ts";
export { learningRateFactor } from "./learning-rate.ts";
export { Pipeline } from "./pipeline.ts";
export { pipelineStateSchema } from "./pipeline-state.ts";
export {
  type BatchUpdates,
  type MiniBatch,
  miniBatches,
  type UpdateReport,
  updateData,
  updatePolicy,
} from "./policy-updates.ts";
export { type DrawerOptions, drawProblems, mostGroups, ProblemDrawer } from "./problem-drawer.ts";
export { allGroups, ReplayBuffer } from "./replay-buffer.ts";
export { heldByHook, type PipelinePosition, underWatch } from "./stall-watch.ts";
export {
  type FrozenScores,
  nameRollout,
  type PolicyUpdate,
  type StepOutcome,
  stepOptions,
  type TeachTokens,
  taughtStep,
  trainBatch,
} from "./step-trainer.ts";
export { taughtBatch } from "./teacher-advantages.ts";
export { type AssembledBatch, assembleBatch, laidRoutes } from "./training-batch.ts";
export { type JudgedGroup, verifyGroups } from "./verification.ts";
