// The recipes that are shipped: what the paper says is what they say, and they fit the hardware they name.
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { loadRecipe } from "../../lib/cli/load-recipe.ts";
import { planRecipe } from "../../lib/cli/plan.ts";
import { expectFit } from "../../lib/plan/index.ts";

test("apriel-15b holds the paper's launch configuration (appendix C, table of the launch configuration)", async () => {
  const r = await loadRecipe("recipes/apriel-15b.ts");
  expect({
    loss: r.objective.kind,
    groupSize: r.rollouts.groupSize,
    maxOutputTokens: r.rollouts.maxOutputTokens,
    lr: r.optimizer.lr,
    clip: [r.objective.clipLow, r.objective.clipHigh],
    penalty: r.lengthPenalty,
    rates: Object.fromEntries(Object.entries(r.domains).map(([name, { weight }]) => [name, weight])),
    gpus: [r.device, r.hardware?.actorGpus, r.hardware?.gpus],
    steps: r.training.steps,
    model: r.model.folder,
  }).toEqual({
    loss: "gspo",
    groupSize: 8,
    maxOutputTokens: 16_000,
    lr: 1.25e-6,
    clip: [3e-3, 4e-3],
    penalty: { kind: "dap", bufferTokens: 2000, solveRateExponent: 1, incorrectScale: 1 },
    rates: { math: 0.4, code: 0.25, logic: 0.15, "instruction-following": 0.1, "function-calling": 0.1 },
    gpus: ["cuda", 32, 64],
    steps: 400,
    model: "ServiceNow-AI/Apriel-1.5-15b-Thinker",
  });
});

// own-model.ts is for a folder that only its user has
test.each(readdirSync("recipes").filter((file) => file !== "own-model.ts"))(
  "%s fits the hardware it names",
  async (file) => {
    const plan = await planRecipe(await loadRecipe(`recipes/${file}`));
    expect(() => expectFit(plan)).not.toThrow();
  },
);
