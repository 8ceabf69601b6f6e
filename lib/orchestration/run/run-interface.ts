import type { Clock } from "../../clock.ts";
import type { Recipe } from "../../config/index.ts";
import type { ProblemSource } from "../../data/index.ts";
import type { Play } from "../../episodes/index.ts";
import type { ControlOutcome, EvaluationFacts, ProcessStatus, Sink } from "../../metrics/index.ts";
import type { Generations } from "../../native/generations.ts";
import type { DomainName, RolloutGroup, StepRecord } from "../../records.ts";
import type { Tracker } from "../../trackers/index.ts";
import type { BatchHook, GroupHook } from "../pipeline/index.ts";
import type { Core, Model, ValidationSet, Verifiers } from "../setup/index.ts";
import type { WarmStartProgress } from "./warm-start.ts";

/** Why a run ended. "aborted": its signal aborted; it can be resumed, like a stopped one. */
export type RunEnd = "done" | "stopped" | "aborted";

/** How many steps a run has done, and why it ended. */
export interface RunOutcome {
  readonly reason: RunEnd;
  /** Steps done, those of earlier sessions included. */
  readonly steps: number;
  readonly version: number;
}

/** What hooks.afterStep may request. */
export type StepWish = "checkpoint" | "stop" | undefined;

/**
 * Hooks are awaited in order; they may change the run, and their exceptions end it. A hook that does not return
 * blocks the run until it is stopped: the run then abandons it after some seconds.
 */
export interface RunHooks {
  /** Called when the initial weights are ready and nothing is trained yet, for example to evaluate the initial policy. */
  readonly beforeTraining?: (run: Run) => void | Promise<void>;
  /** Called before a group is trained on. */
  readonly onGroup?: GroupHook;
  /** Called before a step with its groups and their advantages, which the hook may set. */
  readonly onBatch?: BatchHook;
  readonly afterStep?: (record: StepRecord) => StepWish | Promise<StepWish>;
  /** Describes what a hook that has not returned is doing, for status displays: "the evaluation of step 20". */
  readonly doing?: () => string | undefined;
}

/** Events are reported afterwards; listeners cannot change the run, and their exceptions become warnings. */
export interface RunEvents {
  phase: readonly [name: "warm start" | "training" | "done", total: number];
  warmStart: readonly [progress: WarmStartProgress];
  step: readonly [record: StepRecord];
  /**
   * id: its ordinal in the run, from 0; step: the step that trained or dropped it, as in the step's record.
   */
  group: readonly [group: RolloutGroup, of: { readonly id: number; readonly step: number }];
  checkpoint: readonly [path: string, step: number];
  warning: readonly [message: string];
  /** A request file in the run folder: reported when it is taken, and when it is done or has failed. */
  control: readonly [outcome: ControlOutcome];
  /** Once a second while it trains: which stage waits for which, in a sentence (docs/how-to/live.md). */
  waits: readonly [sentence: string];
  /** The run was paused (true) or resumed (false). */
  paused: readonly [paused: boolean];
}

/** Options of a run: its folder, its starting point, its listeners. */
export interface RunOptions {
  /** The run folder. */
  readonly dir: string;
  /**
   * "auto": from the newest checkpoint in `dir` if there is one; a path: from that checkpoint, renaming later ones;
   * "never": from the beginning. Default "never".
   */
  readonly resume?: "auto" | "never" | (string & {});
  /** Clears an earlier run out of `dir`, its checkpoints too; without it such a folder is HONE_ERR_USAGE, unless resumed. */
  readonly overwrite?: boolean;
  /** A checkpoint, or a model folder of the same sizes, whose weights to start from, instead of the recipe's warm start. */
  readonly startFrom?: string;
  /** Aborting drains and saves, like `stop`. */
  readonly signal?: AbortSignal;
  /**
   * Sinks, which write synchronously, and trackers, which send in the background, in addition to the recipe's
   * (docs/how-to/write-a-tracker.md).
   */
  readonly sinks?: readonly (Sink | Tracker)[];
  readonly hooks?: RunHooks;
  readonly clock?: Clock;
  /** Default: the native core. */
  readonly core?: Core;
  /** Verifiers shared with other runs; their owner closes them. Default: a pool of the run's own. */
  readonly verifiers?: Verifiers;
}

/** The weights of one version on a separate engine, with prompts and verifiers. */
export interface PinnedPolicy extends AsyncDisposable {
  readonly version: number;
  readonly recipe: Recipe;
  readonly generations: Generations;
  readonly model: Model;
  readonly sources: ReadonlyMap<DomainName, ProblemSource>;
  /** Validation sets of the recipe by name. */
  readonly sets: ReadonlyMap<string, ValidationSet>;
  readonly verifiers: Verifiers;
  /** Environments and limits of the domains that are played in several turns. */
  readonly plays: ReadonlyMap<DomainName, Play>;
}

/**
 * A running run. Iterating yields a record per step; it is optional and never slows the run (a consumer that falls
 * more than a thousand steps behind misses some). Disposing stops the run and frees everything.
 */
export interface Run extends AsyncIterable<StepRecord>, AsyncDisposable {
  readonly recipe: Recipe;
  readonly dir: string;
  /** Steps done. */
  readonly step: number;
  /** Resolves when the run has ended; rejects with the error if an error ended it. */
  readonly finished: Promise<RunOutcome>;
  /** Wall seconds of each phase so far, over all sessions. */
  readonly seconds: { readonly warmStart: number; readonly training: number };
  readonly generatedTokens: number;
  /** Generated tokens of the groups that were trained on. */
  readonly trainedTokens: number;
  /** The run's processes and their states, updated every second; this process first. */
  readonly processes: readonly ProcessStatus[];
  /** Number of step records that were dropped because the consumer of the iterator was too slow. */
  readonly missedRecords: number;
  on<E extends keyof RunEvents>(event: E, listener: (...args: RunEvents[E]) => void): () => void;
  /** Stops drawing prompts until `resume`; groups in progress continue. A paused run does not count as stalled. */
  pause(): void;
  resume(): void;
  /**
   * Saves when the running step ends, or immediately if none is running (a batch is awaited, a hook); resolves with
   * the path. Rejects with HONE_ERR_STATE before training, and with the run's error if the run fails first.
   */
  checkpoint(): Promise<string>;
  /** Finishes the running step, saves, and ends. */
  stop(options?: { readonly save?: boolean }): Promise<RunOutcome>;
  /**
   * Pins the current weights when the running step ends, or immediately if none is running; or pins those of a
   * checkpoint: rejects with HONE_ERR_CHECKPOINT or HONE_ERR_FORMAT if it cannot be read.
   */
  pin(checkpoint?: string): Promise<PinnedPolicy>;
  /** Reports a finished evaluation of this run's weights: the next step's record includes it (`evaluation/...`). */
  evaluated(evaluation: EvaluationFacts): void;
  /** Keeps the checkpoints of these steps from now on, regardless of the recipe's rule; replaces those of earlier calls. */
  keepCheckpoints(steps: Iterable<number>): void;
}
