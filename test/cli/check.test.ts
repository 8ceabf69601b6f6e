import { expect, test } from "vitest";
import { checkRecipe, checkText } from "../../lib/cli/check.ts";
import { loadRecipe } from "../../lib/cli/load-recipe.ts";
import { UNKNOWN_MEMORY } from "../../lib/cli/plan.ts";
import { info } from "../../lib/native/index.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

test("three problems of every domain, the longest prompt, the verifiers, one step, and the memory by its sizes", async () => {
  const recipe = smallRecipe();
  const findings = await checkRecipe(recipe);
  expect(Object.keys(findings.domains)).toEqual(["math", "logic", "code"]);
  for (const found of Object.values(findings.domains)) {
    expect(found.questions).toHaveLength(3);
    expect(found.longestPrompt).toBeLessThanOrEqual(recipe.rollouts.maxPromptTokens);
    expect(found.verifiers.length).toBeGreaterThan(0);
  }
  const bytesOf = (name: string) => findings.plan.roles[0]!.rows.find((row) => row.name === name)!.bytes;
  // 64 contexts of ceil((64 + 24) / 16) pages and one spare, of 16 tokens; one layer, two heads of 16, keys and values, f32
  expect(bytesOf("keys and values")).toBe(64 * (6 + 1) * 16 * 2 * 16 * 2 * 4);
  expect(bytesOf("optimizer moments, f32")).toBe(findings.plan.network.parameters * 8);
  expect(findings.stages.map(({ name, ok, instead }) => [name, ok, instead])).toEqual(
    ["recipe", "model", "math", "logic", "code", "one step", "memory"].map((name) => [name, true, undefined]),
  );
  const text = checkText(findings);
  expect(text.match(/^✓ /gm)).toHaveLength(7);
  expect(text).toMatch(/12 rollouts judged, gradient of norm [\d.e-]+, weights updated and published/);
}, 60_000);

test.each(["apriel-15b", "single-gpu"])(
  "%s passes without its model and data, and says what was tried instead",
  async (name) => {
    const findings = await checkRecipe(await loadRecipe(`recipes/${name}.ts`));
    expect(findings.stages.filter(({ ok }) => !ok)).toEqual([]);
    const instead = Object.fromEntries(
      findings.stages.flatMap((s) => (s.instead ? [[s.name, s.instead]] : [])),
    );
    expect(instead["model"]).toMatch(
      /is not here; its known sizes, random weights and a tokenizer of bytes instead$/,
    );
    expect(instead["math"]).toBe(
      "data/open-reasoner-zero is not here; sample rows in the same shape instead",
    );
    for (const { questions, report } of Object.values(findings.domains)) {
      expect(questions).toHaveLength(3);
      expect(report?.bad ?? []).toEqual([]);
    }
    const text = checkText(findings);
    for (const said of Object.values(instead)) expect(text).toContain(said);
  },
  120_000,
);

test("a recipe that does not fit its card fails with a cross, after everything else was tried", async () => {
  const recipe = await loadRecipe("recipes/single-gpu.ts", ["hardware.gpuMemoryGiB=8"]);
  const { stages } = await checkRecipe(recipe);
  expect(stages.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["memory"]);
  expect(stages.at(-1)!.said).toMatch(/needs 19\.\d GiB of 8\.0 GiB/);
}, 120_000);

test.skipIf(info().cuda.devices.length > 0)(
  "a recipe for a GPU that neither it nor this machine knows passes, and says what was not compared",
  async () => {
    const { stages } = await checkRecipe({ ...smallRecipe(), device: "cuda" });
    expect(stages.filter(({ ok }) => !ok)).toEqual([]);
    const memory = stages.at(-1)!;
    expect(memory).toMatchObject({ name: "memory", instead: UNKNOWN_MEMORY });
    expect(memory.said).toMatch(/^GPU: \d+\.\d GiB \(actor and trainer\)$/);
  },
  60_000,
);

test("a prompt that does not fit is found before a run", async () => {
  const recipe = smallRecipe({}, { rollouts: { groupSize: 4, maxOutputTokens: 24, maxPromptTokens: 4 } });
  await expect(checkRecipe(recipe)).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
}, 60_000);
