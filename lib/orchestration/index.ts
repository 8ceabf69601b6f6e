/** A run: from recipe to trained weights. */

export {
  type AssembledBatch,
  batchGroups,
  drawProblems,
  GroupAccounting,
  type GroupRequest,
  type GroupRollouts,
  type JudgedGroup,
  mostGroups,
  openSlopes,
  ProblemDrawer,
  type SettledGroup,
  type StepBatch,
  stepOptions,
  verifyGroups,
} from "./pipeline/index.ts";
export {
  beginning,
  decodeIds,
  decodeLogprobs,
  identityOfLine,
  type JournalLine,
  type JudgedProblem,
  type RecordedGroup,
  type RecordedRollout,
  type RecordedStep,
  readEvents,
  readHistory,
  readRolloutRecord,
  readVerdictJournal,
  recordedSteps,
  type TakenGroup,
  type TakenMember,
} from "./records/index.ts";
export { checkpointName, expectClaimable } from "./recovery/index.ts";
export {
  type BeforeStep,
  diverged,
  expectRecorded,
  expectSameStep,
  openBeforeStep,
  type Rescoring,
  type ResettledGroup,
  recordedBatch,
  replayRun,
  rescoreRun,
  settleRecorded,
} from "./replay/index.ts";
export type { PinnedPolicy, Run, RunEnd, RunEvents, RunHooks, RunOptions, RunOutcome } from "./run/index.ts";
export { createRun, expectDemonstrations } from "./run/index.ts";
export type { Core, CoreProcesses } from "./setup/index.ts";
export {
  admissionOf,
  expectRunnable,
  giverText,
  isPathAlone,
  localPaths,
  localSource,
  localSpec,
  type Model,
  nativeCore,
  newModelConfig,
  openModel,
  openProblems,
  openVerifiers,
  PromptEncoder,
  playsOf,
  rewardPlan,
  rewardPlans,
  thisMachine,
  whyNotRunnable,
} from "./setup/index.ts";
