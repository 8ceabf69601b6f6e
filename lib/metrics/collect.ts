import { putCorrectionMetrics } from "./correction-metrics.ts";
import { MetricSheet } from "./distribution.ts";
import { putEpisodeMetrics } from "./episode-metrics.ts";
import type { StageCounts, StepFacts } from "./facts.ts";
import { type NoiseSums, putGradientMetrics } from "./gradient-metrics.ts";
import { putLengthMetrics } from "./length-metrics.ts";
import { putMachineMetrics } from "./machine-metrics.ts";
import { putMixtureMetrics } from "./mixture-metrics.ts";
import { putPolicyMetrics } from "./policy-metrics.ts";
import { putStalenessMetrics } from "./staleness-metrics.ts";
import { putTaskMetrics } from "./task-metrics.ts";

/**
 * Base values of windowed and cumulative metrics: one per run, kept by the caller from step to step. Plain data, so
 * that a checkpoint can carry it (`new MetricsHistory(saved)`).
 */
export class MetricsHistory {
  counts: Readonly<Record<string, StageCounts>> = {};
  steps = 0;
  clippedSteps = 0;
  skippedSteps = 0;
  changedSteps = 0;
  /** Smoothed sums behind the gradient noise scales: "" for all domains, else by domain. */
  gradientNoise: Readonly<Record<string, NoiseSums>> = {};

  constructor(saved: Partial<MetricsHistory> = {}) {
    Object.assign(this, saved);
  }
}

/**
 * Every metric of docs/reference/metrics.md that the facts support, by its flat name. A metric without facts, or that
 * is not finite, is absent: no metric is ever 0 for lack of data. Only reads the facts; advances `history` by one
 * step. Trusts the shapes of the trainer's arrays.
 */
export function collectStepMetrics(
  facts: StepFacts,
  history: MetricsHistory = new MetricsHistory(),
): Record<string, number> {
  const sheet = new MetricSheet();
  putTaskMetrics(sheet, facts);
  putLengthMetrics(sheet, facts);
  putEpisodeMetrics(sheet, facts);
  putPolicyMetrics(sheet, facts);
  putCorrectionMetrics(sheet, facts);
  if (facts.update?.gradients !== undefined)
    history.gradientNoise = putGradientMetrics(sheet, facts.update.gradients, history.gradientNoise);
  putStalenessMetrics(sheet, facts);
  putMixtureMetrics(sheet, facts.mixture, history.counts);
  putMachineMetrics(sheet, facts);
  for (const [name, value] of Object.entries(facts.evaluation ?? {})) sheet.put(`evaluation/${name}`, value);
  for (const [name, tracker] of Object.entries(facts.trackers ?? {}))
    for (const [count, value] of Object.entries(tracker)) sheet.put(`tracker/${count}/${name}`, value);
  if (facts.update !== undefined) {
    history.steps += 1;
    if (facts.update.report.gradScale < 1) history.clippedSteps += 1;
    const { skipped, updateNorm } = facts.update.report;
    if (skipped) history.skippedSteps += 1;
    else if (updateNorm !== 0) history.changedSteps += 1;
    sheet.put("grad/clipped-fraction", history.clippedSteps / history.steps);
    sheet.put("step/skipped-total", history.skippedSteps);
  }
  // written even if the step trained nothing, so that the metric shows a run that never changes a weight
  sheet.put("step/changed-total", history.changedSteps);
  history.counts = structuredClone(facts.mixture.counts);
  return sheet.values;
}
