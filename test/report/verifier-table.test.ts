import { expect, test } from "vitest";
import { stretchOf } from "../../lib/metrics/index.ts";
import { verifierTable } from "../../lib/report/verifier-table.ts";

const step = (n: number, calls: number, timeouts: number) =>
  stretchOf({
    step: n,
    version: n,
    metrics: {
      "verifier/calls/mine": calls,
      "verifier/timeouts/mine": timeouts,
      "verifier/retries/mine": 1,
      "verifier/p50-ms/mine": n * 1.5,
    },
  });

test("calls and faults are summed over the steps, latencies are the last", () => {
  const text = verifierTable([step(1, 100, 0.02), step(2, 60, 0.05)])!.text.replace(/<[^>]*>/g, " ");
  expect(text.replace(/\s+/g, " ")).toContain("mine 160 5 0 2 3.0 – –");
});

test("a stretch counts as many times as it has steps", () => {
  const means = { ...step(8, 100, 0.02), first: 1, steps: 8 };
  const text = verifierTable([means])!.text.replace(/<[^>]*>/g, " ");
  expect(text.replace(/\s+/g, " ")).toContain("mine 800 16 0 8 12.0 – –");
});

test("a log without verifiers has no table", () => {
  expect(verifierTable([])).toBeUndefined();
  expect(verifierTable([stretchOf({ step: 1, version: 1, metrics: {} })])).toBeUndefined();
});
