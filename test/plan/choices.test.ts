// Tests the changes that a run makes when its recipe does not fit in memory: settings that cost time and change no
// result.
import { expect, test } from "vitest";
import { defineRecipe, overrideRecipe } from "../../lib/config/index.ts";
import { PUBLISHED_CONFIGS } from "../../lib/inference/index.ts";
import { choiceText, expectFit, planMemory } from "../../lib/plan/index.ts";

const CONFIG = JSON.stringify(PUBLISHED_CONFIGS["Qwen/Qwen3-0.6B"]);
const GIB = 2 ** 30;

const recipe = defineRecipe({
  name: "ten lines",
  model: { folder: "Qwen/Qwen3-0.6B", weightStorage: "bf16" },
  domains: { math: { weight: 1, source: "procedural/math" } },
  rollouts: { maxOutputTokens: 256, maxPromptTokens: 256 },
  training: { steps: 1 },
});
const on = (gib: number, asked = recipe) => planMemory(asked, CONFIG, { memory: gib * GIB, threads: 2 });
const namesOf = (plan: ReturnType<typeof on>) => plan.chosen?.changes.map(({ name }) => name);
const without = overrideRecipe(recipe, ["checkpoint.async=false", "hardware.recompute=true"]);

test("a recipe that fits is left as it is", () => {
  const plan = on(64);
  expect([plan.chosen, plan.advice, choiceText(plan)]).toEqual([undefined, undefined, undefined]);
});

test("the cheapest changes that are enough are made, and the plan is of the recipe so changed", () => {
  const needs = on(64).roles[0]!.total / GIB;
  const one = on(needs - 1);
  expect(namesOf(one)).toEqual(["checkpoint.async"]);
  const both = on(on(64, without).roles[0]!.total / GIB + 0.5);
  expect(namesOf(both)).toEqual(["checkpoint.async", "hardware.recompute"]);
  expect(both.roles[0]!.rows).toEqual(on(64, without).roles[0]!.rows);
  expect(both.chosen!.recipe).toEqual(without);
  expect(() => expectFit(both)).not.toThrow();
  expect(choiceText(both)).toMatch(
    /^checkpoint\.async=false and hardware\.recompute=true \(slower; no number of the run changes\); without this it needs \d+\.\d GiB of \d+\.\d GiB$/,
  );
});

test("where they are not enough nothing is changed, and what would make it fit is told", () => {
  const plan = on(on(64, without).roles[0]!.total / GIB - 0.5);
  expect(plan.chosen).toBeUndefined();
  expect(plan.advice!.proposals.length).toBeGreaterThan(0);
  expect(() => expectFit(plan)).toThrow(expect.objectContaining({ code: "HONE_ERR_OUT_OF_MEMORY" }));
});

test("of a GPU whose host has too little memory, the host's is told", () => {
  const cuda = overrideRecipe(recipe, ["device=cuda"]);
  const card = (memory: number) =>
    planMemory(cuda, CONFIG, { memory: memory * GIB, threads: 2, gpu: { name: "card", memory: 80 * GIB } });
  const needs = card(999).hostRows.reduce((sum, { bytes }) => sum + bytes, 0);
  const plan = card(1);
  expect(namesOf(plan)).toEqual(["checkpoint.async"]);
  expect(plan.chosen!.without).toEqual({ needs, has: GIB });
});
