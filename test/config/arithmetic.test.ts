import { expect, test } from "vitest";
import { arithmeticOf, storageOf } from "../../lib/config/arithmetic.ts";
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
    { "model.arithmetic": "bf16", "model.weightStorage": "f32" },
    'is "bf16", which multiplies weights stored as bf16; model.weightStorage is "f32"',
  ],
  [
    { ...STORED, "model.arithmetic": "f32", device: "cuda" },
    'is "f32", but a GPU multiplies in bf16; leave it out',
  ],
])("a recipe with %o is refused", (changes, message) => {
  expect(issuesOf(changed(changes))).toEqual([{ path: "model.arithmetic", message }]);
});

test.each([
  [{}, { dtype: "bfloat16" }, "bf16"],
  [{}, { torch_dtype: "bfloat16" }, "bf16"],
  [{}, { text_config: { torch_dtype: "bfloat16" } }, "bf16"],
  [{}, { dtype: "float16" }, "f32"],
  [{}, { torch_dtype: "float32", text_config: { dtype: "bfloat16" } }, "f32"],
  [{}, {}, "f32"],
  [{ "model.weightStorage": "f32" }, { dtype: "bfloat16" }, "f32"],
  [{ "model.weightStorage": "bf16" }, {}, "bf16"],
  [{ "model.arithmetic": "bf16" }, {}, "bf16"],
])(
  "weights of a recipe with %o, of a model whose config.json has %o, are kept in %s",
  (changes, config, expected) => {
    expect(storageOf(defineRecipe(changed(changes) as RecipeInput), JSON.stringify(config))).toBe(expected);
  },
);
