import { expect, test } from "vitest";
import { defineRecipe, overrideRecipe, type Recipe, type RecipeInput } from "../../lib/config/index.ts";
import { PUBLISHED_CONFIGS } from "../../lib/inference/index.ts";
import { advise } from "../../lib/plan/advice.ts";
import { CHANGES } from "../../lib/plan/changes.ts";
import { fits } from "../../lib/plan/measured.ts";
import { measureMemory } from "../../lib/plan/memory.ts";
import { longest } from "../long.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const GIB = 2 ** 30;

const published = (model: string, rest: Partial<RecipeInput> = {}): Recipe =>
  defineRecipe({
    name: "one card",
    hardware: { gpu: "a card", gpuMemoryGiB: 24 },
    model: { folder: `Qwen/${model}`, weightStorage: "bf16" },
    domains: { math: { weight: 1, source: "procedural/math" } },
    rollouts: { maxOutputTokens: 3000, maxPromptTokens: 1000 },
    lengthPenalty: { kind: "none" },
    training: { steps: 1, groupsPerStep: 16, packedTokens: 16_384 },
    engine: { maxRunning: 64, stepTokens: 4096, pages: 8192 },
    ...rest,
  });

/** Plans a recipe for a card with that much memory. */
function on(model: string, gib: number) {
  const config = JSON.stringify(PUBLISHED_CONFIGS[`Qwen/${model}`]);
  return (recipe: Recipe) => measureMemory(recipe, config, { memory: 0, threads: 1 }, gib * GIB);
}

const CARDS: readonly (readonly [model: string, gib: number])[] = [
  ["Qwen3-0.6B", 20],
  ["Qwen3-8B", 80],
  ["Qwen3-0.6B", 24],
  ["Qwen3-0.6B", 16],
  ["Qwen3-0.6B", 7],
  ["Qwen3-1.7B", 24],
  ["Qwen3-4B", 24],
];

test.each(longest ? CARDS : CARDS.slice(0, 2))(
  "%s on %i GiB: every proposal fits, and no part of it can be spared",
  (model, gib) => {
    const recipe = published(model, { evaluation: { everySteps: 5 }, checkpoint: { keepBest: 1 } });
    const measure = on(model, gib);
    expect(fits(measure(recipe))).toBe(false);
    const { proposals } = advise(recipe, measure);
    expect(proposals.length).toBeGreaterThan(0);
    expect(proposals.length).toBeLessThanOrEqual(3);
    for (const { changes, total, keyValueTokens } of proposals) {
      const assignments = changes.map((change) => change.assignments);
      const changed = measure(overrideRecipe(recipe, assignments.flat()));
      expect(fits(changed)).toBe(true);
      expect(changed.roles[0]).toMatchObject({ total, keyValueTokens: { fit: keyValueTokens } });
      for (const spared of changes) {
        const others = changes.filter((change) => change !== spared).flatMap((change) => change.assignments);
        expect([spared.name, fits(measure(overrideRecipe(recipe, others)))]).toEqual([spared.name, false]);
      }
    }
  },
);

/** The cost of a combination: each change costs more than all changes before it together. */
const costOf = (names: readonly string[]) =>
  names.reduce((sum, name) => sum + 2 ** CHANGES.findIndex((change) => change.name === name), 0);

