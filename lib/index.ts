/// <reference lib="esnext.disposable" preserve="true" />
/// <reference types="node" preserve="true" />
/** Post-training of reasoning language models with reinforcement learning from verifiable rewards. */
export { type Evaluated, type EvaluateOptions, evaluate } from "./cli/evaluate-model.ts";
export { exitCodeOf, explain, interruptSignal, runMain } from "./cli/exit.ts";
export { processSettings } from "./cli/process-settings.ts";
export { type SessionOptions, type SessionResult, trainAndEvaluate } from "./cli/session.ts";
export { type SweepOptions, type SweepResult, sweep } from "./cli/sweep.ts";
export { type Clock, systemClock } from "./clock.ts";
export {
  defineRecipe,
  overrideRecipe,
  type Recipe,
  type RecipeInput,
  recipeJsonSchema,
} from "./config/index.ts";
export type { SlopesFunction, SlopesInput } from "./custom-objective.ts";
export { isHeldOut, type ProblemSource, problemId, type SourceOptions } from "./data/index.ts";
export type {
  Completion,
  RewardFunction,
  RewardInput,
  RowMap,
  VerifierModule as Verifier,
} from "./domains/index.ts";
export { ConfigError, type ConfigIssue, type ErrorCode, HoneError } from "./errors.ts";
export {
  type EvaluationPlan,
  type EvaluationScore,
  evaluate as evaluatePolicy,
  type ProblemResult,
  type Scoreboard,
  scoreboard,
} from "./evaluation/index.ts";
export {
  type ExplainedSettings,
  type ExplainedToken,
  type ExplainOptions,
  type Explanation,
  explainStep,
} from "./explain/index.ts";
export { LiveServer, writeReport } from "./live/index.ts";
export { RUN_FILES, readRunLog, type Sink, type StepDetails, writeWhole } from "./metrics/index.ts";
export {
  createRun,
  type PinnedPolicy,
  type Run,
  type RunEnd,
  type RunEvents,
  type RunHooks,
  type RunOptions,
  type RunOutcome,
} from "./orchestration/index.ts";
export { CounterRandom } from "./random.ts";
export type * from "./records.ts";
export { beforeAfterText, Progress, type RunSummary } from "./report/index.ts";
export {
  type Hint,
  hints as rewardHints,
  problems as queryProblems,
  query as querySamples,
  type Sample,
  type SampleFilter,
  SampleIndex,
  takings,
  type WholeSample,
  wholeSample,
} from "./samples/index.ts";
export {
  type Comparison,
  compareEvaluations,
  type EvaluationResults,
  readResults,
  type SuiteGaps,
  type SuiteResult,
} from "./suites/index.ts";
export { defineSweep, type Study, type SweepDefinition } from "./sweeps/index.ts";
export { type Look, type LookOptions, lookAtTraces } from "./traces/index.ts";
export type {
  Sending,
  Tracked,
  TrackedEnd,
  TrackedRollout,
  TrackedRun,
  TrackedStep,
  Tracker,
} from "./trackers/index.ts";
export { type Demand, Trust } from "./trust.ts";
