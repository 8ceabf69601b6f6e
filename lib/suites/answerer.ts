import type { Play } from "../episodes/index.ts";
import type { FinishReason, Problem, Verdict } from "../records.ts";

/** One completion, as its verifier reads it. */
export interface Answer {
  readonly text: string;
  readonly finish: FinishReason;
  /** Number of generated tokens, thinking included. */
  readonly tokens: number;
  /**
   * For an episode: ranges of observations in the text as begin, end, begin, end, ..., and the environment's verdict.
   */
  readonly given?: readonly number[];
  readonly verdict?: Verdict;
}

/** Completions of a problem to draw: attempt `attempt` of each seed. */
export interface Draws {
  readonly problem: Problem;
  readonly attempt: number;
  readonly seeds: readonly number[];
  /** Environment, for problems that are played over several turns. */
  readonly play?: Play | undefined;
}

/** Result of one draw: an answer, or an outage, which is not the model's fault. */
export type Drawn = Answer | { readonly outage: string };

/** Source of answers: an engine over a model folder, or a server. */
export interface Answerer extends AsyncDisposable {
  /** Settings that its answers depend on beside problem, seed and attempt; completions of two that differ are not mixed. */
  readonly identity: Readonly<Record<string, unknown>>;
  /** Number of draws to keep in progress so that the model is never idle. */
  readonly width: number;
  /** True if it can play episodes. */
  readonly plays?: boolean;
  /** Called with every problem before the first is asked; returns why some cannot be asked, by index. */
  prepare(problems: Iterable<Problem>): Promise<ReadonlyMap<number, string>>;
  /**
   * Resolves when all draws have been reported. Rejects if no further answers are possible: a dead engine, a server
   * that refuses everything.
   */
  ask(draws: Draws, told: (seed: number, drawn: Drawn) => void): Promise<void>;
}

export interface Sampling {
  readonly temperature: number;
  readonly topP: number;
  /** Maximum tokens of an answer, thinking included. */
  readonly maxTokens: number;
}
