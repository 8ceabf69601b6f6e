export interface SamplingOptions {
  /** >= 0; 0 is greedy. */
  readonly temperature: number;
  /** 0 is off. */
  readonly topK?: number;
  /** (0, 1]. */
  readonly topP?: number;
  /** [0, 1). */
  readonly minP?: number;
  /** Only ids below it are drawn. Default: all that the model has. */
  readonly vocabulary?: number;
}
