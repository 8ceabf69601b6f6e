// Two processes train over Gloo with whole distributions of a teacher or of the reference: their weights equal those of
// one process that sums in their order, of a resumed run, and of a replay.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RecipeInput } from "../../lib/config/index.ts";
import { openProcesses } from "../../lib/fleet/index.ts";
import { createRun, nativeCore, replayRun } from "../../lib/orchestration/index.ts";
import { weightsHash } from "../../lib/orchestration/recovery/index.ts";
import { teacherFolder } from "../fixtures/teacher-folder.ts";
import { long, longest } from "../long.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { patient } from "../patience.ts";
import { noAddon } from "./native-core.ts";
import { metricsOf } from "./run-files.ts";

const noGloo = noAddon !== undefined || (await nativeCore()).info().gloo.version === null;
let root: string;
let folder: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "hone-taught-ranks-"));
  if (!noGloo) folder = await teacherFolder(join(root, "teacher"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const KL = { kind: "dapo", clipLow: 0.2, clipHigh: 0.2, klCoef: 0.5, klEstimator: "full" } as const;

const recipeOf = (steps: number, sharding: object, rest: Partial<RecipeInput>) =>
  smallRecipe(
    { steps, schedule: "sync", packedTokens: 64 },
    {
      hardware: { sharding },
      advantages: { divideBy: "none", filter: "none" },
      optimizer: { lr: 1e-2, warmupSteps: 0 },
      checkpoint: { everySteps: 1, keepLast: 9, async: false },
      ...rest,
    },
  );

/** Trains a run; returns the hash of its weights. @param trainers the number of trainer processes; 0: this process trains */
async function train(name: string, recipe: ReturnType<typeof recipeOf>, trainers: number): Promise<string> {
  const dir = join(root, name);
  const settings = { leaseMs: 3000, beatMs: 100, aliveMs: patient(3000) };
  await using processes =
    trainers > 0
      ? await openProcesses({ actors: 1, trainers, core: await nativeCore(), settings })
      : undefined;
  const core = processes && { core: processes.core };
  await using run = await createRun(recipe, { dir, verifiers, resume: "auto", ...core });
  await run.finished;
  return weightsHash(join(dir, "checkpoints", `step-${String(recipe.training.steps).padStart(6, "0")}`));
}

const forms: [string, object, () => Partial<RecipeInput>][] = [
  [
    "the whole vocabulary, weights divided",
    { stage: "parameters" },
    () => ({ teacher: { folder, divergence: {} } }),
  ],
  ["a KL term of the reference's likeliest tokens", {}, () => ({ objective: { ...KL, klTopK: 6 } })],
  ["a teacher's likeliest tokens", {}, () => ({ teacher: { folder, divergence: { topK: 5 } } })],
  ["a KL term of whole distributions", { stage: "gradients" }, () => ({ objective: KL })],
];

describe.skipIf(noGloo)("of two processes that train", () => {
  test.each(longest ? forms : forms.slice(0, long ? 2 : 1))(
    "%s: the weights of one, of a run that goes on, and of a replay",
    async (name, sharding, rest) => {
      const of = (steps: number) => recipeOf(steps, sharding, rest());
      await train(name, of(2), 2);
      const weights = await train(name, of(3), 2);
      const metric = "teacher" in rest() ? "kl/teacher/divergence" : "kl/reference/full";
      expect(metricsOf(join(root, name)).at(-1)![metric]).toBeGreaterThan(1e-6);
      expect(await replayRun(join(root, name), { verifiers })).toMatchObject({
        weights,
        weightsCompared: true,
      });
      expect(await train(`${name}, alone`, of(3), 0)).toBe(weights);
    },
    patient(180_000),
  );
});
