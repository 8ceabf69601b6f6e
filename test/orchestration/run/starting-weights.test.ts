import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defineRecipe, recipeInput } from "../../../lib/config/index.ts";
import { willWarmUp } from "../../../lib/orchestration/run/starting-weights.ts";
import { smallRecipe } from "../small-recipe.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-start-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("weights that are there already need no demonstrations", () => {
  const recipe = defineRecipe({
    ...recipeInput(smallRecipe()),
    warmStart: { steps: 100, mixture: { logic: 1 } },
  });
  expect(willWarmUp(smallRecipe(), { dir })).toBe(false);
  expect(willWarmUp(recipe, { dir })).toBe(true);
  expect(willWarmUp(recipe, { dir, resume: "auto" })).toBe(true);
  expect(willWarmUp(recipe, { dir, startFrom: "elsewhere" })).toBe(false);
  mkdirSync(join(dir, "checkpoints/warm-start"), { recursive: true });
  expect(willWarmUp(recipe, { dir, resume: "auto" })).toBe(false);
  expect(willWarmUp(recipe, { dir, resume: "never" })).toBe(true);
});
