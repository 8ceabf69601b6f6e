import { z } from "zod";
import { F32_LARGE, fraction, MOST_SEQUENCES, tokens } from "./numbers.ts";

const worth = () => z.number().min(-F32_LARGE).max(F32_LARGE);
const rewardRow = () =>
  z.strictObject({
    correct: worth(),
    wrong: worth(),
    no_answer: worth(),
    unparsable: worth(),
    /** Whatever the score; left out, between wrong and correct by the score. */
    partial: worth().optional(),
  });

export const rewardSchema = z
  .strictObject({
    /**
     * Value of a verdict before the length penalty: its score, a table of PipelineRL by name (docs/reference/recipe.md), or
     * numbers for answers that ended by themselves and for those that were cut.
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
    /** B: the penalty grows over the last B of the L tokens. Only "none" does without. */
    bufferTokens: tokens().optional(),
    /** gamma: correct answers are penalised by s^gamma. */
    solveRateExponent: z.number().min(0).max(F32_LARGE).default(1),
    /** lambda_f, for incorrect answers. */
    incorrectScale: fraction().default(1),
  })
  .prefault({ kind: "none" });

export const advantagesSchema = z
  .strictObject({
    baseline: z.enum(["mean", "leave-one-out"]).default("mean"),
    /** k below groupSize: the best of k answers is maximised (pass@k), with a baseline of its own. Default: one answer. */
    passAt: z.int().min(2).max(MOST_SEQUENCES).optional(),
    divideBy: z.enum(["population-std", "sample-std", "none"]).default("population-std"),
    /**
     * Numbers that must differ within a group for it to be trained on: the verdicts' scores, or the rewards with the
     * length penalty. Default: "score", with a teacher "none".
     */
    filter: z.enum(["score", "reward", "none"]).optional(),
    /** Completions that maxOutputTokens cut: "mask" keeps them in the group's baseline and out of the loss (DAPO). */
    overlong: z.enum(["keep", "mask"]).default("keep"),
  })
  .prefault({});
