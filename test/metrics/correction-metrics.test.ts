import { expect, test } from "vitest";
import { putCorrectionMetrics } from "../../lib/metrics/correction-metrics.ts";
import { MetricSheet } from "../../lib/metrics/distribution.ts";
import { facts, rollout, trained } from "./tiny-facts.ts";

function collect(weights: Float32Array | undefined): Record<string, number> {
  const sheet = new MetricSheet();
  const logprobs = [-1, -1, -1, -1];
  const update = trained([rollout({ logprobs })], [logprobs], { report: { weights } });
  putCorrectionMetrics(sheet, facts({ update }));
  return sheet.values;
}

test("weights are those of trained tokens, whatever stands where nothing is trained", () => {
  const { mask } = trained([rollout({ logprobs: [-1, -1, -1, -1] })]).batch;
  const weights = Float32Array.from(mask, () => 99);
  const counted = [...mask.keys()].filter((t) => mask[t] === 1);
  expect(counted).toHaveLength(4);
  counted.forEach((t, k) => {
    weights[t] = [0.5, 0, 2, 1.5][k]!;
  });
  expect(mask).toContain(0);
  expect(collect(weights)).toEqual({
    "correction/weight-mean": 1,
    "correction/weight-max": 2,
    "correction/masked": 0.25,
    "correction/ess": 16 / (4 * 6.5),
  });
});

test("without a correction, or where nothing was trained, there is nothing to say", () => {
  expect(collect(undefined)).toEqual({});
  expect(collect(new Float32Array(0))).toEqual({});
  const sheet = new MetricSheet();
  putCorrectionMetrics(sheet, facts({}));
  expect(sheet.values).toEqual({});
});

test("the share of tokens that a rule chose is of those that were sampled", () => {
  for (const name of ["tokenWeights", "tokenPenalties"] as const) {
    const update = trained([rollout({ logprobs: [-1, -1, -1, -1] })]);
    const { mask } = update.batch;
    const counted = [...mask.keys()].filter((t) => mask[t] === 1);
    const values = Float32Array.from(mask, () => 1);
    for (const t of counted) values[t] = t === counted[1] ? 0.5 : 0;
    const sheet = new MetricSheet();
    putCorrectionMetrics(sheet, facts({ update: { ...update, batch: { ...update.batch, [name]: values } } }));
    expect(sheet.values).toEqual({ "tokens/chosen": 0.25 });
  }
});
