import { expect, test } from "vitest";
import type { TrainerOptions } from "../../../lib/native/face.ts";
import { openResources } from "../../../lib/orchestration/setup/resources.ts";
import { inlineVerifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

test("verifiers of somebody else are used and not closed", async () => {
  const resources = await openResources(smallRecipe(), standInCore(), inlineVerifiers);
  expect(resources.verifiers).toBe(inlineVerifiers);
  await resources[Symbol.asyncDispose]();
});

test("every trainer of a run is as deterministic as the recipe says, by default not", async () => {
  for (const [overrides, expected] of [
    [{}, false],
    [{ deterministic: true }, true],
  ] as const) {
    const made: TrainerOptions[] = [];
    const core = standInCore();
    const trainer: typeof core.trainer = (config, options) => {
      made.push(options);
      return core.trainer(config, options);
    };
    const resources = await openResources(smallRecipe({}, overrides), { ...core, trainer }, inlineVerifiers);
    await resources.openTrainer().close();
    await resources[Symbol.asyncDispose]();
    expect(made.map(({ deterministic }) => deterministic)).toEqual([expected, expected]);
  }
});
