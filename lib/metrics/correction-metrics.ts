import { type MetricSheet, Moments } from "./distribution.ts";
import type { StepFacts } from "./facts.ts";

/**
 * Weights that a correction for the mismatch between sampler and trainer gave to the trained tokens; nothing without one.
 *   ESS = (sum w)^2 / (n sum w^2)
 */
export function putCorrectionMetrics(sheet: MetricSheet, { update }: StepFacts): void {
  const weights = update?.report.weights;
  if (update === undefined || weights === undefined || weights.length === 0) return;
  const { mask } = update.batch;
  const moments = new Moments();
  let zero = 0;
  let squares = 0;
  weights.forEach((w, t) => {
    if (mask[t] === 0) return;
    moments.add(w);
    squares += w * w;
    if (w === 0) zero += 1;
  });
  sheet.put("correction/weight-mean", moments.mean);
  sheet.put("correction/weight-max", moments.max);
  sheet.share("correction/masked", zero, moments.n);
  sheet.share("correction/ess", moments.sum ** 2, moments.n * squares);
}
