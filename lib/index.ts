/// <reference lib="esnext.disposable" preserve="true" />
/// <reference types="node" preserve="true" />
import type { Evaluated, EvaluateOptions } from "./cli/evaluate-model.ts";
import type { SessionOptions, SessionResult } from "./cli/session.ts";
import type { SweepOptions, SweepResult } from "./cli/sweep.ts";
import type { Recipe } from "./config/index.ts";
import type { EvaluationPlan, PolicyUnderTest, ProblemResult } from "./evaluation/index.ts";
import type { ExplainOptions, Explanation } from "./explain/index.ts";
import type { Run, RunOptions } from "./orchestration/index.ts";
import type { Look, LookOptions } from "./traces/index.ts";

/** Post-training of reasoning language models with reinforcement learning from verifiable rewards. */
export { exitCodeOf, explain, interruptSignal, runMain } from "./cli/exit.ts";
export { processSettings } from "./cli/process-settings.ts";
export { type Clock, systemClock } from "./clock.ts";
export {
  defineRecipe,
  overrideRecipe,
  type Recipe,
  type RecipeInput,
  recipeJsonSchema,
} from "./config/index.ts";
export type { FirstPass, SlopesFunction, SlopesInput, StepTokens } from "./custom-objective.ts";
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
  type ProblemResult,
  type Scoreboard,
  scoreboard,
} from "./evaluation/index.ts";
export type { ExplainedSettings, ExplainedToken, ExplainOptions, Explanation } from "./explain/index.ts";
export { LiveServer } from "./live/index.ts";
export { RUN_FILES, readRunLog, type Sink, type StepDetails, writeWhole } from "./metrics/index.ts";
export type {
  PinnedPolicy,
  ProblemHistory,
  Run,
  RunEnd,
  RunEvents,
  RunHooks,
  RunOptions,
  RunOutcome,
  WeightFunction,
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
export type { Look, LookOptions } from "./traces/index.ts";
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
export type {
  Evaluated,
  EvaluateOptions,
  PolicyUnderTest,
  SessionOptions,
  SessionResult,
  SweepOptions,
  SweepResult,
};

// Each function below loads its module at its first call, so that importing this package loads only what a recipe
// needs.

/**
 * Starts a run, which continues by itself. Throws before anything runs if the recipe does not fit the core or the data, or
 * the folder cannot be written or belongs to another run.
 */
export async function createRun(recipe: Recipe, options: RunOptions): Promise<Run> {
  return (await import("./orchestration/index.ts")).createRun(recipe, options);
}

/**
 * Runs a whole session: warm start, evaluation on held-out problems, training, evaluation again. Prints progress and the
 * before/after table; writes summary.json and report.html into the run folder.
 */
export async function trainAndEvaluate(recipe: Recipe, options: SessionOptions): Promise<SessionResult> {
  return (await import("./cli/session.ts")).trainAndEvaluate(recipe, options);
}

/**
 * Asks a model the problems of suites and judges the answers. Keeps everything in `out`, where a later call with the same
 * model and sampling continues. Throws HONE_ERR_USAGE for a suite or folder that does not fit, HONE_ERR_DATA for its data,
 * HONE_ERR_ENDPOINT, and the signal's reason.
 */
export async function evaluate(options: EvaluateOptions): Promise<Evaluated> {
  return (await import("./cli/evaluate-model.ts")).evaluate(options);
}

/**
 * Prompts a pinned policy with the held-out problems of every domain and validation set and judges the answers.
 * Completions are keyed by (run seed, problem, attempt); leaves out those without a verdict, and problems without any
 * verdict.
 */
export async function evaluatePolicy(
  policy: PolicyUnderTest,
  plan: EvaluationPlan,
): Promise<ProblemResult[]> {
  return (await import("./evaluation/index.ts")).evaluate(policy, plan);
}

/**
 * Runs every cell of a grid over several seeds, except what the folder already has, and writes its page, tables and
 * figures. A run that fails is listed in `jobs` and stops no other. Throws ConfigError or HONE_ERR_USAGE before anything runs.
 */
export async function sweep(options: SweepOptions): Promise<SweepResult> {
  return (await import("./cli/sweep.ts")).sweep(options);
}

/**
 * Explains the gradient of a token: computes the recorded step again from the weights it started from and compares it with
 * the record, to the bit on the CPU. Throws HONE_ERR_USAGE, HONE_ERR_CHECKPOINT, HONE_ERR_REPLAY or HONE_ERR_TRUST.
 */
export async function explainStep(dir: string, options: ExplainOptions): Promise<Explanation> {
  return (await import("./explain/index.ts")).explainStep(dir, options);
}

/**
 * Labels every reasoning step of one evaluation, of two (before, after), or at both ends of a run, and writes an HTML
 * page. Throws HONE_ERR_USAGE if another process works in a folder, and HONE_ERR_ENDPOINT.
 */
export async function lookAtTraces(folders: readonly string[], options: LookOptions): Promise<Look> {
  return (await import("./traces/index.ts")).lookAtTraces(folders, options);
}

/**
 * Writes `report.html` into a run folder, finished or not, and returns its path: one file that needs neither network
 * nor server. Throws HONE_ERR_IO or HONE_ERR_FORMAT naming the file at fault.
 */
export async function writeReport(runDir: string): Promise<string> {
  return (await import("./live/index.ts")).writeReport(runDir);
}
