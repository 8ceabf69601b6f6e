import { z } from "zod";
import { orOff, positive } from "./numbers.ts";
import { slopesSchema } from "./slopes.ts";

/** What a step minimises (docs/reference/recipe.md, objectives). */
export const objectiveSchema = z
  .strictObject({
    kind: z
      .enum([
        "gspo",
        "grpo",
        "dapo",
        "dr-grpo",
        "ppo-clip",
        "cispo",
        "reinforce-clamped",
        "reinforce",
        "gspo-token",
        "gmpo",
        "sapo",
        "custom",
      ])
      .default("gspo"),
    /**
     * For kind "custom": a function that fills one slope a token, or its module: "./loss.ts#name"
     * (docs/how-to/write-a-loss.md).
     */
    slopes: slopesSchema.optional(),
    /** "uniform" is the paper's 1/G; "length" is what PipelineRL runs. */
    sequenceWeight: z.enum(["uniform", "length"]).default("uniform"),
    /**
     * epsilon below and above: the ratio stays in [1 - clipLow, 1 + clipHigh], with a clipLow of 1 in [0, 1 + clipHigh]; gmpo's
     * in [exp(-clipLow), exp(clipHigh)].
     */
    clipLow: positive().default(3e-3),
    clipHigh: positive().default(4e-3),
    /** Of sapo: the temperatures of its gate where the advantage is positive and where it is not ("Soft Adaptive Policy Optimization"). */
    gate: z
      .strictObject({
        positive: z.number().min(1e-3).max(1e3).default(1),
        negative: z.number().min(1e-3).max(1e3).default(1.05),
      })
      .optional(),
    klCoef: orOff().default(0),
    entropyCoef: orOff().default(0),
    /**
     * Correction for tokens that weights before the step sampled (docs/reference/recipe.md, "Corrections"): constant weights in
     * [low, high], or 0 outside; with dppo-tv and dppo-kl ("Rethinking the Trust Region in LLM Reinforcement Learning") 0 where the
     * policy's probability of a token is further than low below the sampler's, or than high above. A low of 0 is there high. With one, the ratio of the objective is to the log-probs at the start of the step: 1 in
     * its first update, where it clips nothing.
     */
    correction: z
      .strictObject({
        kind: z
          .enum([
            "none",
            "tis",
            "sequence-tis",
            "icepop",
            "sequence-mask",
            "geometric-mask",
            "dppo-tv",
            "dppo-kl",
          ])
          .default("none"),
        low: orOff().default(0),
        /** Only "none" does without. */
        high: positive().optional(),
      })
      .prefault({}),
  })
  .prefault({});

type CorrectionName = z.infer<typeof objectiveSchema>["correction"]["kind"];

/** Whether a correction looks at a difference of probabilities, whose bounds are distances, and not ends of a band of weights. */
export const looksAtGaps = (kind: CorrectionName): boolean => kind === "dppo-tv" || kind === "dppo-kl";
