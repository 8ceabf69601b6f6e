// Interfaces to model folders in the core; face.ts has the rest.

/** See csrc/model/model_writer.h. */
export interface ModelWriterOptions {
  /** Folder whose names, shards and dtypes are written. */
  readonly source: string;
  /** Folder of a checkpoint with values to take instead; by default the source's own. */
  readonly values?: string;
  readonly target: string;
  /** Dtype for every float tensor; default: each as in the source. */
  readonly dtype?: WeightDtype;
  /** Bytes of tensors in a file; by default the source's files. */
  readonly shardBytes?: number;
  /** Further files of the folder: a text, or the contents of a file. */
  readonly extras: readonly { readonly name: string; readonly text?: string; readonly from?: string }[];
}

export type WeightDtype = "f32" | "bf16" | "f16";

export interface ModelWriterReport {
  /** Number of tensors written; of those, how many changed dtype; and how many have a trained value. */
  readonly tensors: number;
  readonly converted: number;
  readonly replaced: number;
  /** Weight files, and bytes of tensors in them. */
  readonly files: number;
  readonly bytes: number;
}

/**
 * The core's reading of a config.json: sizes in the letters of docs/reference/glossary.md; for a wrapper, those of
 * the text model.
 */
export interface ModelFacts {
  /** model_type of the text model. */
  readonly decoder: string;
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly mlpWidth: number;
  /** For layers with a mixture of experts: number of experts, experts per token, F of one expert. 0 without. */
  readonly experts: number;
  readonly expertsPerToken: number;
  readonly expertWidth: number;
  readonly maxPositions: number;
  /** Number of all weights; of those that a token is multiplied by, including the embedding; of norms and biases. */
  readonly parameters: number;
  readonly activeParameters: number;
  readonly vectors: number;
  readonly tiedHead: boolean;
  /** Has norms of queries and keys, whose inputs are kept for the backward pass. */
  readonly qkNorm: boolean;
  /** Has norms after attention and MLP, whose inputs are also kept. */
  readonly normsAfter: boolean;
  /** Outputs of attention and MLP use a separate buffer before the residual addition. */
  readonly addsApart: boolean;
  /** Cosines and sines of a position, over all rotary tables. */
  readonly rotaryWidth: number;
  /** Unknown fields, as "<where>: <field> = <value>". */
  readonly warnings: readonly string[];
}
