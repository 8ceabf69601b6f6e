/** An objective of the recipe's own: where it is, what the trainer asks it, and what it answers. */

/**
 * What a custom objective is asked once a micro-batch: T tokens, those that the policy chose, in S sequences. Copies, so
 * that nothing outlives the call wrongly; logs are natural, f32 values as f64.
 */
export interface SlopesRequest {
  /** [T] under the weights before the step. */
  readonly logprobs: Float64Array;
  readonly entropies: Float64Array;
  /** [T] as the engine recorded them when it sampled. */
  readonly behaviorLogprobs: Float64Array;
  /** [T] under the frozen reference policy, where the step has them. */
  readonly referenceLogprobs?: Float64Array;
  /** [S] */
  readonly advantages: Float64Array;
  /** [T], where the step has them. */
  readonly tokenAdvantages?: Float64Array;
  /** [T] what the function's `firstPass` made of these tokens, rounded to f32; there where it has one. */
  readonly tokenWeights?: Float64Array;
  /** [S+1]: sequence i is tokens sequences[i] to sequences[i + 1] - 1, which may be none. */
  readonly sequences: Int32Array;
  /** [S] members of each sequence's group, where the step has them. */
  readonly groupSizes?: Int32Array;
  /** Of the whole step, over all its micro-batches: what means are divided by. */
  readonly totalSequences: number;
  readonly totalGroups: number;
  readonly totalTokens: number;
  /** [T] to fill: slope of the loss (to be minimised) in each log-prob. Zeros. */
  readonly out: Float64Array;
  /** [S] to fill: what each sequence adds to the loss. Zeros. */
  readonly losses: Float64Array;
}

/** What a recipe's own objective is given: see {@link SlopesRequest}. */
export interface SlopesInput extends Omit<SlopesRequest, "losses"> {
  /** Of the recipe's `objective`, for functions that clip; rounded to f32, as the core reads them. */
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly sequenceWeight: "uniform" | "length";
}

/**
 * What `firstPass` is given, once a step and before any of its updates: all its tokens, under the weights before it. Arrays as
 * in {@link SlopesRequest}, of the whole step.
 */
export interface StepTokens
  extends Omit<SlopesRequest, "losses" | "out" | "tokenWeights">,
    Pick<SlopesInput, "clipLow" | "clipHigh" | "sequenceWeight"> {
  /** Of the run, for draws: the same numbers are the same draws when the step is repeated. */
  readonly seed: number;
  /** From 0. */
  readonly step: number;
}

/** Returns a number for each of the step's tokens ([T]): the function gets those of its own as `tokenWeights`. */
export type FirstPass = (tokens: StepTokens) => Float64Array;

/**
 * Fills `out` and returns the loss: one number, or one a sequence ([S], so that a loss that is not finite names its
 * sequence). It must depend on nothing but its argument: it may be asked again, and a replay asks it once more. The
 * recipe's KL and entropy terms are added to what it says.
 */
export interface SlopesFunction {
  (input: SlopesInput): number | Float64Array;
  /** Where the objective compares all tokens of a step with each other. */
  firstPass?: FirstPass;
}

/** An objective that every process can load. */
export interface SlopesModule {
  /** Its file's URL; "#name" of the export, default without. */
  readonly module: string;
  /** Of the file, hexadecimal; what it imports is not in it. */
  readonly sha256: string;
}
