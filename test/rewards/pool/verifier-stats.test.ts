import { expect, test } from "vitest";
import { CounterRandom } from "../../../lib/random.ts";
import { VerifierMeter } from "../../../lib/rewards/pool/verifier-stats.ts";

test("a fresh meter is all zeros", () => {
  const { latencyMs, ...counts } = new VerifierMeter().snapshot();
  expect(Object.values(counts)).toEqual(new Array(11).fill(0));
  expect(latencyMs).toEqual({ p50: 0, p95: 0, p99: 0 });
});

test("a completion counts once, by its last verdict; time waited for is no time in workers", () => {
  const meter = new VerifierMeter();
  const scored = { score: 0, reason: "" };
  for (const status of ["correct", "correct", "partial", "wrong", "no_answer", "unparsable"] as const)
    meter.recordVerdict({ status, ...scored });
  meter.recordVerdict({ status: "unscored", cause: "" });
  meter.recordCall(3000);
  meter.recordCall(5000, false);
  expect(meter.snapshot()).toMatchObject({ judged: 7, correct: 2, partial: 1, unscored: 1 });
  expect(meter.snapshot()).toMatchObject({ calls: 2, totalMs: 8, busyMs: 3 });
});

test("percentiles are of the recorded times, in milliseconds", () => {
  const meter = new VerifierMeter();
  for (let i = 1; i <= 1000; i++) meter.recordCall(i * 100);
  const { calls, latencyMs } = meter.snapshot();
  expect(calls).toBe(1000);
  // The histogram keeps three significant digits.
  expect(Math.abs(latencyMs.p50 - 50)).toBeLessThan(0.1);
  expect(Math.abs(latencyMs.p95 - 95)).toBeLessThan(0.2);
  expect(Math.abs(latencyMs.p99 - 99)).toBeLessThan(0.2);
});

test.each([
  ["even", (u: number) => 10 + 90 * u],
  ["with a long tail", (u: number) => 5 / (1 - u) ** 2],
  ["in two heaps", (u: number) => (u < 0.94 ? 20 + u : 9000 + 1000 * u)],
  ["nearly all alike", (u: number) => (u < 0.999 ? 300 : 1e6)],
] as const)("percentiles of times that are %s are those of the sorted sample", (_, microseconds) => {
  const meter = new VerifierMeter();
  const random = new CounterRandom(5, 1);
  const times = Array.from({ length: 5000 }, () => microseconds(random.next()));
  for (const time of times) meter.recordCall(time);
  const sorted = times.sort((a, b) => a - b);
  const { latencyMs, busyMs } = meter.snapshot();
  for (const [percent, ms] of [
    [50, latencyMs.p50],
    [95, latencyMs.p95],
    [99, latencyMs.p99],
  ] as const) {
    const nearestRank = sorted[Math.ceil((percent / 100) * sorted.length) - 1]! / 1000;
    // Whole microseconds, then three significant digits.
    expect(Math.abs(ms - nearestRank)).toBeLessThanOrEqual(0.001 + 0.002 * nearestRank);
  }
  const sum = times.reduce((total, time) => total + time, 0) / 1000;
  expect(busyMs).toBeCloseTo(sum, 6);
});
