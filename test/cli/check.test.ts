import { expect, test } from "vitest";
import { checkRecipe, checkText } from "../../lib/cli/check.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

test("three problems of every domain, the longest prompt, the verifiers, and the memory by its sizes", async () => {
  const recipe = smallRecipe();
  const findings = await checkRecipe(recipe);
  expect(Object.keys(findings.domains)).toEqual(["math", "logic", "code"]);
  for (const found of Object.values(findings.domains)) {
    expect(found.questions).toHaveLength(3);
    expect(found.longestPrompt).toBeLessThanOrEqual(recipe.rollouts.maxPromptTokens);
    expect(found.verifiers.length).toBeGreaterThan(0);
  }
  // 64 contexts of ceil((64 + 24) / 16) pages and one spare, of 16 tokens; one layer, two heads of 16, keys and values, f32
  expect(findings.memory["key/value cache"]).toBe(64 * (6 + 1) * 16 * 2 * 16 * 2 * 4);
  expect(findings.memory["optimizer moments"]).toBe(findings.parameters * 8);
  const text = checkText(findings);
  for (const question of findings.domains["math"]!.questions) expect(text).toContain(question);
}, 60_000);

test("a prompt that does not fit is found before a run", async () => {
  const recipe = smallRecipe({}, { rollouts: { groupSize: 4, maxOutputTokens: 24, maxPromptTokens: 4 } });
  await expect(checkRecipe(recipe)).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
}, 60_000);
