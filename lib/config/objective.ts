import { z } from "zod";
import { OBJECTIVE_FORMS } from "../shared/objectives/objective-forms.ts";
import { count, MOST_SEQUENCES, orOff, positive } from "./numbers.ts";
import { slopesSchema } from "./slopes.ts";

/** What a step minimises (docs/reference/recipe.md, objectives). */
const fraction = (usual: number) => positive(1).default(usual);

/**
 * Selects which of a step's tokens train, or are regularised, once all of the step's tokens are known
 * (docs/reference/recipe.md).
 */
const tokensSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("high-entropy"),
    /** Only the tokens with the highest entropy train ("Beyond the 80/20 Rule"). */
    fraction: fraction(0.2),
  }),
  z.strictObject({
    kind: z.literal("clip-cov"),
    /**
     * This fraction of all tokens, drawn from those whose covariance is between low and high, does not train ("The
     * Entropy Mechanism").
     */
    fraction: fraction(2e-4),
    low: z.number().default(1),
    high: z.number().default(5),
  }),
  z.strictObject({
    kind: z.literal("kl-cov"),
    /** The tokens with the highest covariance are penalised by coef |log ratio| ("The Entropy Mechanism"). */
    fraction: fraction(2e-4),
    coef: positive().default(1),
  }),
]);

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
     * For kind "custom": a function that fills one slope per token, or its module: "./loss.ts#name"
     * (docs/how-to/write-a-loss.md).
     */
    slopes: slopesSchema.optional(),
    /** "uniform" is 1/G, as in the Apriel-Reasoner paper; "length" is PipelineRL's weighting. */
    sequenceWeight: z.enum(["uniform", "length"]).default("uniform"),
    /**
     * epsilon below and above: the ratio stays in [1 - clipLow, 1 + clipHigh], or in [0, 1 + clipHigh] if
     * clipLow is 1; for gmpo in [exp(-clipLow), exp(clipHigh)].
     */
    clipLow: positive().default(3e-3),
    clipHigh: positive().default(4e-3),
    /**
     * The ratio above which the term of a negative advantage is constant: dual-clip PPO ("Mastering Complex Control
     * in MOBA Games with Deep Reinforcement Learning"), verl's clip_ratio_c, TRL's delta. Default: no such bound.
     */
    dualClip: z.number().min(1).max(1e30).optional(),
    /**
     * Mean of log behavior - log policy, in nats a token, above which the tokens of a sequence with negative
     * advantages are left out: "off-policy sequence masking" (DeepSeek-V3.2), TRL's off_policy_mask_threshold.
     * Default: no such mask.
     */
    offPolicyMask: orOff().optional(),
    /**
     * For kind "sapo": the temperatures of its gate for positive and for other advantages ("Soft Adaptive Policy
     * Optimization").
     */
    gate: z
      .strictObject({
        positive: z.number().min(1e-3).max(1e3).default(1),
        negative: z.number().min(1e-3).max(1e3).default(1.05),
      })
      .optional(),
    tokens: tokensSchema.optional(),
    klCoef: orOff().default(0),
    /** Steps after which the KL term's reference is replaced by the current policy; 0: the reference stays the initial policy. */
    referenceEverySteps: z.int().min(0).default(0),
    /**
     * Estimator of the KL term per token, by Schulman's names (docs/reference/recipe.md, objectives); "unbiased" is
     * k3 times the ratio to the sampler's policy (DeepSeek-V3.2; TRL's use_bias_correction_kl); "full" computes
     * KL(policy || reference) over the token's whole distributions, not over the sampled token.
     */
    klEstimator: z.enum(["k1", "k2", "k3", "unbiased", "full"]).default("k3"),
    /** For "full": number of the reference's likeliest tokens; all others count as one more. Default: the whole vocabulary. */
    klTopK: count(MOST_SEQUENCES).min(1).optional(),
    entropyCoef: orOff().default(0),
    /**
     * Changes the entropy coefficient by delta after every step, beginning with entropyCoef: up if the mean entropy
     * of the step's tokens is at most target, else down. A step that follows one above target has no entropy bonus
     * ("Skywork Open Reasoner 1").
     */
    entropyControl: z
      .strictObject({
        /** Target entropy, in nats. */
        target: positive(),
        delta: positive().default(5e-3),
        min: orOff().default(0),
        max: positive().default(1),
      })
      .optional(),
    /**
     * For a mixture of experts: coefficient of the loss that balances experts, smallest if all get equally many
     * tokens (Switch Transformers; transformers' router_aux_loss_coef), and of the squared log-sum-exp of router
     * logits (ST-MoE).
     */
    router: z
      .strictObject({
        balanceCoef: orOff().default(0),
        zCoef: orOff().default(0),
        /**
         * Training sends every token to the experts that it went to when it was sampled, weighed by the current router
         * ("Stabilizing MoE Reinforcement Learning by Aligning Training and Inference Routers"; GSPO's "routing replay").
         */
        replay: z.boolean().default(false),
      })
      .optional(),
    /**
     * Correction for tokens that weights before the step sampled (docs/reference/recipe.md, "Corrections"):
     * constant weights in [low, high], or 0 outside; with dppo-tv and dppo-kl ("Rethinking the Trust Region
     * in LLM Reinforcement Learning") 0 where the policy's probability of a token is more than low below the
     * sampler's, or more than high above it; for these two a low of 0 means high. With a correction, the
     * objective's ratio is relative to the log-probs at the start of the step, hence 1 in the first update,
     * where nothing is clipped.
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
        /** Optional only with "none". */
        high: positive().optional(),
      })
      .prefault({}),
  })
  .prefault({});

