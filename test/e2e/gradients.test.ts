// A run that measures the gradients of its domains ends with the same weights as one that does not: an asynchronous run
// and its replay, which measures nothing, and a synchronous run with and without.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { RUN_FILES, stagesOf } from "../../lib/metrics/index.ts";
import { createRun, replayRun } from "../../lib/orchestration/index.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { patient } from "../patience.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const native = test.skipIf(noAddon !== undefined);
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-gradients-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function metricsOf(input: RecipeInput, folder = dir): Promise<Record<string, number>[]> {
  await using run = await createRun(defineRecipe(input), { dir: folder, verifiers });
  const records: Record<string, number>[] = [];
  for await (const { metrics } of run) records.push({ ...metrics });
  await run.finished;
  return records;
}

const gradientNames = (metrics: Record<string, number>) =>
  Object.keys(metrics).filter((name) => name.startsWith("gradient/"));

native(
  "an asynchronous run with a measurement every other step replays without any to the same weights",
  async () => {
    const records = await metricsOf({
      ...tinyInput({ maxLag: 2, steps: 12 }),
      metrics: { gradients: { everySteps: 2 } },
    });
    expect(Math.max(...records.map((metrics) => metrics["lag/max"] ?? 0))).toBeGreaterThan(0);
    const measured = records.filter((metrics) => gradientNames(metrics).length > 0);
    expect(measured.length).toBeGreaterThan(3);
    for (const [i, metrics] of records.entries()) {
      const stages = stagesOf(metrics).reduce((sum, { seconds }) => sum + seconds, 0);
      expect(stages, "a stage twice is more than the step").toBeCloseTo(metrics["time/step"]!, 9);
      if (i % 2 === 0) expect(gradientNames(metrics)).toEqual([]);
      const shares = Object.entries(metrics).filter(([name]) => name.startsWith("gradient/share/"));
      if (shares.length === 0) continue;
      expect(shares.reduce((sum, [, share]) => sum + share, 0)).toBeCloseTo(1, 9);
      const norms = Object.entries(metrics).filter(([name]) => name.startsWith("gradient/norm/"));
      const domains = norms.map(([name]) => name.slice("gradient/norm/".length));
      const norm = (domain: string) => metrics[`gradient/norm/${domain}`]!;
      let square = 0;
      for (const a of domains)
        for (const b of domains) {
          const cosine = metrics[`gradient/cosine/${a}/${b}`] ?? metrics[`gradient/cosine/${b}/${a}`];
          square += norm(a) * norm(b) * (a === b ? 1 : (cosine ?? 0));
        }
      // the norm of the step's own gradient, summed in another order
      expect(Math.sqrt(square) / metrics["grad/norm"]!).toBeCloseTo(1, 4);
      expect(metrics["time/gradients"]).toBeGreaterThan(0);
    }
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: 12, weightsCompared: true });
  },
  patient(120_000),
);

native(
  "a synchronous run has the same weights with and without, also with adapters and bf16 moments",
  async () => {
    const weights = async (name: string, input: RecipeInput) => {
      const folder = join(dir, name);
      await metricsOf(input, folder);
      const end = readFileSync(join(folder, RUN_FILES.events), "utf8").trim().split("\n").at(-1)!;
      return JSON.parse(end) as { readonly e: string; readonly w: string };
    };
    const plain = tinyInput({ schedule: "sync", steps: 4 });
    const adapted = {
      ...plain,
      lora: { rank: 2 },
      optimizer: { ...plain.optimizer, moments: "bf16" as const },
    };
    for (const [i, input] of [plain, adapted].entries()) {
      const without = await weights(`without-${i}`, input);
      expect(without).toMatchObject({ e: "end", w: expect.stringMatching(/^[0-9a-f]{64}$/) });
      const metrics = { gradients: { everySteps: 1 } };
      expect((await weights(`with-${i}`, { ...input, metrics })).w).toBe(without.w);
    }
  },
  patient(120_000),
);
