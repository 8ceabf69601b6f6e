import { expect, test } from "vitest";
import { defineRecipe } from "../../lib/config/index.ts";
import { planCells } from "../../lib/sweeps/cells.ts";
import { planJobs, startCheckpoint } from "../../lib/sweeps/plan.ts";
import { tinyInput, tinyRecipe } from "../e2e/tiny-recipe.ts";

const planned = (...variants: string[][]) =>
  planJobs(
    planCells(
      tinyRecipe(),
      variants.map((settings, i) => ({ name: `cell ${i}`, settings })),
    ),
    [3, 4],
  );

test("cells that would warm up alike share one warm start a seed, before the runs, which come seed by seed", () => {
  const jobs = planned(
    [],
    ["lengthPenalty.kind=none"],
    ["optimizer.lr=1e-4", "domains.math.weight=0.9", "sampler=static"],
  );
  expect(jobs.map(({ cell, seed }) => [cell, seed])).toEqual([
    [undefined, 3],
    [undefined, 4],
    ["cell 0", 3],
    ["cell 1", 3],
    ["cell 2", 3],
    ["cell 0", 4],
    ["cell 1", 4],
    ["cell 2", 4],
  ]);
  expect(jobs.slice(2).map(({ needs }) => needs)).toEqual([
    ...Array(3).fill(jobs[0]!.id),
    ...Array(3).fill(jobs[1]!.id),
  ]);
  expect(jobs.map(({ recipe }) => [recipe.seed, recipe.training.steps])).toEqual([
    [3, 0],
    [4, 0],
    ...[3, 3, 3, 4, 4, 4].map((seed) => [seed, 20]),
  ]);
  expect(new Set(jobs.map(({ id }) => id)).size).toBe(jobs.length);
});

test.each([
  ["warmStart.steps=9"],
  ["warmStart.wrongRate=0.5"],
  ["model.config.mlpWidth=96"],
  ["rollouts.maxOutputTokens=72"],
  ["training.packedTokens=2048"],
])("what a warm start depends on is not shared: %s", (setting) => {
  const jobs = planned([], [setting]);
  expect(jobs.map(({ cell, needs }) => [cell, needs])).toEqual([
    ["cell 0", undefined],
    ["cell 1", undefined],
    ["cell 0", undefined],
    ["cell 1", undefined],
  ]);
});

test("a warm start that shows episodes is shared by runs with the same episodes, and weights of domains differ freely", () => {
  const recipe = defineRecipe({
    ...tinyInput(),
    domains: { calc: { weight: 1, source: "procedural/calculator", environment: "calculator" } },
    warmStart: { steps: 1, mixture: { calc: 1 } },
  } as never);
  const sharing = (setting: string) => {
    const cells = [[], [setting]].map((settings, i) => ({ name: `cell ${i}`, settings }));
    return planJobs(planCells(recipe, cells), [3]).some(({ cell }) => cell === undefined);
  };
  expect(sharing("domains.calc.weight=2")).toBe(true);
  expect(sharing('domains.calc.episode={"maxTurns":1}')).toBe(false);
});

test("a recipe without a warm start has runs alone", () => {
  const jobs = planned(["warmStart.steps=0"], ["warmStart.steps=0", "sampler=static"]);
  expect(jobs).toHaveLength(4);
});

test("weights lie where a run keeps its warm start", () => {
  expect(startCheckpoint("runs/s", "starts/a/seed-0")).toBe("runs/s/starts/a/seed-0/checkpoints/warm-start");
});
