import { layersOfAttention, modelFacts } from "../inference/index.ts";

/** Sizes of a network, in the letters of docs/reference/glossary.md, with what follows from them. */
export interface Network {
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  /** Layers with keys and values (layersOfAttention). */
  readonly attentionLayers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly mlpWidth: number;
  /**
   * For layers with a mixture of experts: number of experts, experts per token, width F of one expert; 0
   * without experts.
   */
  readonly experts: number;
  readonly expertsPerToken: number;
  readonly expertWidth: number;
  readonly maxPositions: number;
  readonly tiedHead: boolean;
  readonly qkNorm: boolean;
  readonly normsAfter: boolean;
  readonly addsApart: boolean;
  /** Width of all rotary tables together. */
  readonly rotaryWidth: number;
  /** Numbers that keys and values of a token take in all layers together. */
  readonly cacheWidth: number;
  /**
   * Number of all weights; `activeParameters`: of those that a token is multiplied by, including the
   * embedding.
   */
  readonly parameters: number;
  readonly activeParameters: number;
  /**
   * Elements of one layer's matrices that a token is multiplied by, averaged over layers; `embedding`: of an
   * embedding or head.
   */
  readonly layerMatrices: number;
  readonly embedding: number;
  /** Norms and biases of all layers and the last norm. */
  readonly vectors: number;
  readonly qWidth: number;
  readonly qkvWidth: number;
}

/** @param config the text of a config.json. Throws what modelFacts throws. */
export function networkOf(config: string): Network {
  const { decoder: _, warnings: __, ...facts } = modelFacts(config);
  const { vocabulary, width, layers, heads, kvHeads, headDim, tiedHead } = facts;
  const qWidth = heads * headDim;
  const qkvWidth = qWidth + 2 * kvHeads * headDim;
  const embedding = vocabulary * width;
  const attentionLayers = layersOfAttention(config, layers);
  const ends = embedding * (tiedHead ? 1 : 2);
  const layerMatrices = (facts.activeParameters - ends - facts.vectors) / layers;
  return { ...facts, attentionLayers, layerMatrices, embedding, qWidth, qkvWidth };
}
