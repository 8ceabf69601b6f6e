export interface SamplingOptions {
  /** At least 0; 0 samples greedily. */
  readonly temperature: number;
  /** 0 turns it off. */
  readonly topK?: number;
  /** In (0, 1]. */
  readonly topP?: number;
  /** In [0, 1). */
  readonly minP?: number;
  /** Draws only ids below this. Default: all ids of the model. */
  readonly vocabulary?: number;
}
