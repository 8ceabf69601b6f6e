import type { DomainName } from "../records.ts";
import type { ProblemResult } from "./evaluate.ts";

/** Means over the completions to a set of held-out problems. */
export interface EvaluationScore {
  /** Mean of the verdicts' scores in [0, 1], no length penalty. */
  readonly score: number;
  /** Fraction with status "correct": pass@1. */
  readonly solveRate: number;
  readonly meanTokens: number;
  /** Fraction cut at maxOutputTokens. */
  readonly truncation: number;
  /** Number of completions. */
  readonly n: number;
  /** Standard error of `score`, and of `meanTokens`: spread of the per-problem means over the square root of their number. */
  readonly standardError: number;
  readonly tokensStandardError: number;
}

/** Scores of an evaluation under one sampling setting. */
export interface Scoreboard {
  readonly temperature: number;
  readonly topP: number;
  readonly version: number;
  readonly domains: Readonly<Record<DomainName, EvaluationScore>>;
  /** Unweighted mean over the domains. */
  readonly mean: EvaluationScore;
  /** Scores by difficulty level over all domains. */
  readonly levels: Readonly<Record<string, EvaluationScore>>;
  /** Scores of validation sets, excluded from means; absent if there are none. */
  readonly sets?: Readonly<Record<string, EvaluationScore>>;
}

/** Scores by domain, difficulty level and validation set. @param of the setting and the weights that answered */
export function scoreboard(
  results: readonly ProblemResult[],
  of: { readonly temperature: number; readonly topP: number; readonly version: number },
): Scoreboard {
  const ofDomains = results.filter(({ set }) => set === undefined);
  const ofSets = results.filter(({ set }) => set !== undefined);
  const domains = scoresBy(ofDomains, ({ problem }) => problem.domain);
  const levels = scoresBy(ofDomains, ({ problem }) => String(problem.level));
  const sets = ofSets.length > 0 && { sets: scoresBy(ofSets, ({ set }) => set!) };
  const { temperature, topP, version } = of;
  return { temperature, topP, version, domains, mean: meanOver(Object.values(domains)), levels, ...sets };
}

function scoresBy(
  results: readonly ProblemResult[],
  key: (result: ProblemResult) => string,
): Record<string, EvaluationScore> {
  const keys = [...new Set(results.map(key))];
  return Object.fromEntries(keys.map((k) => [k, score(results.filter((r) => key(r) === k))]));
}

/** Expects at least one result; does not check it. */
export function score(results: readonly ProblemResult[]): EvaluationScore {
  const all = <T>(of: (r: ProblemResult) => readonly T[]) => results.flatMap(of);
  return {
    score: mean(all((r) => r.scores)),
    solveRate: mean(all((r) => r.correct).map(Number)),
    meanTokens: mean(all((r) => r.tokens)),
    truncation: mean(all((r) => r.truncated).map(Number)),
    n: all((r) => r.scores).length,
    standardError: standardError(results.map((r) => mean(r.scores))),
    tokensStandardError: standardError(results.map((r) => mean(r.tokens))),
  };
}

/** Domains are independent samples: the error of their mean is the root of the summed squares over their number. */
function meanOver(scores: readonly EvaluationScore[]): EvaluationScore {
  const over = (of: (s: EvaluationScore) => number) => mean(scores.map(of));
  const error = (of: (s: EvaluationScore) => number) => Math.hypot(...scores.map(of)) / scores.length;
  return {
    score: over((s) => s.score),
    solveRate: over((s) => s.solveRate),
    meanTokens: over((s) => s.meanTokens),
    truncation: over((s) => s.truncation),
    n: scores.reduce((n, s) => n + s.n, 0),
    standardError: error((s) => s.standardError),
    tokensStandardError: error((s) => s.tokensStandardError),
  };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, v) => sum + v, 0) / values.length;
}

/** Standard error of the mean of independent values, by their sample standard deviation; 0 for fewer than two. */
export function standardError(values: readonly number[]): number {
  const n = values.length;
  if (n < 2) return 0;
  const center = mean(values);
  const variance = values.reduce((sum, v) => sum + (v - center) ** 2, 0) / (n - 1);
  return Math.sqrt(variance / n);
}
