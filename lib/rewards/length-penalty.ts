/**
 * Effect of a completion's length on its reward. "none": no effect. "lp": the unscaled overlong penalty. "dap": the
 * penalty scaled by the difficulty of the problem, so that easy problems must be answered briefly and hard ones may
 * be answered at length.
 */
export type LengthPenaltyOptions = { readonly kind: "none" } | OverlongPenaltyOptions;

export interface OverlongPenaltyOptions {
  readonly kind: "lp" | "dap";
  /** L: the response budget in tokens. */
  readonly maxOutputTokens: number;
  /** B: the penalty ramps over the last B tokens of the budget; 0 < B <= L. */
  readonly bufferTokens: number;
  /** gamma >= 0: how fast the scale falls with the group's solve rate. Default 1. */
  readonly solveRateExponent?: number;
  /** lambda_f in [0, 1]: scale for incorrect completions. Default 1. */
  readonly incorrectScale?: number;
}

/** Facts about one completion that the penalty depends on. */
export interface PenalizedCompletion {
  readonly tokens: number;
  /** True if the completion ended by itself, not by the budget. */
  readonly finished: boolean;
  readonly correct: boolean;
}

export interface LengthPenaltyResult {
  /** P in [-1, 0]. */
  readonly penalty: number;
  /** Lambda in [0, 1]; the reward is R + lambda P. */
  readonly penaltyScale: number;
}

/**
 * The overlong penalty.
 *   P(l) = ((L - B) - l) / B   for L - B < l <= L, else 0
 * l, L and B are in tokens, P has no unit. Beyond L the formula says 0, not -1.
 * Source: Apriel-Reasoner, length penalty.
 */
export function overlongPenalty(tokens: number, maxOutputTokens: number, bufferTokens: number): number {
  const start = maxOutputTokens - bufferTokens;
  return tokens > start && tokens <= maxOutputTokens ? (start - tokens) / bufferTokens : 0;
}

/**
 * Penalty and scale of one completion of a group with the given solve rate.
 * lambda = 1 if l >= L and the completion did not finish (truncation gets no discount)
 * s^gamma if it is correct (0^0 = 1)
 * lambda_f if it is not
 * For "lp" lambda is always 1; for "none" both are 0.
 * Source: Apriel-Reasoner, difficulty-aware penalty.
 */
export function lengthPenalty(
  completion: PenalizedCompletion,
  solveRate: number,
  options: LengthPenaltyOptions,
): LengthPenaltyResult {
  if (options.kind === "none") return { penalty: 0, penaltyScale: 0 };
  const { kind, maxOutputTokens, bufferTokens, solveRateExponent = 1, incorrectScale = 1 } = options;
  const penalty = overlongPenalty(completion.tokens, maxOutputTokens, bufferTokens);
  const cutOff = completion.tokens >= maxOutputTokens && !completion.finished;
  if (kind === "lp" || cutOff) return { penalty, penaltyScale: 1 };
  return { penalty, penaltyScale: completion.correct ? solveRate ** solveRateExponent : incorrectScale };
}
