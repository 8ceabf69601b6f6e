// Interfaces for model folders in the core; face.ts has the rest.

/** What a model folder is written from; see csrc/model/model_writer.h. */
export interface ModelWriterOptions {
  /** Folder whose names, shards and dtypes are written. */
  readonly source: string;
  /** Folder of a checkpoint whose values are written; by default the source's own. */
  readonly values?: string;
  readonly target: string;
  /** Dtype of every float tensor; by default each has its dtype in the source. */
  readonly dtype?: WeightDtype;
  /** Maximum bytes of tensors in a file; by default tensors are divided as in the source. */
  readonly shardBytes?: number;
  /** Further files of the folder: each with a text, or copied from a file. */
  readonly extras: readonly { readonly name: string; readonly text?: string; readonly from?: string }[];
}

export type WeightDtype = "f32" | "bf16" | "f16";

export interface ModelWriterReport {
  /** Tensors written; `converted`: those whose dtype changed; `replaced`: those with a trained value. */
  readonly tensors: number;
  readonly converted: number;
  readonly replaced: number;
  /** Number of weight files; `bytes`: all tensors in them. */
  readonly files: number;
  readonly bytes: number;
}

/**
 * What the core reads from a config.json: sizes, with the letters of docs/reference/glossary.md; for a
 * multimodal wrapper those of its text model.
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
  /** For layers with a mixture of experts: experts, experts per token, width F of an expert. 0 without. */
  readonly experts: number;
  readonly expertsPerToken: number;
  readonly expertWidth: number;
  readonly maxPositions: number;
  /**
   * Number of all weights; `activeParameters`: those that one token is multiplied by, including the
   * embedding; `vectors`: norms and biases.
   */
  readonly parameters: number;
  readonly activeParameters: number;
  readonly vectors: number;
  readonly tiedHead: boolean;
  /** True if queries and keys are normalized: the norms' inputs are kept for the backward pass. */
  readonly qkNorm: boolean;
  /** True if attention and MLP are followed by norms, whose inputs are also kept. */
  readonly normsAfter: boolean;
  /** True if outputs of attention and MLP have their own buffer before they are added to the residual. */
  readonly addsApart: boolean;
  /** Number of cosines and sines for one position, over all rotary tables. */
  readonly rotaryWidth: number;
  /** Unknown fields, as "<where>: <field> = <value>". */
  readonly warnings: readonly string[];
}
