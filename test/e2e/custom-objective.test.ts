// GSPO as a recipe's custom objective in an asynchronous run: a replay of its log with the built-in GSPO gives the same
// rollouts and weights. Processes that train load the objective from a module.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { explainStep } from "../../lib/explain/index.ts";
import { openProcesses } from "../../lib/fleet/index.ts";
import { RUN_FILES } from "../../lib/metrics/index.ts";
import {
  createRun,
  nativeCore,
  type RecordedGroup,
  readRolloutRecord,
  replayRun,
} from "../../lib/orchestration/index.ts";
import { weightsHash } from "../../lib/orchestration/recovery/index.ts";
import type { StepRecord } from "../../lib/records.ts";
import { Trust } from "../../lib/trust.ts";
import { gspo } from "../fixtures/custom-gspo.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { patient } from "../patience.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const native = test.skipIf(noAddon !== undefined);
const noGloo = noAddon !== undefined || (await nativeCore()).info().gloo.version === null;
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-custom-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function record(slopes: typeof gspo) {
  return defineRecipe({ ...tinyInput({ maxLag: 3, steps: 16 }), objective: { kind: "custom", slopes } });
}

/** Replaces the custom objective in the folder's recorded recipes by a built-in one. */
function rewrite(kind: string): void {
  for (const file of [RUN_FILES.events, "run.json"]) {
    const text = readFileSync(join(dir, file), "utf8");
    const changed = text.replace(/"kind":\s*"custom",\s*"slopes":\s*\{[^}]*\}/, `"kind":"${kind}"`);
    expect(changed).not.toBe(text);
    writeFileSync(join(dir, file), changed);
  }
}

native(
  "a run with GSPO in TypeScript, replayed with the built-in GSPO, ends with the same bits; with another it does not",
  async () => {
    const recipe = record(gspo);
    const lags: number[] = [];
    const ratios: number[] = [];
    await using run = await createRun(recipe, { dir, verifiers });
    for await (const { metrics } of run) {
      lags.push(metrics["lag/max"] ?? 0);
      ratios.push(metrics["ratio/max"] ?? 1);
    }
    await run.finished;
    expect(Math.max(...lags)).toBeGreaterThan(0);
    expect(Math.max(...ratios)).toBeGreaterThan(1.004);
    await expect(replayRun(dir, { verifiers })).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
    const own = await replayRun(dir, { verifiers, recipe });
    expect(own).toMatchObject({ steps: 16, weightsCompared: true });
    const renamed: typeof gspo = (input) => gspo(input);
    await expect(replayRun(dir, { verifiers, recipe: record(renamed) })).rejects.toMatchObject({
      code: "HONE_ERR_CONFIG",
    });
    rewrite("gspo");
    expect(await replayRun(dir, { verifiers })).toEqual(own);
    for (const file of [RUN_FILES.events, "run.json"]) {
      const text = readFileSync(join(dir, file), "utf8");
      writeFileSync(join(dir, file), text.replace('"kind":"gspo"', '"kind":"dapo"'));
    }
    await expect(replayRun(dir, { verifiers })).rejects.toMatchObject({ code: "HONE_ERR_REPLAY" });
  },
  patient(120_000),
);

const GSPO = "./test/fixtures/custom-gspo.ts#gspo";

/**
 * Every step changes the weights, even if random weights answer everything wrong. @param objective called by two
 * ranks, or by one process that sums in their order
 */
const ofRanks = (objective: RecipeInput["objective"]) =>
  smallRecipe(
    { steps: 3, schedule: "sync", packedTokens: 64 },
    {
      hardware: { sharding: {} },
      advantages: { divideBy: "none", filter: "none" },
      objective: { entropyCoef: 0.1, ...objective },
      optimizer: { lr: 1e-2, warmupSteps: 0 },
    },
  );

/** Trains with an actor and two trainers, each in its own process. */
async function byProcesses(objective: RecipeInput["objective"]): Promise<string> {
  const settings = { leaseMs: 3000, beatMs: 100, aliveMs: patient(3000) };
  const core = await nativeCore();
  await using processes = await openProcesses({ actors: 1, trainers: 2, core, settings });
  await using run = await createRun(ofRanks(objective), { dir, verifiers, core: processes.core });
  await run.finished;
  return weightsHash(join(dir, "checkpoints", "step-000003"));
}

