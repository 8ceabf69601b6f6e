import { z } from "zod";
import { count, positive, size } from "./numbers.ts";

/** Of Qwen3.5: a quarter of a head's dimensions is rotated, in pairs. */
const ROTATED_BY = 8;

/** Sizes of a decoder that starts from random weights. */
export const modelSizesSchema = z.strictObject({
  /** V; the tokenizer's own size when left out. */
  vocabulary: size().optional(),
  /** C. */
  width: size(),
  layers: count(2 ** 13),
  heads: size(),
  /** K; as many as `heads` when left out. */
  kvHeads: size().optional(),
  /** D; width / heads when left out. */
  headDim: size().optional(),
  /** F; of each expert where there are experts. */
  mlpWidth: size(),
  maxPositions: count().default(2048),
  normEps: positive(1).default(1e-5),
  ropeTheta: z.number().gt(1).max(1e30).default(10_000),
  tiedHead: z.boolean().default(true),
  qkvBias: z.boolean().default(false),
  /** Hybrids and mixtures have these norms anyway. */
  qkNorm: z.boolean().default(false),
  /**
   * A mixture of experts in place of every layer's MLP: `count` of them, of which a token goes to `chosen`, as Qwen3-MoE's;
   * in a hybrid beside a shared one, as Qwen3.5's.
   */
  experts: z.strictObject({ count: count(2 ** 13), chosen: count(2 ** 13) }).optional(),
  /** A hybrid: every n-th layer attends, the others are gated DeltaNet of `heads` heads of D, as Qwen3.5's (there 4). */
  attentionEvery: count(2 ** 13).optional(),
});

/** Sizes of a new model with those that follow from others. */
export type ModelSizes = z.output<typeof modelSizesSchema> & {
  readonly kvHeads: number;
  readonly headDim: number;
};

/** As the core counts them; the quick start's vocabulary is small beside any that matters here. */
export function weightsOf(sizes: ModelSizes): number {
  const { vocabulary = 0, width, layers, heads, kvHeads, headDim, mlpWidth, experts } = sizes;
  const mlp = 3 * mlpWidth * (experts?.count ?? 1);
  return 2 * vocabulary * width + layers * width * ((2 * heads + 2 * kvHeads) * headDim + mlp);
}

interface Sized {
  readonly model: { readonly config?: ModelSizes | undefined };
}

/** Why a model's experts cannot be chosen so. */
export function whyNotChosen({ model: { config } }: Sized): string | undefined {
  const { chosen, count } = config?.experts ?? { chosen: 0, count: 0 };
  return chosen > count ? `is ${chosen}, of ${count} experts; a token goes to as many at most` : undefined;
}

/** Why layers cannot alternate so. */
export function whyNotHybrid({ model: { config } }: Sized): string | undefined {
  if (config?.attentionEvery === undefined) return undefined;
  const { attentionEvery, layers, headDim } = config;
  if (attentionEvery > layers)
    return `is ${attentionEvery}, more than the ${layers} layers; one at least has to attend`;
  return headDim % ROTATED_BY === 0
    ? undefined
    : `is given, and headDim is ${headDim}; a quarter of it is rotated in pairs, so it must be a multiple of ${ROTATED_BY}`;
}

/** Why a model of these parts has no biases of q, k and v. */
export function whyNotBiased({ model: { config } }: Sized): string | undefined {
  if (!config?.qkvBias) return undefined;
  const part = config.attentionEvery !== undefined ? "attentionEvery" : config.experts && "experts";
  return part && `is true, but models with ${part} have no biases here; leave it out`;
}
