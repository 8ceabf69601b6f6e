import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { StepReport, TrainerOptions, TrainingBatch } from "../../lib/native/face.ts";
import { type Completion, Engine, Generations, Trainer } from "../../lib/native/index.ts";
import {
  engineOptions,
  modelConfig,
  optimizer,
  request,
  stepOptions,
  trainerAndGenerations,
  trainerOptions,
} from "./small-model.ts";

const folder = mkdtempSync(path.join(tmpdir(), "hone-trainer-"));
let trainer: Trainer;
let generations: Generations;
beforeAll(async () => {
  ({ trainer, generations } = await trainerAndGenerations());
});
afterAll(async () => {
  await generations.close();
  await trainer.close();
  rmSync(folder, { recursive: true });
});

const NAME = "model.layers.0.self_attn.q_proj.weight";

function batchOf(prompt: Int32Array, completions: readonly Completion[]): TrainingBatch {
  const tokens = completions.flatMap((c) => [...prompt, ...c.tokens]);
  const offsets = [0];
  for (const c of completions) offsets.push(offsets.at(-1)! + prompt.length + c.tokens.length);
  const zeros = [...prompt].map(() => 0);
  return {
    tokens: Int32Array.from(tokens),
    cuSeqlens: Int32Array.from(offsets),
    mask: Uint8Array.from(
      completions.flatMap((c) => [...zeros, ...c.tokens].map((_, i) => (i < prompt.length ? 0 : 1))),
    ),
    behaviorLogprobs: Float32Array.from(completions.flatMap((c) => [...zeros, ...c.logprobs])),
    advantages: Float32Array.from(completions, (_, i) => (i % 2 === 0 ? 1 : -1)),
  };
}

test("scores what the engine sampled to the same bits", async () => {
  const r = request(1, { count: 6, maxTokens: 60 });
  const completions = await generations.generate(r);
  const batch = batchOf(r.prompt, completions);
  const { logprobs, entropies } = await trainer.score(batch, 1);
  const recorded = completions.flatMap((c) => [0, 0, 0, ...c.entropies]);
  expect([...logprobs]).toEqual([...batch.behaviorLogprobs!]);
  expect([...entropies]).toEqual(recorded);
});

test("a step hands its weights to the engine it is given, a skipped one does not", async () => {
  const { trainer: own, generations: its } = await trainerAndGenerations();
  const r = request(7, { count: 4 });
  const batch = batchOf(r.prompt, await its.generate(r));
  const report = await own.step(batch, stepOptions, its.engine);
  expect(report.startSeconds).toBeGreaterThanOrEqual(0);
  expect(report.publishSeconds).toBeGreaterThan(0);
  const sampled = await its.generate(request(8, { count: 4 }));
  expect(sampled.flatMap((c) => [...c.versions]).every((v) => v === own.version)).toBe(true);
  const { logprobs } = await own.score(batchOf(r.prompt.with(2, 11), sampled), 1);
  expect([...logprobs].filter((x) => x !== 0)).toEqual(sampled.flatMap((c) => [...c.logprobs]));
  const bad = { ...batch, advantages: batch.advantages!.with(0, Number.NaN) };
  const { skipped, publishSeconds } = await own.step(bad, stepOptions, its.engine);
  expect([skipped, publishSeconds]).toEqual([true, 0]);
  expect((await own.step(batch, stepOptions)).publishSeconds).toBe(0);
  await its.generate(request(9));
  expect(its.engine.stats().version).toBe(1);
  await its.close();
  await expect(own.step(batch, stepOptions, its.engine)).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  await own.close();
});

test("an on-policy step has ratio exactly 1 and moves the weights", async () => {
  const r = request(2, { count: 4 });
  const batch = batchOf(r.prompt, await generations.generate(r));
  const [before, version] = [await trainer.parameter(NAME), trainer.version];
  const report = await trainer.step(batch, stepOptions);
  expect(new Set(report.ratios)).toEqual(new Set([0, 1]));
  expect(report).toMatchObject({ skipped: false, nonFiniteSequence: -1, packedTokens: batch.tokens.length });
  expect(report.layerGradNorms).toHaveLength(3);
  expect(trainer.version).toBe(version + 1);
  expect(await trainer.parameter(NAME)).not.toEqual(before);
});

