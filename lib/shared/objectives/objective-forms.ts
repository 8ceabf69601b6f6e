/** How an objective uses a token's ratio and advantage, and how it averages (docs/reference/recipe.md, objectives). */
export interface ObjectiveForm {
  /** Whether the objective uses the probability ratio of each token or that of the whole sequence. */
  readonly ratio: "token" | "sequence";
  /**
   * How the ratio x is bounded. "clip": min(x A, clip(x) A); "log-clip": as "clip", but clips log x;
   * "weight": x is clipped and has no gradient; "weight-above": as "weight", clipped only from above; "gate":
   * by a smooth function.
   */
  readonly bound: "clip" | "log-clip" | "weight" | "weight-above" | "gate" | "none";
  /**
   * Weight of a sequence's mean term in the loss: w_i / N by `sequenceWeight`, 1 / (groups |g|), n_i /
   * tokens, n_i / normalizer or n_i / sequences.
   */
  readonly average: "sequence" | "group" | "tokens" | "normalizer" | "sequences";
}

/** Forms of all objectives but "custom", which its function defines completely. */
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
  /** N, including sequences that only count in N (overlong filtering). */
  readonly sequences: number;
  readonly groups: number;
  /** Sum of n_i, the sequences' counted tokens. */
  readonly tokens: number;
  /** Dr.GRPO's normalizer, in tokens. */
  readonly normalizer: number;
}

/**
 * Weight w of a sequence: loss = sum over sequences of w times the mean of the objective's term over the
 * sequence's n tokens.
 */
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

/**
 * Which ratio an objective clips, and how far below and above 1; undefined if it does not clip, or is a
 * custom function.
 */
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
