import type { DomainName } from "../records.ts";

/** One step of a simulated run. */
export interface SimulatedStep {
  /** Seconds since the run began. */
  readonly end: number;
  /** The trainer's time without groups, and in the step. */
  readonly waiting: number;
  readonly training: number;
  /** Groups trained; rollouts completed in every domain since the run began. */
  readonly kept: number;
  readonly completed: Readonly<Record<DomainName, number>>;
  /** Versions between the weights before the step and those that sampled the first token: mean and largest. */
  readonly lag: { readonly mean: number; readonly max: number };
  /** Groups that no engine has begun, and groups in the pipeline. */
  readonly queued: number;
  readonly outstanding: number;
}

/** Results of a simulated run. */
export interface SimulatedRun {
  readonly steps: readonly SimulatedStep[];
  readonly seconds: number;
  readonly hours: number;
  readonly gpuHours: number;
  readonly secondsPerStep: number;
  /** Completed rollouts, whether kept or dropped. */
  readonly rolloutsPerStep: number;
  readonly meanTokens: number;
  readonly tokensPerSecondPerActor: number;
  /** Shares of time: an engine with something to decode, and the trainer in a step. */
  readonly busy: { readonly actors: number; readonly trainers: number; readonly verifiers: number };
  /** Mean number of sequences in an engine while it decodes. */
  readonly running: number;
  readonly preemptions: number;
  /** Sampled tokens: of completed rollouts, of those in progress at the end, and lost to failures. */
  readonly tokens: { readonly whole: number; readonly underWay: number; readonly wasted: number };
  /** All tokens sampled by the engines, counted by their steps. */
  readonly sampled: number;
  /** Lags over trained rollouts; `token` over their tokens; `submitted` is the largest since submission. */
  readonly lag: {
    readonly mean: number;
    readonly token: number;
    readonly p95: number;
    readonly max: number;
    readonly submitted: number;
  };
  readonly mixture: {
    readonly targets: Readonly<Record<DomainName, number>>;
    readonly first: { readonly rollouts: number; readonly shares: Readonly<Record<DomainName, number>> };
    readonly shares: Readonly<Record<DomainName, number>>;
    /** Mean over domains of |share - target|. */
    readonly mad: number;
  };
  /** Rollouts between submission and verdict: mean number, completions a second, mean seconds. */
  readonly line: { readonly population: number; readonly rate: number; readonly seconds: number };
  /** Hash over all events and their times. */
  readonly hash: string;
}
