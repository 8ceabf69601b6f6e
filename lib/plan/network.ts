import { modelSizes, parameterCount } from "../inference/index.ts";

/** Sizes of a network, in the letters of docs/glossary.md, with what follows from them. */
export interface Network {
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly mlpWidth: number;
  readonly maxPositions: number;
  readonly tiedHead: boolean;
  readonly qkNorm: boolean;
  /** All weights, in elements. */
  readonly parameters: number;
  /** Of one layer's matrices, and of an embedding or head. */
  readonly layerMatrices: number;
  readonly embedding: number;
  /** Norms and biases of all layers and the last norm. */
  readonly vectors: number;
  readonly qWidth: number;
  readonly qkvWidth: number;
}

/** @param config the text of a config.json. Throws HONE_ERR_FORMAT. */
export function networkOf(config: string): Network {
  const json = JSON.parse(config) as Record<string, unknown>;
  const text = { ...json, ...(json["text_config"] as object | undefined) } as Record<string, unknown>;
  const sizes = modelSizes(config);
  const { vocabulary, width, layers, heads, kvHeads, headDim, mlpWidth } = sizes;
  const qWidth = heads * headDim;
  const qkvWidth = qWidth + 2 * kvHeads * headDim;
  const tiedHead = (json["tie_word_embeddings"] ?? text["tie_word_embeddings"]) === true;
  const layerMatrices = width * (qkvWidth + qWidth + 3 * mlpWidth);
  const embedding = vocabulary * width;
  const parameters = parameterCount(config);
  return {
    ...sizes,
    ...{ tiedHead, qkNorm: text["model_type"] === "qwen3", parameters },
    ...{ layerMatrices, embedding, qWidth, qkvWidth },
    vectors: parameters - layers * layerMatrices - embedding * (tiedHead ? 1 : 2),
  };
}
