import { z } from "zod";
import { count, positive, size } from "./numbers.ts";

/** Qwen3.5 rotates a quarter of a head's dimensions, in pairs: this must divide headDim. */
const ROTATED_BY = 8;

/** Sizes of a decoder that starts from random weights. */
export const modelSizesSchema = z.strictObject({
  /** V, size of the vocabulary; default: the tokenizer's. */
  vocabulary: size().optional(),
  /** C, width of the residual stream. */
  width: size(),
  layers: count(2 ** 13),
  heads: size(),
  /** K, number of key/value heads; default: as many as `heads`. */
  kvHeads: size().optional(),
  /** D, dimensions of a head; default: width / heads. */
  headDim: size().optional(),
  /** F, width of the MLP, or of each expert. */
  mlpWidth: size(),
  maxPositions: count().default(2048),
  normEps: positive(1).default(1e-5),
  ropeTheta: z.number().gt(1).max(1e30).default(10_000),
  tiedHead: z.boolean().default(true),
  qkvBias: z.boolean().default(false),
  /** Norms of queries and keys; hybrids and mixtures of experts always have them. */
  qkNorm: z.boolean().default(false),
  /**
   * A mixture of experts in place of every layer's MLP, as in Qwen3-MoE: `count` experts, of which a token
   * uses `chosen`; in a hybrid beside a shared expert, as in Qwen3.5.
   */
  experts: z.strictObject({ count: count(2 ** 13), chosen: count(2 ** 13) }).optional(),
  /**
   * For a hybrid: every n-th layer has attention, the others gated DeltaNet with `heads` heads of D, as in
   * Qwen3.5 (n = 4).
   */
  attentionEvery: count(2 ** 13).optional(),
});

/** Sizes of a new model with those that follow from others. */
export type ModelSizes = z.output<typeof modelSizesSchema> & {
  readonly kvHeads: number;
  readonly headDim: number;
};

/**
 * Number of weights, as the core counts them; without `vocabulary`, which counts as 0 since the quick start's
 * is small.
 */
export function weightsOf(sizes: ModelSizes): number {
  const { vocabulary = 0, width, layers, heads, kvHeads, headDim, mlpWidth, experts } = sizes;
  const mlp = 3 * mlpWidth * (experts?.count ?? 1);
  return 2 * vocabulary * width + layers * width * ((2 * heads + 2 * kvHeads) * headDim + mlp);
}

interface Sized {
  readonly model: { readonly config?: ModelSizes | undefined };
}

/** Reason why tokens cannot go to as many experts as the recipe says; undefined if they can. */
export function whyNotChosen({ model: { config } }: Sized): string | undefined {
  const { chosen, count } = config?.experts ?? { chosen: 0, count: 0 };
  return chosen > count ? `is ${chosen}, but there are only ${count} experts` : undefined;
}

/** Why attention and DeltaNet layers cannot alternate as configured; undefined if they can. */
export function whyNotHybrid({ model: { config } }: Sized): string | undefined {
  if (config?.attentionEvery === undefined) return undefined;
  const { attentionEvery, layers, headDim } = config;
  if (attentionEvery > layers)
    return `is ${attentionEvery}, more than the ${layers} layers; one at least has to attend`;
  return headDim % ROTATED_BY === 0
    ? undefined
    : `is given, and headDim is ${headDim}; a quarter of it is rotated in pairs, so it must be a multiple of ${ROTATED_BY}`;
}

/** Why a model of this architecture cannot have biases of q, k and v; undefined if it can. */
export function whyNotBiased({ model: { config } }: Sized): string | undefined {
  if (!config?.qkvBias) return undefined;
  const part = config.attentionEvery !== undefined ? "attentionEvery" : config.experts && "experts";
  return part && `is true, but models with ${part} have no biases here; leave it out`;
}
