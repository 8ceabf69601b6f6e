import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { explainStep } from "../../lib/explain/index.ts";
import { createRun, type RecordedStep, readRolloutRecord, replayRun } from "../../lib/orchestration/index.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const root = mkdtempSync(join(tmpdir(), "hone-entropy-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const control = { target: 2, delta: 0.01 };
const recipeOf = (training: Partial<RecipeInput["training"]>, isControlled = true) => {
  const input = tinyInput({ groupsPerStep: 4, ...training });
  return defineRecipe({
    ...input,
    objective: { kind: "gspo", entropyCoef: 0.02, ...(isControlled && { entropyControl: control }) },
    rollouts: { ...input.rollouts, record: true },
    checkpoint: { everySteps: 2, keepLast: 10 },
  });
};

/** @returns the last event, a hash of the weights, and each step's metrics */
async function train(dir: string, recipe: ReturnType<typeof recipeOf>) {
  await using run = await createRun(recipe, { dir, verifiers, resume: "auto" });
  const steps = [];
  for await (const step of run) steps.push(step.metrics);
  await run.finished;
  return { end: readFileSync(join(dir, "events.jsonl"), "utf8").trim().split("\n").at(-1)!, steps };
}

async function recordedSteps(dir: string, steps: readonly number[]) {
  const heads: RecordedStep[] = [];
  for (const step of steps)
    for await (const line of readRolloutRecord(dir, step)) if ("trained" in line) heads.push(line);
  return heads;
}

describe.skipIf(noAddon !== undefined)("a target of the entropy", () => {
  test("the coefficient follows the entropies of the steps before, and an asynchronous run replays to the bit", async () => {
    const dir = join(root, "asynchronous");
    const { steps } = await train(dir, recipeOf({ steps: 5, maxLag: 2, updatesPerBatch: 2 }));
    let coef = 0.02;
    let above = false;
    for (const metrics of steps) {
      expect(metrics["entropy/coef"]).toBe(above ? 0 : coef);
      above = metrics["entropy/trained"]! > control.target;
      coef = Math.max(0, coef + (above ? -control.delta : control.delta));
    }
    const recorded = await recordedSteps(dir, [1, 2, 3, 4, 5]);
    expect(recorded.map(({ trained }) => trained?.objective.entropyCoef)).toEqual(
      steps.map((metrics) => metrics["entropy/coef"]),
    );
    expect(new Set(steps.map((metrics) => metrics["entropy/coef"])).size).toBeGreaterThan(1);
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: 5, weightsCompared: true });
  });

  test("a run that goes on from a checkpoint is the one that was not interrupted", async () => {
    const of = (steps: number) => recipeOf({ steps, schedule: "sync" });
    const straight = await train(join(root, "straight"), of(4));
    await train(join(root, "resumed"), of(2));
    const resumed = await train(join(root, "resumed"), of(4));
    expect(resumed.end).toBe(straight.end);
    expect(resumed.steps.map((metrics) => metrics["entropy/coef"])).toEqual(
      straight.steps.slice(2).map((metrics) => metrics["entropy/coef"]),
    );
    expect(await replayRun(join(root, "resumed"), { verifiers })).toMatchObject({
      steps: 4,
      weightsCompared: true,
    });
    const fixed = await train(join(root, "fixed"), recipeOf({ steps: 4, schedule: "sync" }, false));
    expect(fixed.end).not.toBe(straight.end);
    expect(fixed.steps[0]).not.toHaveProperty("entropy/coef");
  });

  test("explain takes the step's coefficient, also by other settings", async () => {
    const dir = join(root, "straight");
    const [head] = await recordedSteps(dir, [4]);
    for await (const line of readRolloutRecord(dir, 4)) {
      if (!("rollouts" in line) || line.dropped !== undefined) continue;
      const place = { step: 4, problem: line.problem, attempt: line.rollouts[0]!.attempt };
      const { settings } = await explainStep(dir, { ...place, set: ["objective.kind=gspo-token"] });
      const { sequences, objective } = head!.trained!;
      for (const { tokens } of settings)
        expect(tokens[0]!.entropyCoefficient).toBeCloseTo(
          -Math.fround(objective.entropyCoef) / (sequences * tokens.length),
          12,
        );
      return;
    }
    expect.unreachable("no group was kept");
  });
});