test("on the CPU deterministic changes no bit, and it is true or false", async () => {
  const r = request(5, { count: 2 });
  const batch = batchOf(r.prompt, await generations.generate(r));
  const scores = [false, true].map(async (deterministic) => {
    const other = new Trainer(modelConfig, { ...trainerOptions, deterministic });
    await other.initialize(3n);
    const score = await other.score(batch, 1);
    await other.close();
    return score;
  });
  const [fast, deterministic] = await Promise.all(scores);
  expect(deterministic).toEqual(fast);
  const neither = { ...trainerOptions, deterministic: 1 as unknown as boolean };
  expect(() => new Trainer(modelConfig, neither)).toThrow(/trainer\.deterministic/);
});

test("in bf16 arithmetic the trainer scores what its engine sampled to the same bits, and other bits than in f32", async () => {
  const types = { weightStorage: "bf16", arithmetic: "bf16" } as const;
  const [own, wide] = [types, { weightStorage: "bf16" } as const].map(
    (of) => new Trainer(modelConfig, { ...trainerOptions, ...of }),
  ) as [Trainer, Trainer];
  for (const each of [own, wide]) await each.initialize(3n);
  const its = new Generations(
    (handlers) => new Engine(modelConfig, { ...engineOptions, ...types }, handlers),
  );
  await own.publish(its.engine);
  const r = request(1, { count: 6, maxTokens: 60 });
  const batch = batchOf(r.prompt, await its.generate(r));
  const recorded = [...batch.behaviorLogprobs!];
  expect([...(await own.score(batch, 1)).logprobs]).toEqual(recorded);
  expect([...(await wide.score(batch, 1)).logprobs]).not.toEqual(recorded);
  for (const part of [its, own, wide]) await part.close();
});

test("bf16 arithmetic of weights stored as f32 is refused by name", () => {
  expect(() => new Trainer(modelConfig, { ...trainerOptions, arithmetic: "bf16" })).toThrow(
    expect.objectContaining({ code: "HONE_ERR_CONFIG", message: expect.stringContaining("bf16 arithmetic") }),
  );
});

test("a batch may be changed as soon as the call returns", async () => {
  const r = request(3, { count: 2 });
  const batch = batchOf(r.prompt, await generations.generate(r));
  const expected = await trainer.score(batch, 1);
  const pending = trainer.score(batch, 1);
  batch.tokens.fill(0);
  expect(await pending).toEqual(expected);
});

test("subarrays and shared memory are read where they are", async () => {
  const r = request(4, { count: 2 });
  const batch = batchOf(r.prompt, await generations.generate(r));
  const shared = new Int32Array(new SharedArrayBuffer((batch.tokens.length + 5) * 4)).subarray(5);
  shared.set(batch.tokens);
  expect(await trainer.score({ ...batch, tokens: shared }, 1)).toEqual(await trainer.score(batch, 1));
});

test("what is staged is written as it was, while the next steps are done", async () => {
  const { trainer: own, generations: its } = await trainerAndGenerations();
  const r = request(7, { count: 4 });
  const batch = batchOf(r.prompt, await its.generate(r));
  await own.step(batch, stepOptions);
  const [now, later] = [path.join(folder, "now"), path.join(folder, "later")];
  await own.save(now, '{"step":1}');
  await own.stage(later, '{"step":1}');
  const steps = [own.step(batch, stepOptions), own.step(batch, stepOptions)];
  await own.written();
  await Promise.all(steps);
  for (const name of readdirSync(now))
    expect([name, readFileSync(path.join(later, name)).equals(readFileSync(path.join(now, name)))]).toEqual([
      name,
      true,
    ]);
  await Promise.all([own.close(), its.close()]);
});

test("what keeps a staged one from being written is told when it is asked for; the next can be", async () => {
  writeFileSync(path.join(folder, "file"), "no folder");
  await trainer.stage(path.join(folder, "file", "x"), "{}");
  await expect(trainer.written()).rejects.toMatchObject({ code: "HONE_ERR_IO", message: /file/ });
  await trainer.stage(path.join(folder, "good"), "{}");
  await trainer.written();
  expect(readdirSync(path.join(folder, "good"))).toContain("manifest.json");
});

