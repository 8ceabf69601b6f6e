import { z } from "zod";
import { F32_LARGE, fraction, MOST_SEQUENCES, tokens } from "./numbers.ts";

const worth = () => z.number().min(-F32_LARGE).max(F32_LARGE);
const rewardRow = () =>
  z.strictObject({
    correct: worth(),
    wrong: worth(),
    no_answer: worth(),
    unparsable: worth(),
    /** Reward for "partial" regardless of the score; default: between wrong and correct, by the score. */
    partial: worth().optional(),
  });

export const rewardSchema = z
  .strictObject({
    /**
     * Value of a verdict before the length penalty: its score; a table of PipelineRL by name
     * (docs/reference/recipe.md); or one set of numbers for finished answers and one for answers that maxOutputTokens
     * cut.
     */
    table: z
      .union([
        z.strictObject({ finished: rewardRow(), truncated: rewardRow() }),
        z.enum(["score", "pure_success", "success_and_format"]),
      ])
      .default("score"),
  })
  .prefault({});

export const lengthPenaltySchema = z
  .strictObject({
    /** "dap": difficulty-aware; "lp": the same for every rollout; "none", default of a recipe without lengthPenalty. */
    kind: z.enum(["dap", "lp", "none"]).default("dap"),
    /** B: the penalty grows over the last B of the L tokens. Required unless `kind` is "none". */
    bufferTokens: tokens().optional(),
    /** gamma: correct answers are penalised by s^gamma. */
    solveRateExponent: z.number().min(0).max(F32_LARGE).default(1),
    /** lambda_f, for incorrect answers. */
    incorrectScale: fraction().default(1),
  })
  .prefault({ kind: "none" });

export const advantagesSchema = z
  .strictObject({
    /** "batch-mean", "domain-mean": over the step's kept groups, or the domain's among them (docs/reference/recipe.md). */
    baseline: z.enum(["mean", "leave-one-out", "batch-mean", "domain-mean"]).default("mean"),
    /** k below groupSize: maximises the best of k answers (pass@k), with its own baseline. Default: one answer. */
    passAt: z.int().min(2).max(MOST_SEQUENCES).optional(),
    /** "batch-std", "domain-std": of the differences to the baseline, over the step's kept groups or the domain's. */
    divideBy: z
      .enum(["population-std", "sample-std", "batch-std", "domain-std", "none"])
      .default("population-std"),
    /** For a domain with several rewards: use their weighted mean, or normalise each within its group first (GDPO). */
    combine: z.enum(["rewards", "advantages"]).default("rewards"),
    /**
     * Numbers that must differ within a group for it to be trained on: the verdicts' scores, or the rewards with the
     * length penalty. Default: "score"; with a teacher, or a baseline of the batch or domain, "none".
     */
    filter: z.enum(["score", "reward", "none"]).optional(),
    /** Completions that maxOutputTokens cut: "mask" keeps them in the group's baseline and out of the loss (DAPO). */
    overlong: z.enum(["keep", "mask"]).default("keep"),
  })
  .prefault({});

interface Chosen {
  readonly advantages: z.output<typeof advantagesSchema>;
  readonly rollouts: { readonly groupSize: number };
  readonly reward: z.output<typeof rewardSchema>;
  readonly domains: Readonly<Record<string, { readonly rewards?: object | undefined }>>;
}

/** True for a baseline over all groups of a step, or over those of a domain. */
export const isBatchwide = (baseline: Chosen["advantages"]["baseline"]): boolean =>
  baseline === "batch-mean" || baseline === "domain-mean";

/** Reason why a baseline is incompatible with the recipe's other choices; undefined if it is not. */
export function whyNotBaseline({ advantages: { baseline, divideBy, passAt } }: Chosen): string | undefined {
  if (!isBatchwide(baseline)) return undefined;
  if (passAt !== undefined)
    return `is "${baseline}", but advantages.passAt ${passAt} has a baseline of its own; leave out one of the two`;
  return divideBy === "population-std" || divideBy === "sample-std"
    ? `is "${baseline}", but advantages.divideBy "${divideBy}" is the deviation of one group, whose rewards may all be equal; say divideBy "batch-std", "domain-std" or "none"`
    : undefined;
}

/** Reason why pass@k is not possible; undefined if it is, or is not requested. */
export function whyNotBestOf({ advantages, rollouts: { groupSize } }: Chosen): string | undefined {
  const { passAt = 1 } = advantages;
  return passAt >= groupSize
    ? `is ${passAt}; it must be below rollouts.groupSize ${groupSize}, because the baseline of a rollout is over sets of passAt others`
    : undefined;
}

/** Reason why rewards cannot be normalised one by one; undefined if they can. */
export function whyNotCombined({ advantages, reward, domains }: Chosen): string | undefined {
  if (advantages.combine === "rewards") return undefined;
  if (advantages.passAt !== undefined)
    return `is "advantages", which does not work with advantages.passAt ${advantages.passAt}; leave one of the two out`;
  if (reward.table !== "score")
    return 'is "advantages", which normalises the scores of rewards; reward.table must be "score"';
  return Object.values(domains).some(
    ({ rewards }) => rewards !== undefined && Object.keys(rewards).length > 1,
  )
    ? undefined
    : 'is "advantages", but no domain has several rewards; give one `rewards: { <name>: { weight, reward } }`, or say "rewards"';
}
