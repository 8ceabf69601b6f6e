import type { Recipe } from "../../config/index.ts";
import type { SlopesFunction } from "../../custom-objective.ts";
import { askFirstPass } from "../../shared/objectives/slopes-function.ts";
import type { FirstPass } from "./token-selection.ts";
import type { AssembledBatch } from "./training-batch.ts";

/** [T] results of a custom objective's `firstPass` for a step's tokens; 0 for tokens that the policy did not sample. */
export function weighedByObjective(
  slopes: SlopesFunction,
  data: AssembledBatch["data"],
  first: FirstPass,
  { seed, objective }: Pick<Recipe, "seed" | "objective">,
  step: number,
): Float32Array {
  const sampled = [...data.mask.keys()].filter((t) => data.mask[t] === 1);
  const of = (values: Float32Array) => Float64Array.from(sampled, (t) => values[t]!);
  const { referenceLogprobs, groupSizes, advantages, sequences, groups } = data;
  const { clipLow, clipHigh, sequenceWeight } = objective;
  const answer = askFirstPass(slopes, {
    logprobs: of(first.logprobs),
    entropies: of(first.entropies),
    behaviorLogprobs: of(data.behaviorLogprobs),
    ...(referenceLogprobs && { referenceLogprobs: of(referenceLogprobs) }),
    advantages: Float64Array.from(advantages),
    tokenAdvantages: of(data.tokenAdvantages),
    sequences: startsOf(data),
    ...(groupSizes && { groupSizes: groupSizes.slice() }),
    totalSequences: sequences,
    totalGroups: groups!,
    totalTokens: sampled.length,
    clipLow,
    clipHigh,
    sequenceWeight,
    seed,
    step,
  });
  const weights = new Float32Array(data.tokens.length);
  sampled.forEach((t, i) => {
    weights[t] = answer[i]!;
  });
  return weights;
}

/** [S+1] index of each sequence's first sampled token, counting the sampled tokens of all sequences. */
function startsOf({ cuSeqlens, mask }: AssembledBatch["data"]): Int32Array {
  const starts = new Int32Array(cuSeqlens.length);
  for (let i = 1; i < starts.length; i++) {
    const own = mask.subarray(cuSeqlens[i - 1], cuSeqlens[i]);
    starts[i] = starts[i - 1]! + own.reduce((n, one) => n + one, 0);
  }
  return starts;
}
