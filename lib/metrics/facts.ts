/**
 * The raw facts of one optimizer step, unaveraged, with the typed arrays that the trainer returned. Only
 * `collectStepMetrics` reads them. Repeats the used fields of types of other modules (structural typing connects
 * them).
 */
import type { DomainName, DropReason, RolloutGroup, ScoredRollout } from "../records.ts";

/** Layout of the trainer's batch: which token belongs to which sequence. T tokens over S sequences. */
export interface BatchLayout {
  /** [S+1], ascending, first 0, last T. */
  readonly cuSeqlens: Int32Array;
  /** [T], 1 on tokens the policy chose. */
  readonly mask: Uint8Array;
  /** [T], natural log; read where mask is 1. */
  readonly behaviorLogprobs: Float32Array;
  /** [T], natural log, of the reference policy; absent without one. */
  readonly referenceLogprobs?: Float32Array | undefined;
  /** [S], one per sequence. */
  readonly advantages: Float32Array;
  /** [T] advantages of tokens, if tokens have advantages of their own. */
  readonly tokenAdvantages?: Float32Array | undefined;
  /** [T], results of `objective.tokens`; absent without it. */
  readonly tokenWeights?: Float32Array | undefined;
  readonly tokenPenalties?: Float32Array | undefined;
}

/** The part of the trainer's report that is measured. Per-token arrays are in the order of the batch. */
export interface TrainerOutcome {
  readonly loss: number;
  readonly policyLoss: number;
  /** 0 or absent without `objective.router`. */
  readonly routerLoss?: number;
  readonly gradNorm: number;
  /** The factor by which clipping scaled the gradient; 1 if it was not clipped. */
  readonly gradScale: number;
  readonly updateNorm: number;
  readonly weightNorm: number;
  /** True after a non-finite loss or gradient: the weights are unchanged. */
  readonly skipped: boolean;
  readonly microBatches: number;
  readonly trainedTokens: number;
  readonly packedTokens: number;
  readonly packSeconds: number;
  readonly startSeconds: number;
  readonly publishSeconds: number;
  readonly forwardSeconds: number;
  readonly backwardSeconds: number;
  readonly optimizerSeconds: number;
  /** [T] log-probs under the weights before the step, natural log. */
  readonly logprobs: Float32Array;
  /** [T], nats. */
  readonly entropies: Float32Array;
  /** [T], ratios of the objective; read if a batch had several updates. */
  readonly ratios?: Float32Array;
  /** [T], 1 where the objective clipped (a sequence objective marks every token of the sequence), or bounded a weight. */
  readonly clipped: Uint8Array;
  /** [T], a correction's weights; empty or absent without one. */
  readonly weights?: Float32Array | undefined;
  /** [T], divergences from the teacher, or the reference; empty or absent without them. */
  readonly divergences?: Float32Array | undefined;
  /** [L, E] rows that went to each expert of each layer; empty or absent without experts. */
  readonly expertRows?: Float64Array | undefined;
  /**
   * Number of expert choices in the replayed routes, and how many of them the trainer's router would have made
   * differently.
   */
  readonly givenRoutes?: number;
  readonly replacedRoutes?: number;
  /** [L+1], the last is embedding, head and final norm. */
  readonly layerGradNorms: Float64Array;
}

/** Gradients of parts of the step's batch, which add up to that of the step. */
export interface GradientFacts {
  /** [P] in the order of the recipe's domains; a domain has one part, or two consecutive ones: halves of its groups. */
  readonly parts: readonly { readonly domain: DomainName; readonly groups: number }[];
  /** [P, P] inner products; NaN where a loss was not finite. */
  readonly products: Float64Array;
  readonly seconds: number;
}

