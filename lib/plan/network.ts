import { modelFacts } from "../inference/index.ts";

/** Sizes of a network, in the letters of docs/reference/glossary.md, with what follows from them. */
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
  readonly normsAfter: boolean;
  readonly addsApart: boolean;
  /** Width of all rotary tables together. */
  readonly rotaryWidth: number;
  /** All weights, in elements. */
  readonly parameters: number;
  /** Elements of one layer's matrices, and of an embedding or head. */
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
  const { vocabulary, width, layers, heads, kvHeads, headDim, mlpWidth, tiedHead, parameters } = facts;
  const qWidth = heads * headDim;
  const qkvWidth = qWidth + 2 * kvHeads * headDim;
  const layerMatrices = width * (qkvWidth + qWidth + 3 * mlpWidth);
  const embedding = vocabulary * width;
  const vectors = parameters - layers * layerMatrices - embedding * (tiedHead ? 1 : 2);
  return { ...facts, layerMatrices, embedding, qWidth, qkvWidth, vectors };
}