type Objective = z.infer<typeof objectiveSchema>;

/** True if a correction compares probabilities, so that its bounds are distances and not the ends of a range of weights. */
export const looksAtGaps = (kind: Objective["correction"]["kind"]): boolean =>
  kind === "dppo-tv" || kind === "dppo-kl";

/** True if the KL term compares whole distributions with those of the reference. */
export const hasFullKl = ({ klCoef, klEstimator }: Pick<Objective, "klCoef" | "klEstimator">): boolean =>
  klCoef !== 0 && klEstimator === "full";

interface ObjectiveCheck {
  readonly paths: readonly string[];
  readonly rule: (recipe: { readonly objective: Objective }) => string | undefined;
}

/** Rules between the fields of an objective (cross-checks.ts). */
export const OBJECTIVE_CHECKS: readonly ObjectiveCheck[] = [
  {
    paths: ["objective.clipHigh", "objective.clipLow"],
    rule: ({ objective: o }) =>
      o.clipHigh < o.clipLow && o.clipLow !== 1
        ? `is ${o.clipHigh}, below objective.clipLow ${o.clipLow}; the ratio is kept in [1 - clipLow, 1 + clipHigh] (the paper uses 0.003 and 0.004)`
        : undefined,
  },
  {
    paths: ["objective.clipLow"],
    rule: ({ objective: { kind, clipLow: x } }) =>
      x > 1 && kind !== "gmpo" ? `is ${x}; it must be at most 1, which means no lower bound` : undefined,
  },
  {
    paths: ["objective.dualClip", "objective.kind"],
    rule: ({ objective: { kind, dualClip } }) =>
      dualClip !== undefined && (kind === "custom" || OBJECTIVE_FORMS[kind].bound !== "clip")
        ? `is ${dualClip}, but "${kind}" does not take the minimum of a ratio and its clipped value, which dualClip bounds; leave it out`
        : undefined,
  },
  {
    paths: ["objective.offPolicyMask", "objective.kind"],
    rule: ({ objective: { kind, offPolicyMask } }) =>
      offPolicyMask !== undefined && (kind === "custom" || kind === "gmpo")
        ? `is ${offPolicyMask}, but ${kind === "gmpo" ? '"gmpo" has no such mask' : "a custom objective decides by itself which tokens train"}; leave it out`
        : undefined,
  },
  {
    paths: ["objective.gate", "objective.kind"],
    rule: ({ objective: { kind, gate } }) =>
      kind !== "sapo" && gate !== undefined
        ? `belongs to objective.kind "sapo"; "${kind}" has no gate`
        : undefined,
  },
  {
    paths: ["objective.slopes", "objective.kind"],
    rule: ({ objective: { kind, slopes } }) => {
      if (kind === "custom" && slopes === undefined)
        return 'is required with kind "custom": the function that fills one slope a token (docs/how-to/write-a-loss.md)';
      return kind !== "custom" && slopes !== undefined
        ? `is given, but objective.kind "${kind}" calls no function; set kind: "custom"`
        : undefined;
    },
  },
  {
    paths: ["objective.entropyControl", "objective.entropyCoef"],
    rule: ({ objective: { entropyControl: c, entropyCoef } }) =>
      c !== undefined && !(c.min <= entropyCoef && entropyCoef <= c.max)
        ? `keeps the coefficient in [${c.min}, ${c.max}], and objective.entropyCoef, its first value, is ${entropyCoef}`
        : undefined,
  },
  {
    paths: ["objective.referenceEverySteps", "objective.klCoef"],
    rule: ({ objective: { referenceEverySteps: every, klCoef } }) =>
      every > 0 && klCoef === 0 ? `is ${every}, but klCoef is 0, so there is no reference policy` : undefined,
  },
  {
    paths: ["objective.klTopK", "objective.klEstimator"],
    rule: ({ objective: { klTopK, klEstimator } }) =>
      klTopK !== undefined && klEstimator !== "full"
        ? `is ${klTopK}, and klEstimator "${klEstimator}" looks at sampled tokens alone; say klEstimator: "full"`
        : undefined,
  },
  {
    paths: ["objective.tokens", "objective.kind"],
    rule: ({ objective: { kind, tokens } }) =>
      kind === "custom" && tokens !== undefined
        ? `is "${tokens.kind}", which weighs the terms of built-in objectives; a custom one weighs its own`
        : undefined,
  },
  {
    paths: ["objective.tokens.low", "objective.tokens.high"],
    rule: ({ objective: { tokens } }) =>
      tokens?.kind === "clip-cov" && tokens.low >= tokens.high
        ? `is ${tokens.low}, not below objective.tokens.high ${tokens.high}; covariances between the two are drawn from`
        : undefined,
  },
  {
    paths: ["objective.correction.kind", "objective.kind"],
    rule: ({ objective: { kind, correction } }) =>
      kind === "custom" && correction.kind !== "none"
        ? `is "${correction.kind}", which applies to built-in objectives only; a custom one gets both log-probs and can weigh tokens itself`
        : undefined,
  },
  {
    paths: ["objective.correction.high", "objective.correction.kind"],
    rule: ({ objective: { correction: c } }) =>
      c.kind !== "none" && c.high === undefined
        ? `is required with kind "${c.kind}": the largest weight, or the upper end of the band (docs/reference/recipe.md has the authors' values)`
        : undefined,
  },
  {
    paths: ["objective.correction.low", "objective.correction.high"],
    rule: ({ objective: { correction: c } }) =>
      c.high !== undefined && c.low >= c.high && !looksAtGaps(c.kind)
        ? `is ${c.low}, not below objective.correction.high ${c.high}; weights stay between the two`
        : undefined,
  },
  {
    paths: ["objective.correction", "objective.correction.kind"],
    rule: ({ objective: { correction: c } }) =>
      c.high !== undefined && c.low < c.high && (c.low > 1 || c.high < 1) && !looksAtGaps(c.kind)
        ? `keeps weights in [${c.low}, ${c.high}], which leaves out 1, the weight where sampler and trainer agree`
        : undefined,
  },
  {
    paths: ["objective.correction", "objective.correction.kind"],
    rule: ({ objective: { correction: c } }) =>
      c.kind === "dppo-tv" && Math.max(c.low, c.high ?? 0) >= 1
        ? `has a bound of ${Math.max(c.low, c.high ?? 0)}, which no difference of probabilities passes (its paper takes 0.15)`
        : undefined,
  },
];