const TRIED: readonly (readonly [model: string, gib: number])[] = [
  ["Qwen3-0.6B", 20],
  ["Qwen3-0.6B", 7],
  ["Qwen3-4B", 24],
];
test.each(longest ? TRIED : TRIED.slice(0, 1))(
  "%s on %i GiB: proposals come in the order of their cost, and nothing cheaper fits",
  (model, gib) => {
    const recipe = published(model);
    const measure = on(model, gib);
    const { proposals } = advise(recipe, measure);
    const costs = proposals.map(({ changes }) => costOf(changes.map(({ name }) => name)));
    expect(costs).toEqual(costs.toSorted((a, b) => a - b));
    const found = proposals.map(({ changes }) => changes.map(({ name }) => name));
    const usable = CHANGES.map(({ name, assignments }) => ({
      name,
      settings: assignments(recipe) ?? [],
    })).filter(({ name, settings }) => settings.length > 0 || name.endsWith("engine.pages"));
    for (let set = 0; set < 2 ** usable.length; set++) {
      const chosen = usable.filter((_, i) => Math.floor(set / 2 ** i) % 2 === 1);
      const names = chosen.map(({ name }) => name);
      if (costOf(names) >= Math.max(...costs)) continue;
      if (names.includes("fewest engine.pages")) names.push("engine.pages");
      if (found.some((proposal) => proposal.every((name) => names.includes(name)))) continue;
      const pages = names.includes("fewest engine.pages")
        ? 251
        : names.includes("engine.pages")
          ? 2048
          : 8192;
      const settings = [...chosen.flatMap((change) => change.settings), `engine.pages=${pages}`];
      expect([...names, fits(measure(overrideRecipe(recipe, settings)))]).toEqual([...names, false]);
    }
  },
);

test("as many pages are left as fit, also beside an evaluation that has as many", () => {
  for (const everySteps of [0, 5]) {
    const recipe = published("Qwen3-0.6B", { evaluation: { everySteps } });
    const asked = on("Qwen3-0.6B", 1000)(recipe).roles[0]!.total / GIB;
    const measure = on("Qwen3-0.6B", asked - 1);
    const pages = advise(recipe, measure)
      .proposals.flatMap(({ changes }) => changes)
      .find(({ name }) => name === "engine.pages")!.assignments[0]!;
    const count = Number(pages.replace("engine.pages=", ""));
    expect(fits(measure(overrideRecipe(recipe, [`engine.pages=${count}`])))).toBe(true);
    expect(fits(measure(overrideRecipe(recipe, [`engine.pages=${count + 1}`])))).toBe(false);
  }
});

test("where nothing is enough, the least that can be reached is what its changes need", () => {
  const recipe = published("Qwen3-8B");
  const measure = on("Qwen3-8B", 16);
  const { proposals, least } = advise(recipe, measure);
  expect(proposals).toEqual([]);
  const assignments = least.changes.flatMap((change) => change.assignments);
  expect(measure(overrideRecipe(recipe, assignments)).roles[0]!.total).toBe(least.total);
  expect(assignments).toEqual(
    expect.arrayContaining(["hardware.recompute=true", "lora.rank=16", "engine.pages=251"]),
  );
  expect(advise(recipe, on("Qwen3-8B", least.total / GIB)).proposals).toHaveLength(1);
});

test("what makes no recipe is not proposed", () => {
  // a warm start with Muon of a published model trains all weights, so the recipe cannot have adapters
  const recipe = published("Qwen3-8B", { warmStart: { steps: 1, mixture: { math: 1 } } });
  const { proposals, least } = advise(recipe, on("Qwen3-8B", 48));
  expect(proposals).toEqual([]);
  expect(least.changes.map(({ name }) => name)).not.toContain("lora");
});

test("on the CPU matrices in bf16 are a way, and recompute needs no card to be named", () => {
  const recipe = smallRecipe(
    { packedTokens: 20_000 },
    { hardware: { recompute: false }, checkpoint: { async: false } },
  );
  const config = JSON.stringify(PUBLISHED_CONFIGS["Qwen/Qwen3-0.6B"]);
  const measure = (memory: number) => (changed: Recipe) =>
    measureMemory(changed, config, { memory, threads: 2 });
  const needed = measure(0)(overrideRecipe(recipe, ["training.packedTokens=88", "engine.stepTokens=256"]))
    .roles[0]!.total;
  const { proposals } = advise(recipe, measure(needed - GIB));
  expect(proposals.map(({ changes }) => changes.map(({ name }) => name))).toContainEqual([
    "training.packedTokens",
    "model.weightStorage",
  ]);
  expect(overrideRecipe(smallRecipe(), ["hardware.recompute=true"])).toMatchObject({
    device: smallRecipe().device,
    hardware: { recompute: true },
  });
});
