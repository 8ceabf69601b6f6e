import { expect, test } from "vitest";
import { loadRecipe } from "../../lib/cli/load-recipe.ts";
import { chooseMachine } from "../../lib/cli/simulate.ts";
import { CARDS, PAPER_ANSWERS } from "../../lib/simulate/assumptions.ts";
import { machineSchema } from "../../lib/simulate/machine.ts";
import { simulate } from "../../lib/simulate/simulation.ts";
import { longest } from "../long.ts";
import { machineOf } from "./machines.ts";

test("the paper's five domains have answers that a machine takes, and cards their data sheets", () => {
  expect(Object.keys(PAPER_ANSWERS)).toEqual([
    "math",
    "code",
    "logic",
    "instruction-following",
    "function-calling",
  ]);
  expect(machineSchema.safeParse(machineOf({ domains: { ...PAPER_ANSWERS } })).success).toBe(true);
  expect(CARDS.find(({ name }) => name === "H200")).toMatchObject({ bandwidth: 4.8e12, flops: 989e12 });
});

/** The paper's settings from docs/how-to/simulate.md, with a seed whose mixture deviates at most twice as much as the paper's. */
const PAPER = [
  "training.steps=250",
  "engine.maxRunning=128",
  "training.maxLag=64",
  "training.credits=640",
  "seed=1",
];

test.runIf(longest)(
  "apriel-15b as it names its machines comes to the paper's figures",
  { timeout: 300_000 },
  async () => {
    const recipe = await loadRecipe("recipes/apriel-15b.ts", PAPER);
    const { machine } = await chooseMachine(recipe, {});
    expect(machine.verifierWorkers).toBe(64);
    const { hours, rolloutsPerStep, mixture } = await simulate(recipe, machine);
    expect(Math.abs(hours / 36 - 1)).toBeLessThan(0.05);
    expect(Math.abs(rolloutsPerStep / 2730 - 1)).toBeLessThan(0.05);
    // the targets are 0.15 and 0.1; one step has 341 groups, so the shares have standard errors of 1.3 and 2.2 points
    expect(Math.abs(mixture.first.shares["logic"]! - 0.057)).toBeLessThan(0.03);
    expect(Math.abs(mixture.first.shares["function-calling"]! - 0.205)).toBeLessThan(0.03);
    expect(mixture.mad).toBeLessThan(2 * 0.00027);
  },
);
