import { type MetricSheet, Moments } from "./distribution.ts";
import type { StepFacts } from "./facts.ts";

/**
 * Puts statistics of the weights by which a correction for the mismatch between sampler and trainer changed
 * the trained tokens; none without a correction.
 *   ESS = (sum w)^2 / (n sum w^2)
 */
export function putCorrectionMetrics(sheet: MetricSheet, { update }: StepFacts): void {
  putSelection(sheet, update);
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

/** The share of trained tokens that `objective.tokens` chose to train or to penalise. */
function putSelection(sheet: MetricSheet, update: StepFacts["update"]): void {
  const chosen = update?.batch.tokenWeights ?? update?.batch.tokenPenalties;
  if (update === undefined || chosen === undefined) return;
  const { mask } = update.batch;
  sheet.share(
    "tokens/chosen",
    chosen.filter((x, t) => mask[t] === 1 && x !== 0).length,
    mask.filter(Boolean).length,
  );
}
