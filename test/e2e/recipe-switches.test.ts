// Tests runs of the real core with switches that a paper's recipe may need: corrections for stale samples, overlong
// filtering, reward tables.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { createRun, replayRun } from "../../lib/orchestration/index.ts";
import { decodeIds } from "../../lib/orchestration/records/encoded-arrays.ts";
import { type RecordedRollout, readRolloutRecord } from "../../lib/orchestration/records/rollout-record.ts";
import type { StepRecord } from "../../lib/records.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const native = test.skipIf(noAddon !== undefined);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-switches-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function run(
  rest: Partial<RecipeInput>,
  training: Partial<RecipeInput["training"]>,
): Promise<StepRecord[]> {
  const recipe = defineRecipe({ ...tinyInput({ steps: 6, groupsPerStep: 3, ...training }), ...rest });
  const steps: StepRecord[] = [];
  await using line = await createRun(recipe, { dir, verifiers });
  for await (const step of line) steps.push(step);
  return steps;
}

const metric = (steps: readonly StepRecord[], name: string) =>
  steps.flatMap(({ metrics }) => metrics[name] ?? []);
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

native.each([
  ["tis", { high: 1.02 }],
  ["sequence-tis", { high: 1.05 }],
  ["icepop", { low: 0.98, high: 1.02 }],
  ["sequence-mask", { low: 0.95, high: 1.05 }],
  ["geometric-mask", { low: 0.999, high: 1.001 }],
] as const)("stale samples are corrected: %s", async (kind, bounds) => {
  const objective = { kind: "grpo", correction: { kind, ...bounds } } as const;
  const steps = await run({ objective }, { schedule: "async", maxLag: 3, steps: 8 });
  expect(mean(metric(steps, "lag/mean"))).toBeGreaterThan(0);
  const masked = metric(steps, "correction/masked");
  expect(masked.length).toBeGreaterThan(0);
  // the bounds affect some stale tokens, but not all
  expect(Math.max(...metric(steps, "clip/tokens"))).toBeGreaterThan(0);
  expect(Math.min(...metric(steps, "clip/tokens"))).toBeLessThan(1);
  expect(Math.max(...masked) > 0).toBe(!kind.endsWith("tis"));
  if (kind !== "geometric-mask")
    expect(Math.max(...metric(steps, "correction/weight-max"))).toBeLessThanOrEqual(Math.fround(bounds.high));
  expect(Math.max(...metric(steps, "correction/ess"))).toBeLessThanOrEqual(1 + 1e-12);
  expect(metric(steps, "clip/high")).toEqual([]);
  expect(metric(steps, "step/changed-total").at(-1)).toBeGreaterThan(0);
});

native("on policy a correction leaves every weight at 1", async () => {
  const objective = { kind: "gspo", correction: { kind: "icepop", low: 0.5, high: 5 } } as const;
  const steps = await run({ objective }, { schedule: "sync", steps: 3 });
  expect(metric(steps, "correction/weight-mean")).toEqual(metric(steps, "grad/norm").map(() => 1));
  expect(metric(steps, "correction/masked")).toEqual(metric(steps, "grad/norm").map(() => 0));
  expect(steps.length).toBe(3);
});

/** Some of the tiny model's answers are truncated. */
const recording = {
  rollouts: { groupSize: 4, maxOutputTokens: 80, maxPromptTokens: 48, record: true },
} as const;

/** The rollouts of every step's record, and whether their group was trained. */
async function recorded(steps: number) {
  const all: (RecordedRollout & { readonly kept: boolean })[] = [];
  for (let step = 1; step <= steps; ++step) {
    for await (const line of readRolloutRecord(dir, step)) {
      if ("schema" in line) continue;
      all.push(...line.rollouts.map((r) => ({ ...r, kept: line.dropped === undefined })));
    }
  }
  return all;
}

native("overlong filtering: what was cut is in the baseline, counted, and trained by nobody", async () => {
  const advantages = { divideBy: "none", filter: "reward", overlong: "mask" } as const;
  const steps = await run({ ...recording, advantages }, { schedule: "async", maxLag: 1, steps: 5 });
  const rollouts = await recorded(5);
  expect(rollouts.every(({ masked, finish }) => masked === (finish === "length"))).toBe(true);
  const trained = rollouts.filter(({ sequence }) => sequence !== undefined);
  expect(trained.length).toBeGreaterThan(0);
  expect(trained).toEqual(rollouts.filter(({ kept, masked }) => kept && masked !== true));
  const masked = rollouts.filter((r) => r.kept && r.masked === true);
  expect(masked.length).toBeGreaterThan(0);
  expect(masked.some(({ advantage }) => advantage !== 0)).toBe(true);
  const sum = (name: string) => metric(steps, name).reduce((a, b) => a + b, 0);
  const tokens = trained.reduce((n, r) => n + decodeIds(r.tokens).length, 0);
  expect([sum("trained/sequences"), sum("trained/tokens")]).toEqual([trained.length, tokens]);
  const { metrics } = steps.at(-1)!;
  const dropped = Object.entries(metrics).filter(([name]) => name.startsWith("dropped/total/overlong/"));
  const whole = rollouts.filter((r) => !r.kept).length;
  const total = dropped.reduce((n, [, count]) => n + count, 0);
  expect(total).toBeGreaterThanOrEqual(masked.length);
  expect(total).toBeLessThanOrEqual(masked.length + whole);
  expect(Math.max(...metric(steps, "overlong/masked"))).toBeGreaterThan(0);
});

native("a run that masks replays to the bit", async () => {
  const advantages = { divideBy: "none", filter: "none", overlong: "mask" } as const;
  await run({ ...recording, advantages }, { schedule: "async", maxLag: 1, steps: 3 });
  const replayed = await replayRun(dir, { verifiers });
  expect(replayed.steps).toBe(3);
});

native.each(["pure_success", "success_and_format"] as const)(
  "a table gives rewards and leaves scores: %s",
  async (table) => {
    const advantages = { divideBy: "none", filter: "none" } as const;
    const rest = { ...recording, reward: { table }, lengthPenalty: { kind: "none" }, advantages } as const;
    const steps = await run(rest, { schedule: "sync", steps: 2 });
    const rollouts = await recorded(2);
    for (const { verdict, reward, finish } of rollouts) {
      const score = verdict.status === "unscored" ? Number.NaN : verdict.score;
      expect(reward).toBe(table === "pure_success" || finish !== "length" ? score : 0);
    }
    const scores = rollouts.map(({ verdict }) => ("score" in verdict ? verdict.score : 0));
    const perStep = metric(steps, "score/mean");
    expect(mean(perStep)).toBeCloseTo(mean(scores), 9);
    expect(mean(metric(steps, "reward/mean"))).toBeCloseTo(
      mean(rollouts.map(({ reward }) => reward ?? 0)),
      9,
    );
  },
);

native("a table of one's own prices what answers lack", async () => {
  const row = { correct: 1, wrong: -0.25, no_answer: -0.5, unparsable: -1 };
  const table = { finished: row, truncated: { ...row, no_answer: -2 } };
  const advantages = { divideBy: "none", filter: "none" } as const;
  await run(
    { ...recording, reward: { table }, lengthPenalty: { kind: "none" }, advantages },
    { schedule: "sync", steps: 2 },
  );
  const rewards = new Set((await recorded(2)).map(({ reward }) => reward));
  expect(rewards).toContain(-2);
  expect(rewards.size).toBeGreaterThan(1);
});
