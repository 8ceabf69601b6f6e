import type { HeldOutAnswers } from "../../lib/evaluation/index.ts";
import type { Stretch } from "../../lib/metrics/index.ts";
import type { EvaluationTable, Score } from "../../lib/report/index.ts";
import type { CellResult, RunResult } from "../../lib/sweeps/results.ts";
import { syntheticSummary } from "../report/synthetic-run-folder.ts";

/** Facts of a made-up run, by domain; its solve rate equals its score. */
export interface SyntheticRunFacts {
  readonly seed: number;
  readonly before?: Readonly<Record<string, readonly [score: number, tokens: number]>>;
  readonly after: Readonly<Record<string, readonly [score: number, tokens: number]>>;
  readonly metrics?: Readonly<Record<string, readonly number[]>>;
  readonly answers?: {
    readonly before: readonly HeldOutAnswers[];
    readonly after: readonly HeldOutAnswers[];
  };
}

const scoreOf = ([score, meanTokens]: readonly [number, number]): Score => ({
  score,
  solveRate: score,
  meanTokens,
  truncation: 0,
  n: 8,
  standardError: 0.01,
});

function table(domains: SyntheticRunFacts["after"]): EvaluationTable {
  const rows = Object.values(domains);
  const mean = (k: 0 | 1) => rows.reduce((sum, row) => sum + row[k], 0) / rows.length;
  return {
    temperature: 1,
    version: 0,
    domains: Object.fromEntries(Object.entries(domains).map(([name, row]) => [name, scoreOf(row)])),
    mean: scoreOf([mean(0), mean(1)]),
  };
}

export function syntheticRun({ seed, before, after, metrics = {}, answers }: SyntheticRunFacts): RunResult {
  const count = Math.max(0, ...Object.values(metrics).map((values) => values.length));
  const steps = Array.from({ length: count }, (_, i): Stretch => {
    const named = Object.entries(metrics).map(([name, values]) => [name, values[i]!]);
    return { first: i + 1, step: i + 1, steps: 1, version: i + 1, metrics: Object.fromEntries(named) };
  });
  const summary = { ...syntheticSummary(), seed, before: [table(before ?? after)], after: [table(after)] };
  return { seed, summary, steps, before: answers?.before ?? [], after: answers?.after ?? [] };
}

export const syntheticCell = (name: string, runs: readonly SyntheticRunFacts[]): CellResult => ({
  name,
  runs: runs.map(syntheticRun),
});

/** @param correct one value per attempt @param tokens one value per attempt */
export function answersTo(
  id: string,
  correct: readonly (0 | 1)[],
  tokens: readonly number[],
): HeldOutAnswers {
  return {
    id,
    domain: "math",
    level: 0,
    scores: [...correct],
    correct: correct.map((is) => is === 1),
    tokens: [...tokens],
    truncated: correct.map(() => false),
  };
}
