import { expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { tinyInput } from "../e2e/tiny-recipe.ts";

const objectiveOf = (objective: RecipeInput["objective"]) =>
  defineRecipe({ ...tinyInput(), objective }).objective;

test("sapo has its paper's temperatures, of which a recipe may set one", () => {
  expect(objectiveOf({ kind: "sapo", gate: {} }).gate).toEqual({ positive: 1, negative: 1.05 });
  expect(objectiveOf({ kind: "sapo", gate: { negative: 2 } }).gate).toEqual({ positive: 1, negative: 2 });
});

test("a clipLow of 1 is no lower bound, beside any upper one", () => {
  expect(objectiveOf({ kind: "cispo", clipLow: 1, clipHigh: 0.28 })).toMatchObject({ clipHigh: 0.28 });
  expect(() => objectiveOf({ kind: "cispo", clipLow: 1.1, clipHigh: 2 })).toThrow("is 1.1");
});

test("a dual clip is for objectives that take the minimum with a clipped ratio", () => {
  expect(objectiveOf({ kind: "dapo", dualClip: 3 })).toMatchObject({ dualClip: 3 });
  expect(() => objectiveOf({ kind: "cispo", dualClip: 3 })).toThrow(
    'is 3, but "cispo" does not take the minimum',
  );
  expect(() => objectiveOf({ kind: "gspo", dualClip: 0.5 })).toThrow("objective.dualClip");
});

test("an off-policy mask is for no objective that averages bounded ratios, and for none of one's own", () => {
  expect(objectiveOf({ kind: "gspo", offPolicyMask: 0.1 })).toMatchObject({ offPolicyMask: 0.1 });
  expect(() => objectiveOf({ kind: "gmpo", offPolicyMask: 0.1 })).toThrow(
    'is 0.1, but "gmpo" has no such mask',
  );
});

test("gmpo's bounds are of a logarithm", () => {
  expect(objectiveOf({ kind: "gmpo", clipLow: 1.5, clipHigh: 1.5 })).toMatchObject({ clipLow: 1.5 });
});

test("distances of probabilities need not surround 1, and their bounds may lie either way", () => {
  const correction = { kind: "dppo-tv", low: 0.2, high: 0.1 } as const;
  expect(objectiveOf({ kind: "dapo", correction }).correction).toEqual(correction);
  expect(() => objectiveOf({ kind: "dapo", correction: { ...correction, kind: "tis" } })).toThrow("is 0.2");
});
