// Deliberate faults (mutants) that these tests detect: one standard error instead of two, a decrease counts as noise,
// a domain uses the bound of the mean.
import { expect, test } from "vitest";
import { fallenDomains, meanChange, runChange } from "../../lib/report/held-out-change.ts";
import type { EvaluationTable } from "../../lib/report/summary.ts";

const score = (value: number, standardError: number) => ({
  score: value,
  solveRate: value,
  meanTokens: 10,
  truncation: 0,
  n: 50,
  standardError,
});
const table = (mean: number, error: number, domains: Record<string, number> = {}, temperature = 1) =>
  ({
    temperature,
    version: 0,
    mean: score(mean, error),
    domains: Object.fromEntries(Object.entries(domains).map(([name, value]) => [name, score(value, error)])),
  }) satisfies EvaluationTable;

// sqrt(0.03^2 + 0.04^2) = 0.05: five points
const before = table(0.5, 0.03);
test.each([
  [0.61, "gain", 11],
  [0.59, "noise", 9],
  [0.41, "noise", -9],
  [0.39, "loss", -11],
  [0, "loss", -50],
] as const)("0.5 ± 0.03 to %f ± 0.04 is a %s", (mean, is, points) => {
  const change = meanChange(before, table(mean, 0.04))!;
  expect(change.is).toBe(is);
  expect(change.points).toBeCloseTo(points, 10);
  expect(change.error).toBeCloseTo(5, 10);
});

test("without one of the two there is no change, and a run is judged at temperature 1", () => {
  expect(meanChange(before, undefined)).toBeUndefined();
  expect(meanChange(undefined, before)).toBeUndefined();
  const cool = [table(0.9, 0.01, {}, 0.6), table(0.5, 0.01)];
  const hot = [table(0.9, 0.01, {}, 0.6), table(0.1, 0.01)];
  expect(runChange({ before: cool, after: hot })?.points).toBeCloseTo(-40, 10);
  expect(runChange({ before: cool, after: [] })).toBeUndefined();
});

test("a domain has fallen beyond three standard errors, the largest fall first", () => {
  const was = table(0.5, 0.03, { math: 0.5, code: 0.5, logic: 0.5, gone: 0.5 });
  const is = table(0.5, 0.04, { math: 0.36, code: 0.34, logic: 0.1 });
  expect(fallenDomains(was, is).map(([name]) => name)).toEqual(["logic", "code"]);
});
