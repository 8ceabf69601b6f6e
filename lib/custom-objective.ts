/** A custom objective of a recipe: its module, the trainer's request and its answer. */

/**
 * Input of a custom objective for one micro-batch: T tokens sampled by the policy, in S sequences. The arrays are
 * copies, so the function may keep them; logs are natural, f32 values as f64.
 */
export interface SlopesRequest {
  /** [T] Log-probs under the weights before the step. */
  readonly logprobs: Float64Array;
  readonly entropies: Float64Array;
  /** [T] Log-probs that the engine recorded when it sampled. */
  readonly behaviorLogprobs: Float64Array;
  /** [T] Log-probs under the frozen reference policy; present only if the step computes them. */
  readonly referenceLogprobs?: Float64Array;
  /** [S] One advantage per sequence. */
  readonly advantages: Float64Array;
  /** [T] One advantage per token; present only if the step has them. */
  readonly tokenAdvantages?: Float64Array;
  /** [T] weights that the function's `firstPass` computed for these tokens, rounded to f32; present if it has one. */
  readonly tokenWeights?: Float64Array;
  /** [S+1]: sequence i has tokens sequences[i] to sequences[i + 1] - 1, possibly none. */
  readonly sequences: Int32Array;
  /** [S] Number of sequences in each sequence's group; present only if the step has them. */
  readonly groupSizes?: Int32Array;
  /** Number of sequences in the whole step, over all its micro-batches: the divisor of means. */
  readonly totalSequences: number;
  readonly totalGroups: number;
  readonly totalTokens: number;
  /** [T] Output: derivative of the loss, which is minimised, by each log-prob. Initially zeros. */
  readonly out: Float64Array;
  /** [S] Output: each sequence's contribution to the loss. Initially zeros. */
  readonly losses: Float64Array;
}

/** Input of a recipe's custom objective: see {@link SlopesRequest}. */
export interface SlopesInput extends Omit<SlopesRequest, "losses"> {
  /** Clip range of the recipe's `objective`, for functions that clip; rounded to f32, as in the core. */
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly sequenceWeight: "uniform" | "length";
}

/**
 * Input of `firstPass`, once per step before its first update: all of the step's tokens, scored by the weights before
 * the step. Arrays as in {@link SlopesRequest}, of the whole step.
 */
export interface StepTokens
  extends Omit<SlopesRequest, "losses" | "out" | "tokenWeights">,
    Pick<SlopesInput, "clipLow" | "clipHigh" | "sequenceWeight"> {
  /** Seed for random draws: the same when the step is repeated. */
  readonly seed: number;
  /** Step number, from 0. */
  readonly step: number;
}

/** Returns one weight per token of the step ([T]), passed to the function as `tokenWeights`. */
export type FirstPass = (tokens: StepTokens) => Float64Array;

/**
 * Fills `out` and returns the loss: one number, or one per sequence ([S], so that a non-finite loss names its
 * sequence). Must depend on nothing but its argument: it may be called again, and a replay calls it again. The
 * recipe's KL and entropy terms are added to its result.
 */
export interface SlopesFunction {
  (input: SlopesInput): number | Float64Array;
  /** Present if the objective compares all tokens of a step with each other. */
  firstPass?: FirstPass;
}

/** An objective that every process can load. */
export interface SlopesModule {
  /** URL of the module's file; "#name" selects an export other than the default one. */
  readonly module: string;
  /** Hash of the file, hexadecimal; the hash does not cover its imports. */
  readonly sha256: string;
}
