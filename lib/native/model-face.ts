// Interfaces for model folders in the core; face.ts has the rest.

/** Inputs from which the core writes a model folder; see csrc/model/model_writer.h. */
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
  /** Number of tensors written; `converted`: with a changed dtype; `replaced`: with trained values. */
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
  /** Numbers of experts and of experts per token, and width F of an expert; 0 for a model without experts. */
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
  /** True if norms follow attention and MLP; the backward then also needs the inputs of these norms. */
  readonly normsAfter: boolean;
  /** True if outputs of attention and MLP have their own buffer before they are added to the residual. */
  readonly addsApart: boolean;
  /** Number of cosines and sines for one position, over all rotary tables. */
  readonly rotaryWidth: number;
  /** Numbers that keys and values of a token take in all layers together. */
  readonly cacheWidth: number;
  /** Unknown fields, as "<where>: <field> = <value>". */
  readonly warnings: readonly string[];
}
