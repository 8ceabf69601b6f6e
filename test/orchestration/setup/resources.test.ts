import { expect, test } from "vitest";
import { overrideRecipe, type Recipe } from "../../../lib/config/index.ts";
import type { TrainerOptions } from "../../../lib/native/face.ts";
import { openModel } from "../../../lib/orchestration/setup/model.ts";
import { thisMachine } from "../../../lib/orchestration/setup/readiness.ts";
import { openResources } from "../../../lib/orchestration/setup/resources.ts";
import { placedOn, planMemory } from "../../../lib/plan/index.ts";
import type { JobPlace, VerificationJob } from "../../../lib/rewards/index.ts";
import { inlineVerifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

test("verifiers of somebody else are used and not closed", async () => {
  const resources = await openResources(smallRecipe(), standInCore(), inlineVerifiers);
  expect(resources.verifiers).toBe(inlineVerifiers);
  await resources[Symbol.asyncDispose]();
});

test("jobs of verifiers go where the core says, as many at a time as the recipe has workers, and that is closed", async () => {
  const asked: VerificationJob[] = [];
  let closed = 0;
  const verifierHosts = (workers: number): JobPlace => ({
    count: 3 * workers,
    run: async (_, job) => {
      asked.push(job);
      const verdict = { status: "wrong", score: 0, reason: "elsewhere" } as const;
      return {
        kind: "done",
        outcomes: job.members.map(() => ({ verdict, microseconds: 1 })),
        limits: undefined,
      };
    },
    pids: () => [],
    close: async () => void closed++,
  });
  const resources = await openResources(smallRecipe(), { ...standInCore(), verifierHosts });
  const problem = resources.sources.get("math")!.problem(0);
  const verdicts = await resources.verifiers.verify([{ problem, text: "1", finish: "eos" }]);
  expect(verdicts).toEqual([{ status: "wrong", score: 0, reason: "elsewhere" }]);
  expect(asked.map(({ members }) => members)).toEqual([
    [{ reference: problem.reference, text: "1", finish: "eos" }],
  ]);
  await resources[Symbol.asyncDispose]();
  expect(closed).toBeGreaterThan(0);
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

test("a run that fits with less trains and saves as that says, and keeps the recipe as it was given", async () => {
  // a model with the activations of several layers
  const deep = overrideRecipe(smallRecipe(), ["model.config.layers=8"]);
  const { config } = await openModel(deep, new Date(0));
  const machine = thisMachine();
  const bytesOf = (recipe: Recipe) =>
    planMemory(recipe, config, { ...machine, memory: Number.MAX_SAFE_INTEGER }).roles[0]!.total;
  const pages = (count: number, ...rest: string[]) =>
    overrideRecipe(deep, [`engine.pages=${count}`, ...rest]);
  const less = ["checkpoint.async=false", "hardware.recompute=true"];
  const each = (bytesOf(pages(2000)) - bytesOf(pages(1000))) / 1000;
  // as many pages as fit with both changes, so that one change is not enough
  const recipe = pages(1000 + Math.floor((machine.memory - bytesOf(pages(1000, ...less))) / each));
  expect(bytesOf(recipe)).toBeGreaterThan(machine.memory);
  const made: TrainerOptions[] = [];
  const core = standInCore();
  const trainer: typeof core.trainer = (model, options) => {
    made.push(options);
    return core.trainer(model, options);
  };
  const resources = await openResources(recipe, { ...core, trainer }, inlineVerifiers);
  await resources[Symbol.asyncDispose]();
  expect(made.map(({ recompute }) => recompute)).toEqual([true]);
  expect(resources.placed.checkpoint.async).toBe(false);
  expect(resources.recipe.hardware?.recompute ?? false).toBe(false);
  expect(resources.recipe.checkpoint.async).toBe(true);
  expect(placedOn(recipe, config, machine)).toEqual(overrideRecipe(recipe, less));
});
