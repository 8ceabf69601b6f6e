export interface SamplingOptions {
  /** Sampling temperature, at least 0; 0 samples greedily. */
  readonly temperature: number;
  /** Number of the most likely tokens that are kept; 0 keeps all. */
  readonly topK?: number;
  /** Nucleus sampling: the probability mass that is kept, in (0, 1]. */
  readonly topP?: number;
  /** Least probability relative to the most likely token, in [0, 1). */
  readonly minP?: number;
  /** Draws only ids below this. Default: all ids of the model. */
  readonly vocabulary?: number;
}
