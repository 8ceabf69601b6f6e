import { z } from "zod";
import { F32_LARGE, fraction, tokens } from "./numbers.ts";

export const lengthPenaltySchema = z.strictObject({
  /** "dap": difficulty-aware; "lp": the same for every rollout; "none". */
  kind: z.enum(["dap", "lp", "none"]).default("dap"),
  /** B: the penalty grows over the last B of the L tokens. Only "none" does without. */
  bufferTokens: tokens().optional(),
  /** gamma: correct answers are penalised by s^gamma. */
  solveRateExponent: z.number().min(0).max(F32_LARGE).default(1),
  /** lambda_f, for incorrect answers. */
  incorrectScale: fraction().default(1),
});

export const advantagesSchema = z
  .strictObject({
    baseline: z.enum(["mean", "leave-one-out"]).default("mean"),
    divideBy: z.enum(["population-std", "sample-std", "none"]).default("population-std"),
    /** What must differ within a group for it to be trained on: the verdicts' scores, or the rewards with the length penalty. */
    filter: z.enum(["score", "reward", "none"]).default("score"),
  })
  .prefault({});
