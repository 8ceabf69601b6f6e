import type { ProblemResult } from "./evaluate.ts";
import { mean } from "./score.ts";

const EDGES = [0, 0.25, 0.5, 0.75] as const;

/** Problems binned by how often a third policy solved them, so that no compared policy chooses its own bins. */
export interface DifficultyBins {
  readonly labels: readonly string[];
  /** Problem ids of each bin. */
  readonly problems: readonly ReadonlySet<number>[];
}

/** Bins [0, .25), [.25, .5), [.5, .75), [.75, 1] of the solve rate in `results`. */
export function difficultyBins(results: readonly ProblemResult[]): DifficultyBins {
  const problems = EDGES.map(() => new Set<number>());
  for (const { problem, correct } of results) {
    const solveRate = mean(correct.map(Number));
    problems[Math.min(EDGES.length - 1, Math.floor(solveRate * EDGES.length))]!.add(problem.id);
  }
  const labels = EDGES.map((low, i) => `[${low},${i + 1 < EDGES.length ? `${EDGES[i + 1]})` : "1]"}`);
  return { labels, problems };
}

/** Per bin: how often a policy solves its problems, and with how many tokens when it does; 0 where it never does. */
export function scoreBins(
  results: readonly ProblemResult[],
  bins: DifficultyBins,
): { readonly solveRate: number; readonly correctTokens: number }[] {
  return bins.problems.map((ids) => {
    const inside = results.filter(({ problem }) => ids.has(problem.id));
    const solved = inside.flatMap(({ correct, tokens }) => tokens.filter((_, i) => correct[i]));
    const solveRate = inside.length === 0 ? 0 : mean(inside.flatMap(({ correct }) => correct.map(Number)));
    return { solveRate, correctTokens: solved.length === 0 ? 0 : mean(solved) };
  });
}
