export interface SamplingOptions {
  /** >= 0; 0 is greedy. */
  readonly temperature: number;
  /** 0 is off. */
  readonly topK?: number;
  /** (0, 1]. */
  readonly topP?: number;
  /** [0, 1). */
  readonly minP?: number;
  /** Draws only ids below this. Default: all ids of the model. */
  readonly vocabulary?: number;
}
