/** How an objective uses a token's ratio and advantage, and how it averages (docs/reference/recipe.md, objectives). */
export interface ObjectiveForm {
  /** Whether a term has the token's or the sequence's ratio. */
  readonly ratio: "token" | "sequence";
  /**
   * How the ratio is bounded: min(x A, clip(x) A), the same of its logarithm, a clipped weight held constant, with or
   * without a lower end, a smooth gate, or not at all.
   */
  readonly bound: "clip" | "log-clip" | "weight" | "weight-above" | "gate" | "none";
  /** Weight of a sequence's mean term in the loss: w_i / N by `sequenceWeight`, 1 / (groups |g|), or n_i over what is named. */
  readonly average: "sequence" | "group" | "tokens" | "normalizer" | "sequences";
}

/** Every kind but "custom", which its function defines completely. */
export const OBJECTIVE_FORMS = {
  gspo: { ratio: "sequence", bound: "clip", average: "sequence" },
  grpo: { ratio: "token", bound: "clip", average: "group" },
  dapo: { ratio: "token", bound: "clip", average: "tokens" },
  "dr-grpo": { ratio: "token", bound: "clip", average: "normalizer" },
  "ppo-clip": { ratio: "token", bound: "clip", average: "sequences" },
  cispo: { ratio: "token", bound: "weight", average: "tokens" },
  "reinforce-clamped": { ratio: "token", bound: "weight-above", average: "sequences" },
  reinforce: { ratio: "token", bound: "none", average: "sequences" },
  "gspo-token": { ratio: "sequence", bound: "clip", average: "sequence" },
  gmpo: { ratio: "token", bound: "log-clip", average: "sequence" },
  sapo: { ratio: "token", bound: "gate", average: "sequence" },
  supervised: { ratio: "token", bound: "none", average: "tokens" },
} as const satisfies Record<string, ObjectiveForm>;

/** Divisors of the losses of a step, or of one of its updates. */
export interface LossTotals {
  /** N, with sequences that only count. */
  readonly sequences: number;
  readonly groups: number;
  /** Sum of n_i. */
  readonly tokens: number;
  /** For dr-grpo, tokens. */
  readonly normalizer: number;
}

/** Weight w in: loss = sum over sequences of w times the mean over a sequence's n tokens of the objective's term. */
export function weightInLoss(
  objective: { readonly kind: keyof typeof OBJECTIVE_FORMS; readonly sequenceWeight: "uniform" | "length" },
  { sequences, groups, tokens, normalizer }: LossTotals,
  n: number,
  groupSize: number,
): number {
  switch (OBJECTIVE_FORMS[objective.kind].average) {
    case "sequence":
      return (objective.sequenceWeight === "length" ? n : 1) / sequences;
    case "group":
      return 1 / (groups * groupSize);
    case "tokens":
      return n / tokens;
    case "normalizer":
      return n / (sequences * normalizer);
    case "sequences":
      return n / sequences;
  }
}

/** The ratio that an objective clips, and its distances from 1; undefined if it does not clip, or is a custom function. */
export function clipRange(objective: {
  readonly kind: keyof typeof OBJECTIVE_FORMS | "custom";
  readonly clipLow: number;
  readonly clipHigh: number;
}): { readonly of: "token" | "sequence"; readonly low: number; readonly high: number } | undefined {
  const { kind, clipLow: low, clipHigh: high } = objective;
  if (kind === "custom") return undefined;
  const { ratio: of, bound } = OBJECTIVE_FORMS[kind];
  if (bound === "none" || bound === "gate") return undefined;
  return bound === "log-clip" ? { of, low: -Math.expm1(-low), high: Math.expm1(high) } : { of, low, high };
}