/** Facts about the step's update. */
export interface UpdateFacts {
  /** Sequence i of the batch is rollout i: prompt, then the generated tokens with mask 1. */
  readonly rollouts: readonly ScoredRollout[];
  readonly batch: BatchLayout;
  readonly report: TrainerOutcome;
  /** Coefficient of the entropy bonus, if it changes from step to step. */
  readonly entropyCoef?: number | undefined;
  /** Version of the weights the batch was scored with (before the update). */
  readonly version: number;
  readonly learningRate: number;
  /** The objective's clip range and the clipped quantity; absent for an objective without clipping. */
  readonly clip?:
    | { readonly of: "sequence" | "token"; readonly low: number; readonly high: number }
    | undefined;
  /** Scoring by the reference policy; absent without one. */
  readonly referenceSeconds?: number | undefined;
  /** [T], natural log, of the teacher, and the time to compute it; absent without one. */
  readonly teacherLogprobs?: Float32Array | undefined;
  readonly teacherSeconds?: number | undefined;
  /** Gradients of the batch's parts; absent if this step does not measure them. */
  readonly gradients?: GradientFacts | undefined;
  /** T of a micro-batch, for packing efficiency. */
  readonly packingBudget: number;
  /** Updates on the batch in their order; absent for a step with one update. */
  readonly updates?: readonly { readonly skipped: boolean }[];
  /** The model from whose distributions `report.divergences` are. Default: the teacher. */
  readonly divergesFrom?: "teacher" | "reference";
  /** For each replayed group, steps since it was first trained; absent without a buffer. */
  readonly replayedAges?: readonly number[];
  /** Passes over the batch. Default: 1. */
  readonly epochs?: number;
}

/** Seconds of this step on the run's clock, from the end of the previous step to the end of this one. */
export interface StepTiming {
  readonly total: number;
  /** Time in which the trainer waits for groups, from the moment when it asks for them. */
  readonly waiting: number;
  readonly checkpointing?: number | undefined;
  /** Checkpoint times: how long training waited for one, how long writing one took in the background. */
  readonly checkpoint?: { readonly pause?: number; readonly write?: number };
  /** Time for writing events of the previous step, gathering the facts of its metrics, and hooks. */
  readonly logging?: number | undefined;
  /** Metrics and sinks of the previous step, processed during this one: part of no other entry, nor of the total. */
  readonly recording?: number | undefined;
}

/** Engine counters over this step (differences of `stats()`), and levels at its end. */
export interface EngineFacts {
  readonly steps: number;
  readonly prefillTokens: number;
  readonly decodeTokens: number;
  readonly preemptions: number;
  readonly weightSwaps: number;
  readonly busySeconds: number;
  readonly prefillSeconds: number;
  readonly decodeSeconds: number;
  readonly pageSwapSeconds: number;
  readonly weightSwapSeconds: number;
  readonly running: number;
  readonly waiting: number;
  readonly maxRunning: number;
  readonly pagesUsed: number;
  readonly pagesTotal: number;
  /** Rollouts resumed in the step, and their tokens so far; absent if the recipe does not record unfinished rollouts. */
  readonly takenUp?: number;
  readonly takenUpTokens?: number;
  readonly lostTokens?: number;
}

/** Rollouts of one domain since the run began, by stage of the pipeline. */
export interface StageCounts {
  readonly submitted: number;
  /** Current number of groups that are submitted and neither completed nor failed, not a sum. */
  readonly inFlight: number;
  /** Reached a verdict (timeouts, truncations and verifier faults count). */
  readonly completed: number;
  /** Survived the group filter. */
  readonly retained: number;
  readonly trained: number;
  /** Generated tokens among the trained. */
  readonly trainedTokens: number;
  /** Rollouts that a replay buffer trained again, counted each time. */
  readonly replayed: number;
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>;
}

export interface MixtureFacts {
  /** Normalised weights w_d. */
  readonly targets: Readonly<Record<DomainName, number>>;
  /** Counts since the run began; the collector keeps recent ones for the windowed shares. */
  readonly counts: Readonly<Record<DomainName, StageCounts>>;
  /** p_d of the next draw, and the clipped alpha_d behind it. */
  readonly probabilities: Readonly<Record<DomainName, number>>;
  readonly adjustments: Readonly<Record<DomainName, number>>;
}

