// Deliberate faults (mutants) that these tests detect: the rollout's newest token instead of its oldest, key age
// against the trainer's version instead of the sampler's, tokens counted instead of versions.
import { expect, test } from "vitest";
import { MetricSheet } from "../../lib/metrics/distribution.ts";
import type { StepFacts } from "../../lib/metrics/index.ts";
import { putStalenessMetrics } from "../../lib/metrics/staleness-metrics.ts";
import { facts, rollout, trained } from "./tiny-facts.ts";

function collect(rest: Partial<StepFacts>): Record<string, number> {
  const sheet = new MetricSheet();
  putStalenessMetrics(sheet, facts(rest));
  return sheet.values;
}

test("ages of rollouts, tokens and keys are three different things", () => {
  const rollouts = [
    rollout({ logprobs: [-1, -1, -1], versions: [7, 7, 9], kv: [7, 7, 7] }),
    rollout({ logprobs: [-1], versions: [10], kv: [10] }),
    rollout({ logprobs: [-1, -1], versions: [0, 8], kv: [0, 0] }),
  ];
  const m = collect({ update: trained(rollouts, undefined, { version: 10 }) });
  expect(m).toMatchObject({
    "lag/min": 0,
    "lag/mean": (3 + 0 + 10) / 3,
    "lag/max": 10,
    "lag/share/0": 1 / 3,
    "lag/share/3": 1 / 3,
    "lag/share/8+": 1 / 3,
    "age/mean": (3 + 3 + 1 + 0 + 10 + 2) / 6,
    "age/max": 10,
    "versions/mean": 5 / 3,
    "versions/max": 2,
    "versions/mixed": 2 / 3,
    "kv/stale": 2 / 6,
    "kv/stale-age": 5,
    "kv/stale-age-max": 8,
  });
  expect(m["lag/p95"]).toBeCloseTo(3 + 0.9 * 7, 12);
  expect(m).not.toHaveProperty("lag/share/1");
});

test("fresh keys leave no age of stale ones", () => {
  const m = collect({ update: trained([rollout()], undefined, { version: 1 }) });
  expect(m["kv/stale"]).toBe(0);
  expect(m).not.toHaveProperty("kv/stale-age");
});

test("queues and credits are reported with or without training", () => {
  const m = collect({ queues: { trainer: 2, verifier: 0 }, credits: { free: 3, total: 12 } });
  expect(m).toEqual({ "queue/trainer": 2, "queue/verifier": 0, "credits/free": 3, "credits/used": 0.75 });
});
