import { expect, test } from "vitest";
import {
  clipRange,
  type OBJECTIVE_FORMS,
  weightInLoss,
} from "../../../lib/shared/objectives/objective-forms.ts";

const totals = { sequences: 5, groups: 2, tokens: 70, normalizer: 24 };

test.each([
  ["gspo", 1 / 5, 7 / 5],
  ["gspo-token", 1 / 5, 7 / 5],
  ["gmpo", 1 / 5, 7 / 5],
  ["sapo", 1 / 5, 7 / 5],
  ["grpo", 1 / 6, 1 / 6],
  ["dapo", 0.1, 0.1],
  ["cispo", 0.1, 0.1],
  ["dr-grpo", 7 / 120, 7 / 120],
  ["reinforce", 7 / 5, 7 / 5],
] as const)("the mean term of a sequence of 7 tokens weighs in %s", (kind, uniform, length) => {
  const of = (sequenceWeight: "uniform" | "length") => weightInLoss({ kind, sequenceWeight }, totals, 7, 3);
  expect(of("uniform")).toBeCloseTo(uniform, 12);
  expect(of("length")).toBeCloseTo(length, 12);
});

test("the range is of the ratio, also where the bounds are of its logarithm; a gate has none", () => {
  const rangeOf = (kind: keyof typeof OBJECTIVE_FORMS | "custom") =>
    clipRange({ kind, clipLow: 0.4, clipHigh: 0.5 });
  expect(rangeOf("gspo-token")).toEqual({ of: "sequence", low: 0.4, high: 0.5 });
  const { of, low, high } = rangeOf("gmpo")!;
  expect([of, 1 - low, 1 + high]).toEqual([
    "token",
    expect.closeTo(Math.exp(-0.4)),
    expect.closeTo(Math.exp(0.5)),
  ]);
  for (const kind of ["sapo", "reinforce", "custom", "supervised"] as const)
    expect(rangeOf(kind)).toBeUndefined();
});
