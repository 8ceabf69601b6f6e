import { stagesOf } from "../metrics/index.ts";
import type { StepRecord } from "../records.ts";

export type Metrics = Pick<StepRecord, "metrics">;

/** Duration of a step from the trainer's first call until the engines have the weights. */
export const trainSeconds = ({ metrics }: Metrics): number =>
  stagesOf(metrics).reduce((sum, { part, seconds }) => sum + (part === "training" ? seconds : 0), 0);

/** Mean over the steps that have the metric. */
export function mean(records: readonly Metrics[], name: string): number {
  return average(records.flatMap(({ metrics }) => metrics[name] ?? []));
}

export const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