const ranks = test.skipIf(noGloo);

ranks(
  "processes that train ask a module's function: the weights are the built-in objective's, and of a replay's",
  async () => {
    const weights = await byProcesses({ kind: "custom", slopes: GSPO });
    await expect(replayRun(dir, { verifiers })).rejects.toMatchObject({ code: "HONE_ERR_TRUST" });
    const replayed = await replayRun(dir, { verifiers, trust: Trust.all });
    expect(replayed).toMatchObject({ weights, weightsCompared: true });
    const other = join(dir, "built-in");
    await using builtIn = await createRun(ofRanks({ kind: "gspo" }), { dir: other, verifiers });
    await builtIn.finished;
    expect(weightsHash(join(other, "checkpoints", "step-000003"))).toBe(weights);
  },
  patient(120_000),
);

ranks(
  "a module that throws in one of the processes that train ends the run by its words",
  async () => {
    const path = join(dir, "loss.mjs");
    writeFileSync(
      path,
      `import { writeFileSync } from "node:fs";
      export default function mine({ out }) {
        try {
          writeFileSync(${JSON.stringify(join(dir, "first"))}, "", { flag: "wx" });
        } catch {
          return 0;
        }
        throw new Error("too far");
      }`,
    );
    await expect(byProcesses({ kind: "custom", slopes: path })).rejects.toMatchObject({
      code: "HONE_ERR_OBJECTIVE",
      message: expect.stringContaining("mine threw: too far"),
    });
  },
  patient(120_000),
);

const HIGH_ENTROPY = "./test/fixtures/custom-high-entropy.ts#highEntropy";

native(
  "a module whose first pass compares all tokens of a step trains as the built-in rule does",
  async () => {
    const run = async (name: string, objective: RecipeInput["objective"], updatesPerBatch = 1) => {
      const { advantages: _, ...input } = tinyInput({
        steps: 3,
        schedule: "sync",
        packedTokens: 64,
        updatesPerBatch,
      });
      const recipe = defineRecipe({
        ...input,
        objective,
        advantages: { filter: "none", divideBy: "none" },
        rollouts: { ...input.rollouts, record: true },
        checkpoint: { everySteps: 1, keepLast: 9 },
      });
      const folder = join(dir, name);
      await using going = await createRun(recipe, { dir: folder, verifiers });
      await going.finished;
      return readFileSync(join(folder, RUN_FILES.log), "utf8")
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as StepRecord).metrics);
    };
    const tokens = { kind: "high-entropy", fraction: 0.25 } as const;
    const builtIn = await run("built-in", { kind: "reinforce", tokens });
    const custom = await run("custom", { kind: "custom", slopes: HIGH_ENTROPY });
    for (const [i, metrics] of custom.entries()) {
      expect(metrics["tokens/chosen"]).toBe(builtIn[i]!["tokens/chosen"]);
      expect(metrics["grad/norm"]! / builtIn[i]!["grad/norm"]!).toBeCloseTo(1, 6);
    }
    expect(custom[0]!["grad/norm"]).toBeGreaterThan(0);
    const trust = Trust.all;
    const folder = join(dir, "several");
    await run("several", { kind: "custom", slopes: HIGH_ENTROPY }, 2);
    expect(await replayRun(folder, { verifiers, trust })).toMatchObject({ steps: 3, weightsCompared: true });
    const groups: RecordedGroup[] = [];
    for await (const line of readRolloutRecord(folder, 3))
      if (!("schema" in line)) groups.push(line as RecordedGroup);
    const { problem, rollouts } = groups[0]!;
    const { settings } = await explainStep(folder, {
      step: 3,
      problem,
      attempt: rollouts[0]!.attempt,
      trust,
    });
    expect(settings[0]!.tokens.some(({ coefficient }) => coefficient === 0)).toBe(true);
  },
  patient(120_000),
);