/** One verifier's calls in this step. */
export interface VerifierFacts {
  readonly calls: number;
  readonly timeouts: number;
  readonly crashes: number;
  readonly retries: number;
  /** Completions judged in this step: all, correct, partial, and unscored. */
  readonly judged: number;
  readonly correct: number;
  readonly partial: number;
  readonly unscored: number;
  /** Seconds summed over the calls that returned in this step; `busySeconds`: the part in workers. */
  readonly totalSeconds: number;
  readonly busySeconds: number;
  /** Quantiles over all calls of the run that came back, milliseconds; absent before the first. */
  readonly latencyMs?: { readonly p50: number; readonly p95: number; readonly p99: number } | undefined;
  readonly judge?: JudgeFacts | undefined;
}

/** Facts about a language model that judged in this step. */
export interface JudgeFacts {
  /** Questions answered by the server, and from the cache. */
  readonly calls: number;
  readonly cached: number;
  readonly tokens: number;
  readonly unreadable: number;
  /** Answers judged more than once, and the sum of the spread of their scores. */
  readonly compared: number;
  readonly disagreement: number;
  /** Fraction left at the end of the step, in [0, 1]; absent without a budget. */
  readonly budgetLeft?: number | undefined;
}

/** A background evaluation that ended since the last step, and its cost. */
export interface EvaluationFacts {
  /** Step of the evaluated weights. */
  readonly step: number;
  /** Held-out mean over the domains, in [0, 1]. */
  readonly score: number;
  /** Wall time of the evaluation in seconds; training continued meanwhile. */
  readonly seconds: number;
  /** Generated tokens. */
  readonly tokens: number;
}

/** Progress of a tracker, since the run began. */
export interface TrackerFacts {
  readonly sent: number;
  readonly waiting: number;
  readonly refused: number;
  readonly failures: number;
}

/** A curriculum at the end of a step. */
export interface CurriculumFacts {
  /** Fractions of the domain's problems: with a solve rate, and with a weight above 0. */
  readonly seen: number;
  readonly open: number;
  /** Mean over the problems that have a solve rate. */
  readonly solveRate: number | undefined;
}

export interface StepFacts {
  readonly evaluation?: EvaluationFacts | undefined;
  readonly step: number;
  /** Version after the step. */
  readonly version: number;
  /** Seconds since the run began, on the run's clock. */
  readonly elapsedSeconds: number;
  /** L of the recipe, tokens. */
  readonly maxOutputTokens: number;
  /** Every group finished since the last step, kept and dropped; may be empty. */
  readonly groups: readonly RolloutGroup[];
  /** Rollouts of finished groups that got no verdict because a verifier or the machine failed, per domain. */
  readonly unscored?: Readonly<Record<DomainName, number>> | undefined;
  /** Absent when nothing was trained. */
  readonly update?: UpdateFacts | undefined;
  readonly timing: StepTiming;
  readonly engine?: EngineFacts | undefined;
  readonly mixture: MixtureFacts;
  /** Keyed by the verifier's registry name. */
  readonly verifiers: Readonly<Record<string, VerifierFacts>>;
  /** Number of workers that verify; absent if unknown. */
  readonly verifierWorkers?: number | undefined;
  /** Items waiting between two stages at the end of the step, keyed by the later stage. */
  readonly queues: Readonly<Record<string, number>>;
  /**
   * Number of problems skipped since the run began because they cannot be prompted; domains without any are
   * absent.
   */
  readonly leftOut?: Readonly<Record<DomainName, number>> | undefined;
  /** Curricula by domain; only domains that have one. */
  readonly curricula?: Readonly<Record<DomainName, CurriculumFacts>> | undefined;
  readonly credits?: { readonly free: number; readonly total: number } | undefined;
  /** Trackers by name; absent if there are none. */
  readonly trackers?: Readonly<Record<string, TrackerFacts>> | undefined;
  readonly rssBytes: number;
  /**
   * Processor time since the last step, of the run's process and its child processes; absent if the system does not
   * report it.
   */
  readonly processorSeconds?: number | undefined;
}