test("a close waits for what is being written", async () => {
  const { trainer: own, generations: its } = await trainerAndGenerations();
  await own.stage(path.join(folder, "closing"), "{}");
  await own.close();
  expect(readdirSync(path.join(folder, "closing"))).toContain("manifest.json");
  await expect(own.stage(path.join(folder, "closed"), "{}")).rejects.toMatchObject({
    code: "HONE_ERR_STATE",
  });
  await its.close();
});

test("save and load bring back weights, version and extra", async () => {
  const saved = await trainer.parameter(NAME);
  const version = trainer.version;
  const directory = path.join(folder, "checkpoint");
  await trainer.save(directory, JSON.stringify({ step: 12 }));
  const other = new Trainer(modelConfig, trainerOptions);
  expect(JSON.parse(await other.load(directory))).toEqual({ step: 12 });
  expect(await other.parameter(NAME)).toEqual(saved);
  expect(other.version).toBe(version);
  await other.close();
});

test("a truncated checkpoint is a format error that names the file", async () => {
  const directory = path.join(folder, "broken");
  await trainer.save(directory, "{}");
  const file = readdirSync(directory).find((name) => /^model.*\.safetensors$/.test(name))!;
  truncateSync(path.join(directory, file), readFileSync(path.join(directory, file)).length - 1);
  const error = await trainer.load(directory).catch((e: unknown) => e as Error);
  expect(error).toMatchObject({ code: "HONE_ERR_FORMAT", message: expect.stringContaining(file) });
  expect((error as Error).stack).toContain("trainer.test.ts"); // the error is thrown again where the caller awaits it
  expect((error as Error).cause).toBeInstanceOf(Error);
});

/**
 * Trains three supervised steps from seed 3 with one sequence a micro-batch; returns the weights, and the reports
 * without times.
 */
async function threeSteps(sharding?: TrainerOptions["sharding"]) {
  const own = new Trainer(modelConfig, { ...trainerOptions, packedTokens: 4, ...(sharding && { sharding }) });
  await own.initialize(3n);
  const batch: TrainingBatch = {
    tokens: Int32Array.of(1, 2, 3, 4, 9, 8, 7, 30, 31, 32, 33),
    cuSeqlens: Int32Array.of(0, 4, 7, 11),
    mask: Uint8Array.of(0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1),
  };
  const reports: StepReport[] = [];
  for (let step = 0; step < 3; step++) {
    reports.push(await own.step(batch, { ...stepOptions, objective: "supervised" }));
  }
  const directory = path.join(folder, `shared-${sharding?.stage}-${sharding?.exact}`);
  await own.save(directory, "{}");
  const weights = await own.parameter(NAME);
  await own.close();
  return {
    weights,
    directory,
    reports: reports.map(({ loss, gradNorm, microBatches, logprobs }) => ({
      loss,
      gradNorm,
      microBatches,
      logprobs,
    })),
  };
}

test("a trainer that divides with nobody trains as one alone does, and either reads the other's checkpoints", async () => {
  const alone = await threeSteps();
  const fast = await threeSteps({ stage: "optimizer" });
  const exact = await threeSteps({ stage: "optimizer", exact: true });
  expect(exact).toEqual({ ...(await threeSteps({ stage: "gradients" })), directory: exact.directory });
  for (const shared of [fast, exact]) {
    expect(shared.reports.map((r) => r.microBatches)).toEqual([3, 3, 3]);
    expect(shared.reports[0]!.logprobs).toEqual(alone.reports[0]!.logprobs);
    expect(shared.reports[0]!.loss).toBe(alone.reports[0]!.loss);
    for (const [i, weight] of shared.weights.entries()) expect(weight).toBeCloseTo(alone.weights[i]!, 5);
    expect(readdirSync(shared.directory)).toContain("optimizer.rank-0-of-1.safetensors");
    const plain = new Trainer(modelConfig, trainerOptions);
    await plain.load(shared.directory);
    expect(await plain.parameter(NAME)).toEqual(shared.weights);
    expect(plain.version).toBe(3);
    await plain.close();
  }
  const own = new Trainer(modelConfig, { ...trainerOptions, sharding: { stage: "gradients" } });
  await own.load(alone.directory);
  expect(await own.parameter(NAME)).toEqual(alone.weights);
  await own.close();
});

