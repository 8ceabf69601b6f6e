import { expect, test } from "vitest";
import { CounterRandom } from "../../lib/random.ts";
import { VerifierMeter } from "../../lib/rewards/verifier-stats.ts";

test("a fresh meter is all zeros", () => {
  expect(Object.values(new VerifierMeter().snapshot())).toEqual(new Array(10).fill(0));
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
  const { p50Ms, p95Ms, p99Ms, busyMs } = meter.snapshot();
  for (const [percent, ms] of [
    [50, p50Ms],
    [95, p95Ms],
    [99, p99Ms],
  ] as const) {
    const nearestRank = sorted[Math.ceil((percent / 100) * sorted.length) - 1]! / 1000;
    // Whole microseconds, then three significant digits.
    expect(Math.abs(ms - nearestRank)).toBeLessThanOrEqual(0.001 + 0.002 * nearestRank);
  }
  const sum = times.reduce((total, time) => total + time, 0) / 1000;
  expect(Math.abs(busyMs - sum)).toBeLessThan(0.02 * sum);
});
