import { expect, test } from "vitest";
import { nearest } from "../../lib/config/nearest.ts";

const KEYS = ["clipLow", "clipHigh", "klCoef", "kind"];

test.each([
  ["clipHihg", "clipHigh"],
  ["cliplow", "clipLow"],
  ["kinds", "kind"],
  ["klcoeff", "klCoef"],
  ["temperature", undefined],
  ["", undefined],
])("%s is probably %s", (typed, meant) => {
  expect(nearest(typed, KEYS)).toBe(meant);
});

test("long text has no nearest name, and is refused at once", () => {
  const long = "clipHigh".repeat(2 ** 17); // 1 MiB: full tables of edit distances would take seconds
  const started = performance.now();
  expect(nearest(long, KEYS)).toBeUndefined();
  expect(nearest(long, [`${long}x`])).toBeUndefined();
  expect(nearest("clipHigh", [long])).toBeUndefined();
  expect(performance.now() - started).toBeLessThan(200);
});
