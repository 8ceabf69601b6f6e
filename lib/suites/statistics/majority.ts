/** Completions of a problem that give one answer; `right` of them were judged correct. */
export interface Vote {
  readonly count: number;
  readonly right: number;
}

/**
 * Expected rightness of the most frequent answer among k of n completions, drawn without putting back: each answer's share
 * of the subsets in which it has most votes, ties shared evenly, times the part of it that is right. Completions without
 * an answer take their place and have no vote; where nobody votes nothing is right. Exact: subsets are counted, not drawn.
 * Trusts 1 <= k <= n.
 */
export function majorityAtK(votes: readonly Vote[], silent: number, k: number): number {
  const n = silent + votes.reduce((sum, { count }) => sum + count, 0);
  const all = choose(n, k);
  let right = 0;
  for (const [winner, vote] of votes.entries()) {
    if (vote.right === 0) continue;
    const others = votes.flatMap(({ count }, i) => (i === winner ? [] : [count]));
    let wins = 0;
    for (let most = 1; most <= Math.min(k, vote.count); most++)
      wins += choose(vote.count, most) * waysBelow(others, silent, k - most, most);
    right += (wins / all) * (vote.right / vote.count);
  }
  return right;
}

/**
 * Ways to draw `left` completions from the other answers and the silent ones with none of the answers over `most`; a way
 * with t answers at `most` counts 1 / (1 + t).
 */
function waysBelow(others: readonly number[], silent: number, left: number, most: number): number {
  /** [ties][drawn] */
  let ways: number[][] = [[1]];
  for (const count of others) {
    const next: number[][] = [];
    for (const [ties, row] of ways.entries()) {
      for (const [drawn, so] of row.entries()) {
        for (let more = 0; more <= Math.min(count, most, left - drawn); more++) {
          const tied = ties + Number(more === most);
          const cells = next[tied] ?? [];
          next[tied] = cells;
          cells[drawn + more] = (cells[drawn + more] ?? 0) + so * choose(count, more);
        }
      }
    }
    ways = Array.from(next, (row) => Array.from(row ?? [], (so) => so ?? 0));
  }
  let sum = 0;
  for (const [ties, row] of ways.entries())
    for (const [drawn, so] of row.entries()) sum += (so * choose(silent, left - drawn)) / (1 + ties);
  return sum;
}

function choose(n: number, k: number): number {
  if (k < 0 || k > n) return 0;
  let ways = 1;
  for (let i = 1; i <= k; i++) ways = (ways * (n - k + i)) / i;
  return ways;
}
