// Deliberate faults (mutants) that these tests detect: "other" counts a stage twice, the verifiers' utilisation
// ignores their number, efficiency is taken against one micro-batch.
import { describe, expect, test } from "vitest";
import { MetricSheet } from "../../lib/metrics/distribution.ts";
import type { StepFacts } from "../../lib/metrics/index.ts";
import { bottleneck, putMachineMetrics } from "../../lib/metrics/machine-metrics.ts";
import { facts, rollout, trained } from "./tiny-facts.ts";

function collect(rest: Partial<StepFacts>): Record<string, number> {
  const sheet = new MetricSheet();
  putMachineMetrics(sheet, facts(rest));
  return sheet.values;
}

const engine = {
  steps: 10,
  prefillTokens: 300,
  decodeTokens: 160,
  preemptions: 1,
  weightSwaps: 2,
  busySeconds: 0.9,
  prefillSeconds: 0.3,
  decodeSeconds: 0.5,
  weightSwapSeconds: 0.01,
  pageSwapSeconds: 0.02,
  running: 5,
  waiting: 3,
  maxRunning: 32,
  pagesUsed: 3,
  pagesTotal: 12,
};

test("optimizer numbers, layers by number and the rest by name", () => {
  const m = collect({ update: trained([rollout()], undefined, { report: { gradScale: 0.5 } }) });
  expect(m).toMatchObject({
    "loss/total": 0.5,
    "loss/router": 0.02,
    "grad/norm": 2,
    "grad/clipped": 1,
    "grad/layer/0": 1,
    "grad/layer/1": 2,
    "grad/layer/embedding": 3,
    "learning-rate": 1e-4,
    "step/skipped": 0,
  });
  expect(m["update/relative"]).toBeCloseTo(0.01, 12);
});

test("how evenly rows went to experts, over the layers that have some", () => {
  const expertRows = Float64Array.of(0, 0, 0, 0, 9, 3, 0, 0);
  const m = collect({ update: trained([rollout()], undefined, { report: { expertRows } }) });
  expect(m["experts/replaced"]).toBeUndefined();
  expect(m).toMatchObject({ "experts/load/max": 3, "experts/load/mean": 3, "experts/unused": 0.5 });
  const even = Float64Array.of(2, 2, 2, 2, 8, 8, 0, 0);
  const both = collect({ update: trained([rollout()], undefined, { report: { expertRows: even } }) });
  expect(both).toMatchObject({ "experts/load/max": 2, "experts/load/mean": 1.5, "experts/unused": 0.25 });
  const none = new Float64Array(8);
  const skipped = collect({ update: trained([rollout()], undefined, { report: { expertRows: none } }) });
  expect(Object.keys(skipped).filter((name) => name.startsWith("experts/"))).toEqual([]);
});

test("the share of choices of experts that the sampler's routes replaced", () => {
  const replaced = (given: number, others: number) =>
    collect({
      update: trained([rollout()], undefined, { report: { givenRoutes: given, replacedRoutes: others } }),
    })["experts/replaced"];
  expect([replaced(8, 2), replaced(8, 0), replaced(0, 0)]).toEqual([0.25, 0, undefined]);
});

test("a loss that is not finite is absent, and the skip is counted", () => {
  const m = collect({
    update: trained([rollout()], undefined, { report: { loss: Number.NaN, skipped: true } }),
  });
  expect(m).not.toHaveProperty("loss/total");
  expect(m["step/skipped"]).toBe(1);
});

test("speeds over wall time and over the work's own time are different things", () => {
  const report = { trainedTokens: 90, packedTokens: 150, microBatches: 2 };
  const m = collect({
    engine,
    update: trained([rollout()], undefined, { report }),
    timing: { total: 2, waiting: 0.5 },
    processorSeconds: 3,
  });
  expect(m).toMatchObject({
    "speed/processors": 1.5,
    "speed/generated": 80,
    "engine/weight-swaps": 2,
    "engine/weight-swap-seconds": 0.01,
    "engine/page-swap-seconds": 0.02,
    "speed/decode": 320,
    "speed/prefill": 1000,
    "speed/trained": 45,
    "packing/efficiency": 0.75,
    "packing/counted": 0.6,
    "engine/occupancy": 0.5,
    "engine/idle": 0.55,
    "engine/kv-used": 0.25,
    "utilisation/engine": 0.45,
    "utilisation/trainer": 0.75,
  });
  expect(m["speed/trainer"]).toBeCloseTo(500, 9);
});

