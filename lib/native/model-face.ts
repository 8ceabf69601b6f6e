// What the core says of model folders and makes of them; face.ts has the rest.

/** See csrc/model/model_writer.h. */
export interface ModelWriterOptions {
  /** Folder whose names, shards and dtypes are written. */
  readonly source: string;
  /** Folder of a checkpoint with values to take instead; by default the source's own. */
  readonly values?: string;
  readonly target: string;
  /** Of every float tensor; by default each as in the source. */
  readonly dtype?: WeightDtype;
  /** Bytes of tensors in a file; by default the source's files. */
  readonly shardBytes?: number;
  /** What else belongs into the folder: a text, or the contents of a file. */
  readonly extras: readonly { readonly name: string; readonly text?: string; readonly from?: string }[];
}

export type WeightDtype = "f32" | "bf16" | "f16";

export interface ModelWriterReport {
  /** Tensors written; of them, stored as another dtype; of them, with a trained value. */
  readonly tensors: number;
  readonly converted: number;
  readonly replaced: number;
  /** Weight files, and bytes of tensors in them. */
  readonly files: number;
  readonly bytes: number;
}

/** What the core makes of a config.json: sizes in the letters of docs/reference/glossary.md, the text model's of a wrapper. */
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
  /** Of layers with a mixture of experts: how many there are, how many a token goes to, F of one. 0 without. */
  readonly experts: number;
  readonly expertsPerToken: number;
  readonly expertWidth: number;
  readonly maxPositions: number;
  /** All weights, in elements; those that a token is multiplied by, the embedding included; norms and biases. */
  readonly parameters: number;
  readonly activeParameters: number;
  readonly vectors: number;
  readonly tiedHead: boolean;
  /** Norms of queries and keys, whose inputs are kept for the backward pass. */
  readonly qkNorm: boolean;
  /** Norms of what attention and MLP add, whose inputs are kept too. */
  readonly normsAfter: boolean;
  /** What they add goes through a buffer of its own. */
  readonly addsApart: boolean;
  /** Cosines and sines of a position, over all rotary tables. */
  readonly rotaryWidth: number;
  /** Fields that nobody here knows, as "<where>: <field> = <value>". */
  readonly warnings: readonly string[];
}