test("what cannot be divided is refused by name", () => {
  const made = (options: Partial<TrainerOptions>) => () =>
    new Trainer(modelConfig, { ...trainerOptions, ...options });
  const muon = { ...optimizer, kind: "muon" } as const;
  expect(made({ sharding: { stage: "gradients" }, optimizer: muon })).toThrow(/Muon updates whole matrices/);
  expect(made({ sharding: { stage: "weights" as never } })).toThrow(
    /sharding\.stage is "weights"; known: optimizer, gradients/,
  );
  const lora = { rank: 4, alpha: 8, targets: ["q_proj"], seed: 1n };
  expect(made({ sharding: { stage: "gradients" }, lora })).toThrow(/choose stage "optimizer"/);
});

test("initialize is a function of the seed", async () => {
  const other = new Trainer(modelConfig, trainerOptions);
  await other.initialize(11n);
  const first = await other.parameter(NAME);
  await other.initialize(12n);
  const second = await other.parameter(NAME);
  await other.initialize(11n);
  expect(second).not.toEqual(first);
  expect(await other.parameter(NAME)).toEqual(first);
  await other.close();
});

const good: TrainingBatch = {
  tokens: Int32Array.of(1, 2, 3, 4),
  cuSeqlens: Int32Array.of(0, 4),
  mask: Uint8Array.of(0, 0, 1, 1),
  behaviorLogprobs: new Float32Array(4).fill(-4),
  advantages: Float32Array.of(1),
};

test.each([
  ["tokens of another type", { tokens: [1] as never }, "HONE_ERR_SHAPE", /tokens must be an Int32Array/],
  ["a short mask", { mask: Uint8Array.of(1) }, "HONE_ERR_SHAPE", /mask has 1 entries, expected 4/],
  [
    "offsets that do not start at 0",
    { cuSeqlens: Int32Array.of(1, 4) },
    "HONE_ERR_SHAPE",
    /must start with 0/,
  ],
  [
    "offsets that do not ascend",
    { cuSeqlens: Int32Array.of(0, 3, 2, 4) },
    "HONE_ERR_SHAPE",
    /cuSeqlens\[2\]/,
  ],
  ["offsets beyond the tokens", { cuSeqlens: Int32Array.of(0, 5) }, "HONE_ERR_SHAPE", /ends at 5/],
  [
    "advantages per token",
    { advantages: new Float32Array(4) },
    "HONE_ERR_SHAPE",
    /advantages has 4 entries, expected 1/,
  ],
  ["a token outside the vocabulary", { tokens: Int32Array.of(1, 2, 3, 99) }, "HONE_ERR_SHAPE", /99/],
])("refuses %s", async (_, change, code, message) => {
  const call = async () => await trainer.score({ ...good, ...change }, 1);
  await expect(call()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

test("an unknown objective names the known ones", async () => {
  const call = async () => await trainer.step(good, { ...stepOptions, objective: "ppo" as never });
  await expect(call()).rejects.toThrow(/objective is "ppo"; known: gspo, grpo/);
});

test("resetting the optimizer keeps the weights", async () => {
  const before = await trainer.parameter(NAME);
  await trainer.resetOptimizer({ ...optimizer, kind: "muon" });
  expect(await trainer.parameter(NAME)).toEqual(before);
  await trainer.resetOptimizer(optimizer);
});

test("calls run in order and close rejects what has not begun", async () => {
  const other = new Trainer(modelConfig, trainerOptions);
  const calls = Array.from({ length: 20 }, (_, i) => other.initialize(BigInt(i)).then(() => i));
  const closed = other.close();
  const settled = await Promise.allSettled(calls);
  await closed;
  const firstRejected = settled.findIndex((s) => s.status === "rejected");
  if (firstRejected >= 0) {
    for (const s of settled.slice(firstRejected)) {
      expect(s).toMatchObject({ status: "rejected", reason: { code: "HONE_ERR_STATE" } });
    }
  }
  await expect(other.initialize(1n)).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  await other.close();
});
