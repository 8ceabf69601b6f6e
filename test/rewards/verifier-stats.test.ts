import { expect, test } from "vitest";
import { VerifierMeter } from "../../lib/rewards/verifier-stats.ts";

test("a fresh meter is all zeros", () => {
  expect(Object.values(new VerifierMeter().snapshot())).toEqual(new Array(9).fill(0));
});

test("percentiles are of the recorded times, in milliseconds", () => {
  const meter = new VerifierMeter();
  for (let i = 1; i <= 1000; i++) meter.recordCall(i * 100);
  const { calls, p50Ms, p95Ms, p99Ms } = meter.snapshot();
  expect(calls).toBe(1000);
  // The histogram keeps three significant digits.
  expect(Math.abs(p50Ms - 50)).toBeLessThan(0.1);
  expect(Math.abs(p95Ms - 95)).toBeLessThan(0.2);
  expect(Math.abs(p99Ms - 99)).toBeLessThan(0.2);
});
