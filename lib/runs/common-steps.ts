import { existsSync } from "node:fs";
import { join } from "node:path";
import { RUN_FILES, RunLogReader } from "../metrics/index.ts";
import type { RunFacts } from "./read-run.ts";

/** The last steps that several runs have all finished, both ends included. */
export interface CommonSteps {
  readonly from: number;
  readonly to: number;
}

/** A metric's mean over some steps. */
export interface StepMean {
  readonly mean: number;
  /** Standard error, from the spread of the steps; absent for one step. */
  readonly error?: number;
}

const MOST_STEPS = 15;

/** The last fifteen steps up to the last one that every run has finished; undefined if a run has none. */
export function commonSteps(runs: readonly Pick<RunFacts, "steps">[]): CommonSteps | undefined {
  const to = Math.min(...runs.map(({ steps }) => steps));
  return runs.length > 0 && to > 0 ? { from: Math.max(1, to - MOST_STEPS + 1), to } : undefined;
}

/** Mean of every metric of a run over some of its steps, by name. Throws HONE_ERR_IO, HONE_ERR_FORMAT naming the line. */
export function stepMeans(dir: string, { from, to }: CommonSteps): ReadonlyMap<string, StepMean> {
  const log = join(dir, RUN_FILES.log);
  const values = new Map<string, number[]>();
  if (!existsSync(log)) return new Map();
  for (const { metrics } of new RunLogReader(log).within(from, to))
    for (const [name, value] of Object.entries(metrics)) {
      const list = values.get(name);
      if (list === undefined) values.set(name, [value]);
      else list.push(value);
    }
  return new Map([...values].map(([name, list]) => [name, meanOf(list)]));
}

function meanOf(values: readonly number[]): StepMean {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return { mean };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  return { mean, error: Math.sqrt(variance / n) };
}