describe("step time", () => {
  test("is split without rest", () => {
    const timing = { total: 1, waiting: 0.25, checkpointing: 0.1, logging: 0.02, checkpoint: { write: 3 } };
    const m = collect({ update: { ...trained([rollout()]), referenceSeconds: 0.05 }, timing });
    const parts = Object.entries(m).filter(([name]) => name.startsWith("time/") && name !== "time/step");
    expect(parts).toHaveLength(11);
    expect(parts.reduce((sum, [, seconds]) => sum + seconds, 0)).toBeCloseTo(m["time/step"]!, 12);
    expect(m["time/other"]).toBeCloseTo(0.15, 12);
    expect(m["checkpoint/write-seconds"], "beside the step, and no part of it").toBe(3);
    expect(m).not.toHaveProperty("checkpoint/pause-seconds");
  });

  test("what was not measured has no time", () => {
    const m = collect({});
    expect(m).not.toHaveProperty("time/forward");
    expect(m).not.toHaveProperty("time/checkpointing");
  });
});

const NOTHING = {
  ...{ calls: 0, timeouts: 0, crashes: 0, retries: 0 },
  ...{ judged: 0, correct: 0, partial: 0, unscored: 0, totalSeconds: 0, busySeconds: 0 },
};

describe("a language model that judges", () => {
  const judge = { calls: 6, cached: 2, tokens: 600, unreadable: 1, compared: 4, disagreement: 0.5 };
  const counts = { ...NOTHING, calls: 4 };
  const judged = (change: object) => {
    const m = collect({ verifiers: { mine: { ...counts, judge: { ...judge, ...change } } } });
    return Object.fromEntries(Object.entries(m).filter(([name]) => name.startsWith("judge/")));
  };

  test("costs, and disagrees with itself", () => {
    expect(judged({ budgetLeft: 0.25 })).toEqual({
      "judge/calls/mine": 6,
      "judge/tokens/mine": 600,
      "judge/cached/mine": 0.25,
      "judge/unreadable/mine": 0.125,
      "judge/disagreement/mine": 0.125,
      "judge/budget-left/mine": 0.25,
    });
  });

  test("says nothing of what it was not asked", () => {
    const none = judged({ calls: 0, cached: 0, unreadable: 0, compared: 0, disagreement: 0 });
    expect(Object.keys(none)).toEqual(["judge/calls/mine", "judge/tokens/mine"]);
  });
});

describe("verifiers", () => {
  const verifiers = {
    exact: {
      calls: 4,
      timeouts: 1,
      crashes: 0,
      retries: 2,
      judged: 3,
      correct: 1,
      partial: 1,
      unscored: 1,
      totalSeconds: 0.7,
      busySeconds: 0.6,
      latencyMs: { p50: 200, p95: 290, p99: 300 },
    },
    idle: NOTHING,
  };

  test("rates and latencies, by name", () => {
    const m = collect({ verifiers });
    expect(m).toMatchObject({
      "verifier/calls/exact": 4,
      "verifier/timeouts/exact": 0.25,
      "verifier/crashes/exact": 0,
      "verifier/retries/exact": 2,
      "verifier/timed-out/exact": 1,
      "verifier/crashed/exact": 0,
      "verifier/judged/exact": 3,
      "verifier/correct/exact": 1,
      "verifier/partial/exact": 1,
      "verifier/unscored/exact": 1,
      "verifier/seconds/exact": 0.7,
      "verifier/p50-ms/exact": 200,
      "verifier/calls/idle": 0,
    });
    expect(m["verifier/p95-ms/exact"]).toBe(290);
    expect(m).not.toHaveProperty("verifier/p50-ms/idle");
    expect(m).not.toHaveProperty("verifier/timeouts/idle");
    expect(m).not.toHaveProperty("utilisation/verifiers");
  });

  test("utilisation is over all workers", () => {
    expect(collect({ verifiers, verifierWorkers: 2 })["utilisation/verifiers"]).toBeCloseTo(0.3, 12);
  });
});

test("the bottleneck is the busiest worker", () => {
  expect(bottleneck({ "utilisation/engine": 0.9, "utilisation/trainer": 0.95 })).toBe("trainer");
  expect(bottleneck({ "utilisation/verifiers": 0.2 })).toBe("verifiers");
  expect(bottleneck({})).toBeUndefined();
});
