import { movingMean, smoothingWindow } from "../report/index.ts";
import type { CellResult, RunResult } from "./results.ts";
import { type Spread, spreadOf } from "./spread.ts";

/** A metric of a cell over its steps. */
export interface Curve {
  readonly steps: readonly number[];
  /** Mean over the seeds that have the step. */
  readonly mean: readonly number[];
  /** Mean minus and plus one standard deviation over seeds; the mean for a single seed. */
  readonly low: readonly number[];
  readonly high: readonly number[];
}

/**
 * Mean and spread over seeds, step by step. Undefined if no run logged the metric.
 * @param smooth first smooths each run by a moving mean over a twentieth of its steps
 */
export function curveOf({ runs }: CellResult, metric: string, smooth: boolean): Curve | undefined {
  const bySteps = new Map<number, number[]>();
  for (const run of runs) {
    for (const [step, value] of pointsOf(run, metric, smooth)) {
      const values = bySteps.get(step);
      if (values === undefined) bySteps.set(step, [value]);
      else values.push(value);
    }
  }
  if (bySteps.size === 0) return undefined;
  const steps = [...bySteps.keys()].sort((a, b) => a - b);
  const spreads = steps.map((step) => spreadOf(bySteps.get(step)!)!);
  return {
    steps,
    mean: spreads.map(({ mean }) => mean),
    low: spreads.map(({ mean, deviation = 0 }) => mean - deviation),
    high: spreads.map(({ mean, deviation = 0 }) => mean + deviation),
  };
}

/** Mean of a metric over the steps of each run, or the last `part` of them, over seeds. */
export function overSteps({ runs }: CellResult, metric: string, part = 1): Spread | undefined {
  const means = runs.flatMap((run) => {
    const from = Math.floor(run.steps.length * (1 - part));
    const values = pointsOf({ ...run, steps: run.steps.slice(from) }, metric, false);
    return values.length === 0 ? [] : [values.reduce((sum, [, value]) => sum + value, 0) / values.length];
  });
  return spreadOf(means);
}

function pointsOf({ steps }: RunResult, metric: string, smooth: boolean): [number, number][] {
  const raw = steps.map(({ metrics }) => metrics[metric] ?? null);
  const values = smooth ? movingMean(raw, smoothingWindow(steps.length)) : raw;
  return values.flatMap((value, i): [number, number][] => (value === null ? [] : [[steps[i]!.step, value]]));
}
