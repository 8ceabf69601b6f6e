// Routing replay: the experts that tokens went to when they were sampled reach the trainer, whichever process sampled them, and an
// asynchronous run with them replays.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { explainStep } from "../../lib/explain/index.ts";
import { openProcesses } from "../../lib/fleet/index.ts";
import { createRun, nativeCore, replayRun } from "../../lib/orchestration/index.ts";
import {
  type RecordedGroup,
  readRolloutRecord,
  recordedSteps,
} from "../../lib/orchestration/records/rollout-record.ts";
import type { StepRecord } from "../../lib/records.ts";
import { tinyConfig, tinyModel } from "../fixtures/model-folder.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { patient } from "../patience.ts";
import { noAddon } from "./native-core.ts";

const root = mkdtempSync(join(tmpdir(), "hone-routes-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const MIXTURE = {
  model_type: "qwen3_moe",
  num_experts: 6,
  num_experts_per_tok: 2,
  moe_intermediate_size: 24,
  norm_topk_prob: true,
  decoder_sparse_step: 1,
  mlp_only_layers: [],
};

let folder: string;
beforeAll(async () => {
  folder = await tinyModel(join(root, "model"), tinyConfig(MIXTURE));
});

const STEPS = 5;
/** A random model answers everything wrong, so that only lengths differ. */
function recipe(replay: boolean, more: Partial<RecipeInput> = {}) {
  return defineRecipe({
    name: "routes",
    model: { folder },
    domains: { math: { source: "procedural/math" }, logic: { source: "procedural/logic" } },
    rollouts: { groupSize: 4, maxOutputTokens: 40, maxPromptTokens: 96, record: true, recordEveryTokens: 4 },
    lengthPenalty: { kind: "lp", bufferTokens: 39 },
    advantages: { filter: "reward" },
    objective: { kind: "dapo", clipLow: 0.2, clipHigh: 0.28, ...(replay && { router: { replay } }) },
    optimizer: { lr: 1e-2, warmupSteps: 0 },
    training: { steps: STEPS, groupsPerStep: 4, maxLag: 2 },
    checkpoint: { everySteps: 2 },
    engine: { maxRunning: 12, pages: 60, stepTokens: 48 }, // chunked prefill, and preemption
    evaluation: { problemsPerDomain: 2, attempts: 1 },
    sinks: ["jsonl"],
    ...more,
  });
}

const metricsOf = (dir: string): StepRecord["metrics"][] =>
  readFileSync(join(dir, "steps.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as StepRecord).metrics);

function expectReplaced(dir: string): void {
  const shares = metricsOf(dir).flatMap((metrics) => metrics["experts/replaced"] ?? []);
  expect(shares.length).toBeGreaterThan(STEPS / 2);
  for (const share of shares) expect(share >= 0 && share < 1).toBe(true);
  expect(Math.max(...shares)).toBeGreaterThan(0); // weights that are steps of 1e-2 apart
}

async function firstGroup(dir: string, step: number): Promise<RecordedGroup> {
  for await (const line of readRolloutRecord(dir, step))
    if ("rollouts" in line && line.rollouts.some(({ sequence }) => sequence !== undefined)) return line;
  throw new Error("nothing was trained");
}

/** Number of trained attempts that continued with younger weights, whose routes would be others. */
async function keptOfOlderWeights(dir: string): Promise<number> {
  let kept = 0;
  for (const step of recordedSteps(dir))
    for await (const line of readRolloutRecord(dir, step))
      for (const { versions, oldestKv, sequence } of "rollouts" in line ? line.rollouts : [])
        if (sequence !== undefined && versions[1]! < oldestKv.at(-1)!) kept += 1;
  return kept;
}

describe.skipIf(noAddon !== undefined)("an asynchronous run with routing replay", () => {
  const dir = join(root, "run");
  beforeAll(async () => {
    await using run = await createRun(recipe(true), { dir, verifiers });
    await run.finished;
  });

  test("says how many choices were others, and replays", async () => {
    expectReplaced(dir);
    const fresh = metricsOf(dir).map((metrics) => metrics["mismatch/kernel/max"] ?? 0);
    expect(Math.max(...fresh)).toBe(0);
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: STEPS, weightsCompared: true });
  });

  test("is explained by the recorded routes, and without them", async () => {
    const step = metricsOf(dir).findIndex((metrics) => (metrics["experts/replaced"] ?? 0) > 0) + 1;
    const { problem, rollouts } = await firstGroup(dir, step);
    const { attempt } = rollouts.find(({ sequence }) => sequence !== undefined)!;
    const set = ["objective.router.replay=false"];
    const { settings } = await explainStep(dir, { step, problem, attempt, set, gradient: true });
    const [asTrained, without] = settings;
    expect(without!.step!.gradNorm).not.toBe(asTrained!.step!.gradNorm);
    expect(without!.tokens.map(({ now }) => now)).not.toEqual(asTrained!.tokens.map(({ now }) => now));
    expect(asTrained!.gradient!.fromCoefficients / asTrained!.gradient!.norm).toBeCloseTo(1, 3);
  });
});

describe.skipIf(noAddon !== undefined)("routes", () => {
  test("are those of every update on a batch, and of the log-probs before the first", async () => {
    const dir = join(root, "updates");
    const training = { steps: STEPS, groupsPerStep: 4, maxLag: 2, updatesPerBatch: 2, epochs: 2 };
    {
      await using run = await createRun(recipe(true, { training }), { dir, verifiers });
      await run.finished;
    }
    expectReplaced(dir);
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: STEPS, weightsCompared: true });
    const { problem, rollouts } = await firstGroup(dir, STEPS);
    const { attempt } = rollouts.find(({ sequence }) => sequence !== undefined)!;
    const { settings } = await explainStep(dir, { step: STEPS, problem, attempt }); // compared with the record
    expect(settings[0]!.step!.update!.of).toBe(2);
  });

  test("are asked for in vain of a run without them", async () => {
    const dir = join(root, "without");
    {
      await using run = await createRun(recipe(false), { dir, verifiers });
      await run.finished;
    }
    expect(metricsOf(dir).some((metrics) => "experts/replaced" in metrics)).toBe(false);
    const { problem, rollouts } = await firstGroup(dir, 1);
    const asked = { step: 1, problem, attempt: rollouts[0]!.attempt, set: ["objective.router.replay=true"] };
    await expect(explainStep(dir, asked)).rejects.toMatchObject({
      code: "HONE_ERR_USAGE",
      message: expect.stringContaining("the record has no routes of"),
    });
  });

  test("outlast a run that ends without a word, with the rollouts that it had begun", async () => {
    const dir = join(root, "resumed");
    const long = recipe(true, {
      rollouts: {
        groupSize: 4,
        maxOutputTokens: 120,
        maxPromptTokens: 96,
        record: true,
        recordEveryTokens: 4,
      },
      lengthPenalty: { kind: "lp", bufferTokens: 119 },
      checkpoint: { everySteps: 1 },
    });
    {
      const afterStep = async ({ step }: { readonly step: number }) => {
        if (step !== 3) return undefined;
        for (let i = 0; i < 25; i++) await new Promise((go) => setImmediate(go));
        void run.stop({ save: false });
        return undefined;
      };
      await using run = await createRun(long, { dir, verifiers, hooks: { afterStep } });
      await run.finished;
    }
    {
      await using run = await createRun(long, { dir, verifiers, resume: "auto" });
      await run.finished;
    }
    expect(await keptOfOlderWeights(dir)).toBeGreaterThan(0);
    expectReplaced(dir);
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: STEPS, weightsCompared: true });
  });

  test(
    "come from actors of other processes, one of which is killed, to a trainer of another",
    async () => {
      const dir = join(root, "processes");
      const settings = { beatMs: 50, aliveMs: patient(3000), leaseMs: 3000 };
      await using processes = await openProcesses({
        actors: 2,
        trainers: 1,
        core: await nativeCore(),
        settings,
      });
      const { board } = processes.core;
      const afterStep = async ({ step }: { readonly step: number }) => {
        if (step === 2) process.kill(board.look().find(({ name }) => name === "actor.0")!.pid!, "SIGKILL");
        return undefined;
      };
      {
        await using run = await createRun(recipe(true), {
          dir,
          verifiers,
          core: processes.core,
          hooks: { afterStep },
        });
        expect(await run.finished).toMatchObject({ reason: "done", steps: STEPS });
      }
      expectReplaced(dir);
      expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: STEPS, weightsCompared: true });
    },
    patient(60_000),
  );
});
