import { expect, test } from "vitest";
import { arithmeticOf } from "../../lib/config/arithmetic.ts";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { changed, issuesOf } from "./recipes.ts";

const multiplied = (isa: string, changes: Readonly<Record<string, unknown>>) =>
  arithmeticOf(defineRecipe(changed(changes) as RecipeInput), isa);
const STORED = { "model.weightStorage": "bf16" };

test.each([
  ["avx512bf16", {}, "f32"],
  ["avx512bf16", STORED, "bf16"],
  ["avx512", STORED, "f32"],
  ["baseline", STORED, "f32"],
  ["avx512bf16", { ...STORED, "model.arithmetic": "f32" }, "f32"],
  ["baseline", { ...STORED, "model.arithmetic": "bf16" }, "bf16"],
  ["avx2", { device: "cuda" }, "bf16"],
])("on %s, of a recipe with %o: %s", (isa, changes, expected) => {
  expect(multiplied(isa, changes)).toBe(expected);
});

test.each([
  [
    { "model.arithmetic": "bf16" },
    'is "bf16", which multiplies weights stored as bf16; model.weightStorage is "f32"',
  ],
  [
    { ...STORED, "model.arithmetic": "f32", device: "cuda" },
    'is "f32", but a GPU multiplies in bf16; leave it out',
  ],
])("a recipe with %o is refused", (changes, message) => {
  expect(issuesOf(changed(changes))).toEqual([{ path: "model.arithmetic", message }]);
});
