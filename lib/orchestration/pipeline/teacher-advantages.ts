import type { Recipe } from "../../config/index.ts";
import type { TeacherScores } from "../../native/teacher-face.ts";
import type { AssembledBatch } from "./training-batch.ts";

/**
 * The batch with a teacher's contribution. With whole distributions, advantages are rewardCoef times the reward's,
 * and the step receives the teacher's distributions; with sampled tokens, see taughtTokens.
 */
export function taughtBatch(
  batch: AssembledBatch,
  { logprobs, ...distributions }: TeacherScores,
  teacher: Pick<NonNullable<Recipe["teacher"]>, "coef" | "rewardCoef" | "divergence">,
): AssembledBatch {
  if (teacher.divergence === undefined) return taughtTokens(batch, logprobs, teacher);
  const weighed = (advantages: Float32Array) => advantages.map((one) => teacher.rewardCoef * one);
  const advantages = weighed(batch.data.advantages);
  const tokenAdvantages = weighed(batch.data.tokenAdvantages);
  return {
    ...batch,
    data: { ...batch.data, advantages, tokenAdvantages, ...distributions },
    teacherLogprobs: logprobs,
  };
}

/**
 * The batch with advantages from a teacher: each sampled token gets rewardCoef * (its rollout's advantage) +
 * coef * (g - the mean of g over its group's sampled tokens), g = log p_teacher - log p_sampler, in float64
 * and rounded once. The mean of -g under the sampler is KL(sampler || teacher) of the next token (Agarwal et
 * al. 2024, "On-Policy Distillation of Language Models"; as in "On-Policy Distillation", Thinking Machines
 * 2025, later tokens are not summed). The group's mean is a baseline: g alone is negative nearly everywhere,
 * and its gradient mostly noise.
 * @param teacherLogprobs [T] natural logs at the temperature of training
 */
function taughtTokens(
  batch: AssembledBatch,
  teacherLogprobs: Float32Array,
  { coef, rewardCoef }: Pick<NonNullable<Recipe["teacher"]>, "coef" | "rewardCoef">,
): AssembledBatch {
  const { data } = batch;
  const gapOf = (t: number) => teacherLogprobs[t]! - data.behaviorLogprobs[t]!;
  const means = groupMeans(batch, gapOf);
  const tokenAdvantages = new Float32Array(data.tokens.length);
  eachSampled(batch, (t, group) => {
    tokenAdvantages[t] = rewardCoef * data.tokenAdvantages[t]! + coef * (gapOf(t) - means[group]!);
  });
  return { ...batch, data: { ...data, tokenAdvantages }, teacherLogprobs };
}

function groupMeans(batch: AssembledBatch, numberOf: (t: number) => number): Float64Array {
  const groups = batch.groupOf.length === 0 ? 0 : batch.groupOf.at(-1)! + 1;
  const sums = new Float64Array(groups);
  const counts = new Float64Array(groups);
  eachSampled(batch, (t, group) => {
    sums[group]! += numberOf(t);
    counts[group]! += 1;
  });
  return sums.map((sum, group) => sum / counts[group]!);
}

function eachSampled({ data, groupOf }: AssembledBatch, visit: (t: number, group: number) => void): void {
  for (const [i, group] of groupOf.entries())
    for (let t = data.cuSeqlens[i]!; t < data.cuSeqlens[i + 1]!; ++t) if (data.mask[t] === 1) visit(t, group);
}
