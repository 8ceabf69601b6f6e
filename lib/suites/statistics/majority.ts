/** A distinct answer to a problem: `count` completions gave it, of which `right` were judged correct. */
export interface Vote {
  readonly count: number;
  readonly right: number;
}

/**
 * The answers with one number of completions: how many answers, and the sum over them of the fraction of completions
 * judged correct.
 */
interface Rank {
  answers: number;
  right: number;
}

/** Probability that `drawn` of `count` completions are drawn, each independently with probability k / n. */
type Chance = (count: number, drawn: number) => number;

/**
 * Expected correctness of the most frequent answer among k of n completions, drawn without replacement: each answer's
 * share of the subsets in which it has most votes, ties shared evenly, times its right fraction. Completions without
 * an answer are drawn but have no vote; a subset without votes counts as wrong. Samples no subsets: independent draws
 * of each completion, conditioned on a total of k, are uniform subsets, and their probabilities stay representable
 * for any n. Answers with equally many completions win equally often, and are counted together. Trusts 1 <= k <= n.
 */
export function majorityAtK(votes: readonly Vote[], silent: number, k: number): number {
  const n = silent + votes.reduce((sum, { count }) => sum + count, 0);
  const chance = chances(n, k);
  const ranks = new Map<number, Rank>();
  for (const { count, right } of votes) {
    const rank = ranks.get(count) ?? { answers: 0, right: 0 };
    ranks.set(count, { answers: rank.answers + 1, right: rank.right + right / count });
  }
  let right = 0;
  for (const [count, rank] of ranks) {
    if (rank.right === 0) continue;
    const others = [...ranks].flatMap(([other, { answers }]) =>
      Array.from({ length: answers - Number(other === count) }, () => other),
    );
    for (let most = 1; most <= Math.min(k, count); most++)
      right += rank.right * chance(count, most) * chanceBelow(others, silent, k - most, most, chance);
  }
  return Math.min(1, right / chance(n, k));
}

/**
 * Probability that `left` completions come from the other answers and the silent ones, with none of the answers over
 * `most`; weighted by 1 / (1 + t) if t answers have exactly `most`.
 */
function chanceBelow(
  others: readonly number[],
  silent: number,
  left: number,
  most: number,
  chance: Chance,
): number {
  /** [ties][drawn of the answers that are below `most`] */
  let rows: Float64Array[] = [Float64Array.of(1)];
  for (const count of others) {
    const below = Array.from({ length: Math.min(count, most - 1) + 1 }, (_, drawn) => chance(count, drawn));
    const at = count < most ? 0 : chance(count, most);
    const ties = Math.min(rows.length + Number(at > 0), Math.floor(left / most) + 1);
    rows = Array.from({ length: ties }, (_, tied) => {
      const width = rows[0]!.length - 1 + below.length;
      const next = new Float64Array(Math.min(width, left - tied * most + 1));
      addProduct(next, rows[tied], below);
      addProduct(next, rows[tied - 1], [at]);
      return next;
    });
  }
  let sum = 0;
  for (const [ties, row] of rows.entries())
    for (const [drawn, so] of row.entries())
      sum += (so * chance(silent, left - ties * most - drawn)) / (1 + ties);
  return sum;
}

/** next += row * factors as polynomials; drops terms of too high a degree. */
function addProduct(next: Float64Array, row: Float64Array | undefined, factors: readonly number[]): void {
  if (row === undefined) return;
  for (const [more, factor] of factors.entries()) {
    const end = Math.min(row.length, next.length - more);
    for (let drawn = 0; drawn < end; drawn++) next[drawn + more]! += row[drawn]! * factor;
  }
}

function chances(n: number, k: number): Chance {
  /** Logarithms of factorials. */
  const logs = new Float64Array(n + 1);
  for (let i = 1; i <= n; i++) logs[i] = logs[i - 1]! + Math.log(i);
  const [drawnLog, leftLog] = [Math.log(k / n), Math.log1p(-k / n)];
  /** count * log, where 0 times -Infinity is 0: drawing 0 completions has probability 1. */
  const times = (count: number, log: number) => (count === 0 ? 0 : count * log);
  return (count, drawn) => {
    if (drawn < 0 || drawn > count) return 0;
    const ways = logs[count]! - logs[drawn]! - logs[count - drawn]!;
    return Math.exp(ways + times(drawn, drawnLog) + times(count - drawn, leftLog));
  };
}
