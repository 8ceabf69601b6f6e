// The shipped recipes have the paper's settings and fit the hardware they name.
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { loadRecipe } from "../../lib/cli/load-recipe.ts";
import { planRecipe } from "../../lib/cli/plan.ts";
import { shapingOptions } from "../../lib/orchestration/pipeline/grouper.ts";
import { expectFit } from "../../lib/plan/index.ts";
import type { Problem, Rollout, Verdict } from "../../lib/records.ts";
import { shapeGroup } from "../../lib/rewards/shape-group.ts";

test("apriel-15b holds the paper's launch configuration (appendix C, table of the launch configuration)", async () => {
  const r = await loadRecipe("recipes/apriel-15b.ts");
  expect({
    loss: r.objective.kind,
    groupSize: r.rollouts.groupSize,
    maxOutputTokens: r.rollouts.maxOutputTokens,
    lr: r.optimizer.lr,
    clip: [r.objective.clipLow, r.objective.clipHigh],
    penalty: r.lengthPenalty,
    sequenceWeight: r.objective.sequenceWeight,
    heldOut: (r.domains["instruction-following"]!.source as { heldOut?: number }).heldOut,
    rates: Object.fromEntries(Object.entries(r.domains).map(([name, { weight }]) => [name, weight])),
    gpus: [r.device, r.hardware?.gpus, r.hardware?.nodes],
    processes: r.hardware?.processes,
    filter: r.advantages.filter,
    steps: r.training.steps,
    model: r.model.folder,
  }).toEqual({
    loss: "gspo",
    groupSize: 8,
    maxOutputTokens: 16_000,
    lr: 1.25e-6,
    clip: [3e-3, 4e-3],
    penalty: { kind: "dap", bufferTokens: 2000, solveRateExponent: 1, incorrectScale: 1 },
    sequenceWeight: "length", // as the authors' code, with the penalty
    heldOut: 550, // appendix B
    rates: { math: 0.4, code: 0.25, logic: 0.15, "instruction-following": 0.1, "function-calling": 0.1 },
    gpus: ["cuda", 64, 8],
    processes: { actors: 32, trainers: 32, verifiers: 8 },
    filter: "reward",
    steps: 400,
    model: "ServiceNow-AI/Apriel-1.5-15b-Thinker",
  });
});

test("apriel-15b-uniform is apriel-15b with equation 2's sequence weights", async () => {
  const [length, uniform] = await Promise.all(
    ["apriel-15b", "apriel-15b-uniform"].map((name) => loadRecipe(`recipes/${name}.ts`)),
  );
  expect({
    ...uniform,
    name: "apriel-15b",
    objective: { ...uniform!.objective, sequenceWeight: "length" },
  }).toEqual({
    ...length,
  });
  expect(uniform!.objective.sequenceWeight).toBe("uniform");
});

test("apriel-15b-gspo is apriel-15b-uniform with the updates and the clip of GSPO's paper", async () => {
  const [uniform, gspo] = await Promise.all(
    ["apriel-15b-uniform", "apriel-15b-gspo"].map((name) => loadRecipe(`recipes/${name}.ts`)),
  );
  const { objective, training } = uniform!;
  expect(gspo).toEqual({
    ...uniform,
    name: "apriel-15b-gspo",
    objective: { ...objective, clipLow: 3e-4, clipHigh: 4e-4 },
    training: { ...training, updatesPerBatch: 4 },
  });
});

test("a group that is all right and of unequal lengths trains brevity under apriel-15b", async () => {
  const rollouts = [15_000, 3000].flatMap((length) =>
    Array.from({ length: 4 }, () => ({ tokens: { length }, finish: "eos" }) as unknown as Rollout),
  );
  const verdicts = rollouts.map((): Verdict => ({ status: "correct", score: 1, reason: "" }));
  const shaping = shapingOptions(await loadRecipe("recipes/apriel-15b.ts"));
  const { group } = shapeGroup({} as Problem, rollouts, verdicts, 0, shaping);
  expect(group.dropped).toBeUndefined();
  // P(15,000) = (14,000 - 15,000) / 2000 = -0.5, s = 1: rewards 0.5 and 1, mean 0.75, deviation 0.25
  const advantages = group.rollouts.map(({ advantage }) => Number(advantage.toFixed(4)));
  expect(advantages).toEqual([-1, -1, -1, -1, 1, 1, 1, 1]);
});

test("distillation is the quick start with a smaller model and a teacher", async () => {
  const [quick, taught] = await Promise.all(
    ["quickstart", "distillation"].map((name) => loadRecipe(`recipes/${name}.ts`)),
  );
  const { teacher, ...rest } = taught!;
  expect(teacher).toEqual({ folder: "models/teacher", coef: 1, rewardCoef: 0 });
  const { model, name, objective, advantages } = quick!;
  expect({ ...rest, model, name, objective, advantages }).toEqual(quick);
});

// these two recipes read folders that only their users have
const OF_A_USER = ["own-model.ts", "distillation.ts"];
test.each(readdirSync("recipes").filter((file) => file.endsWith(".ts") && !OF_A_USER.includes(file)))(
  "%s fits the hardware it names",
  async (file) => {
    const plan = await planRecipe(await loadRecipe(`recipes/${file}`));
    expect(() => expectFit(plan)).not.toThrow();
  },
);
