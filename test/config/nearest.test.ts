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
