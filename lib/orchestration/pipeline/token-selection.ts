import type { Recipe } from "../../config/index.ts";
import type { TrainingBatch } from "../../native/face.ts";
import { CounterRandom } from "../../random.ts";

/** [T] values of a step's tokens under the weights before the step. */
export interface FirstPass {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
}

type Rule = NonNullable<Recipe["objective"]["tokens"]>;
type Selected = Pick<TrainingBatch, "tokenWeights" | "tokenPenalties">;

/** Keys of the random streams, together with seed and step. */
const CLIP_COV = 0x434f56;

/**
 * Applies a rule that compares a step's tokens with each other: returns weights of their terms, or penalties
 * (docs/reference/recipe.md, "Some of a step's tokens"). Wang et al. 2025, "Beyond the 80/20 Rule"; Cui et al. 2025,
 * "The Entropy Mechanism of Reinforcement Learning for Reasoning Language Models".
 */
export function selectTokens(
  rule: Rule,
  { mask, tokenAdvantages }: Pick<TrainingBatch, "mask"> & { readonly tokenAdvantages: Float32Array },
  first: FirstPass,
  { seed, step }: { readonly seed: number; readonly step: number },
): Selected {
  const sampled = [...mask.keys()].filter((t) => mask[t] === 1);
  const count = Math.max(1, Math.floor(rule.fraction * sampled.length));
  const values = new Float32Array(mask.length);
  switch (rule.kind) {
    case "high-entropy":
      for (const t of highest(sampled, first.entropies, count)) values[t] = 1;
      return { tokenWeights: values };
    case "clip-cov": {
      const covariances = covariancesOf(sampled, first.logprobs, tokenAdvantages);
      const { low, high } = rule;
      const candidates = sampled.filter((t) => covariances[t]! > low && covariances[t]! < high);
      for (const t of sampled) values[t] = 1;
      for (const t of drawn(candidates, count, new CounterRandom(seed, CLIP_COV, step))) values[t] = 0;
      return { tokenWeights: values };
    }
    case "kl-cov": {
      const covariances = covariancesOf(sampled, first.logprobs, tokenAdvantages);
      for (const t of highest(sampled, covariances, count)) values[t] = rule.coef;
      return { tokenPenalties: values };
    }
  }
}

/** The `count` tokens with the highest values; among equal values, the first ones. */
function highest(tokens: readonly number[], values: ArrayLike<number>, count: number): number[] {
  return tokens.toSorted((a, b) => values[b]! - values[a]! || a - b).slice(0, count);
}

/** Draws `count` of the tokens uniformly without replacement; returns all if there are fewer. */
function drawn(tokens: readonly number[], count: number, random: CounterRandom): number[] {
  return random.shuffle(tokens).slice(0, count);
}

/** [T] (A_t − mean A)(new_t − mean new) over the sampled tokens: each token's contribution to the covariance of both. */
function covariancesOf(
  sampled: readonly number[],
  logprobs: Float32Array,
  advantages: Float32Array,
): Float64Array {
  const meanOf = (values: Float32Array) => sampled.reduce((sum, t) => sum + values[t]!, 0) / sampled.length;
  const [logprob, advantage] = [meanOf(logprobs), meanOf(advantages)];
  const out = new Float64Array(logprobs.length);
  for (const t of sampled) out[t] = (advantages[t]! - advantage) * (logprobs[t]! - logprob);
  return out;
}
