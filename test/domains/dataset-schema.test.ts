import { describe, expect, test } from "vitest";
import { defineRecipe, overrideRecipe } from "../../lib/config/index.ts";
import { datasetSchema } from "../../lib/domains/dataset-schema.ts";
import { DATASETS, type DatasetSpec } from "../../lib/domains/index.ts";
import { changed, issuesOf, minimal } from "../config/recipes.ts";

const kinds = Object.keys(DATASETS);

test("knows the kinds that have a reader, and gives each the options it takes", () => {
  expect(kinds).toContain("jsonl");
  const parsed: DatasetSpec = datasetSchema.parse({ kind: "taco", path: "x" }); // the schema and DatasetSpec agree
  expect(parsed).toEqual({ kind: "taco", path: "x" });
});

test.each(kinds)("takes %s with the options that all share", (kind) => {
  const spec = { kind, path: ["a", "b"], split: "train", template: "{task}!", drops: "drops.json" };
  expect(datasetSchema.parse(spec)).toEqual(spec);
  expect(datasetSchema.safeParse({ ...spec, template: "no place for it" }).success).toBe(false);
  expect(datasetSchema.safeParse({ ...spec, unknown: 1 }).success).toBe(false);
});

test("says what may be held out", () => {
  const { error } = datasetSchema.safeParse({ kind: "taco", path: "x", heldOut: { count: 1 } });
  expect(error?.issues.map(({ message }) => message)).toEqual([
    "expected a share between 0 and 1, a number of rows, or a file of content keys",
  ]);
});

test.each([
  [{ kind: "taco", path: "x", dropDifficulties: [], maxTests: 5 }],
  [{ kind: "i3-logic", path: "x", tasks: ["sudoku"], solveRate: [0, 0.9] }],
  [{ kind: "bfcl", path: "x", categories: ["multiple"] }],
  [{ kind: "gpqa", path: "x", seed: 3 }],
  [{ kind: "mmlu-pro", path: "x", seed: 3 }],
  [{ kind: "live-code-bench", path: "x", from: "2024-07-01", to: "2024-12-31" }],
])("takes the options of a kind: %j", (spec) => {
  expect(datasetSchema.parse(spec)).toEqual(spec);
});

describe("a recipe", () => {
  const withSource = (source: unknown) => changed({ "domains.math.source": source });
  const recipeWith = (source: unknown) =>
    defineRecipe(withSource(source) as Parameters<typeof defineRecipe>[0]);

  test.each([
    ["procedural/math"],
    ["orz:data/orz.json"],
    [{ kind: "open-reasoner-zero", path: "data/orz.json" }],
  ])("names a source as %j", (source) => {
    expect(recipeWith(source).domains["math"]!.source).toEqual(source);
  });

  test.each([
    [{ kind: "mmlu-por", path: "x" }, "domains.math.source.kind", "mmlu-pro"],
    [{ kind: "taco", path: "x", maxtests: 3 }, "domains.math.source.maxtests", "maxTests"],
    [{ kind: "taco" }, "domains.math.source.path", undefined],
    [{ path: "x" }, "domains.math.source.kind", undefined],
    [{ kind: "taco", path: "x", maxTests: 0 }, "domains.math.source.maxTests", undefined],
    [{ kind: "live-code-bench", path: "x", from: "July" }, "domains.math.source.from", undefined],
    [5, "domains.math.source", undefined],
    ["", "domains.math.source", undefined],
  ])("is told what is wrong with %j, where, and what was probably meant", (source, path, suggestion) => {
    expect(issuesOf(withSource(source)).map((issue) => [issue.path, issue.suggestion])).toEqual([
      [path, suggestion],
    ]);
  });

  test("has its options set from outside", () => {
    const recipe = recipeWith({ kind: "taco", path: "x" });
    const set = overrideRecipe(recipe, ["domains.math.source.maxTests=5"]);
    expect(set.domains["math"]!.source).toEqual({ kind: "taco", path: "x", maxTests: 5 });
    expect(() => overrideRecipe(recipe, ["domains.math.source.maxTest=5"])).toThrow(/did you mean maxTests/);
  });
});

test("the minimal recipe still is one", () => {
  expect(defineRecipe(minimal()).name).toBe(minimal().name);
});
