import { expect, test } from "vitest";
import { recipeChanges } from "../../../lib/orchestration/records/recipe-changes.ts";
import { smallRecipe } from "../small-recipe.ts";

// Deliberate faults (mutants) that these tests detect: the order of domains is ignored, a missing field is ignored,
// changes of permanent fields are allowed.

const stored = (...change: Parameters<typeof smallRecipe>): unknown =>
  JSON.parse(JSON.stringify(smallRecipe(...change)));
const domain = (weight: number, source: string) => ({ weight, source });

test("the same recipe has no changes", () => {
  expect(recipeChanges("runs/a", stored(), smallRecipe())).toEqual([]);
});

test("what may change is told, a line a field, with both values", () => {
  const now = smallRecipe(
    { steps: 9 },
    { optimizer: { lr: 0.5 }, warmStart: { steps: 0, mixture: { math: 1 } } },
  );
  expect(recipeChanges("runs/a", stored(), now)).toEqual([
    "optimizer.lr: 0.00025 -> 0.5",
    "training.steps: 6 -> 9",
    expect.stringMatching(/^warmStart: not given -> \{"steps":0,/),
  ]);
});

test.each([
  ["another seed", { seed: 8 }, "seed: is 8; the run in runs/a has 7"],
  [
    "another model",
    { model: { config: { width: 64, layers: 1, heads: 2, mlpWidth: 64, maxPositions: 128 } } },
    'model.config: is {"width":64,',
  ],
  [
    "a domain less",
    { domains: { math: domain(1, "procedural/math") } },
    'domains: is ["math"]; the run in runs/a has ["math","logic","code"]',
  ],
  [
    "domains in another order",
    {
      domains: {
        logic: domain(1, "procedural/logic"),
        math: domain(1, "procedural/math"),
        code: domain(1, "procedural/code"),
      },
    },
    'domains: is ["logic","math","code"]',
  ],
])("%s is another run", (_, rest, message) => {
  expect(() => recipeChanges("runs/a", stored(), smallRecipe({}, rest))).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_CONFIG", message: expect.stringContaining(message) }),
  );
});

test("every field that cannot change is named at once, also against a manifest that says nothing", () => {
  const refusal = (before: unknown) => {
    try {
      return recipeChanges("d", before, smallRecipe());
    } catch (error) {
      return (error as { issues: { path: string }[] }).issues.map(({ path }) => path);
    }
  };
  expect(refusal({})).toEqual(["seed", "tokenizer", "model.config", "domains"]);
  expect(refusal(null)).toEqual(["seed", "tokenizer", "model.config", "domains"]);
});
