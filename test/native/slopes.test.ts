// The trainer's thread calls a custom objective's function on this thread.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import type { SlopesRequest } from "../../lib/custom-objective.ts";
import type { StepOptions, TrainingBatch } from "../../lib/native/face.ts";
import { Trainer } from "../../lib/native/index.ts";
import { CounterRandom } from "../../lib/random.ts";
import { askSlopes } from "../../lib/shared/objectives/slopes-function.ts";
import { gspo } from "../fixtures/custom-gspo.ts";
import { modelConfig, optimizer, stepOptions, trainerOptions, VOCABULARY } from "./small-model.ts";

const NAMES = ["model.layers.1.self_attn.q_proj.weight", "model.embed_tokens.weight"];

/** Sequences of different lengths with log-probs near and far from the policy's and advantages of both signs. */
function someBatch(): TrainingBatch {
  const random = new CounterRandom(5);
  const lengths = [9, 30, 14, 5, 22, 40, 11];
  const total = lengths.reduce((a, b) => a + b);
  const cuSeqlens = Int32Array.from([
    0,
    ...lengths.map((_, i) => lengths.slice(0, i + 1).reduce((a, b) => a + b)),
  ]);
  const mask = new Uint8Array(total).fill(1);
  for (const begin of cuSeqlens.subarray(0, -1)) mask.fill(0, begin, begin + 3);
  return {
    tokens: Int32Array.from({ length: total }, () => random.int(0, VOCABULARY - 1)),
    cuSeqlens,
    mask,
    behaviorLogprobs: Float32Array.from({ length: total }, () => -4.1 + 0.1 * random.next()),
    referenceLogprobs: Float32Array.from({ length: total }, () => -4.1 + 0.3 * random.next()),
    advantages: Float32Array.from(lengths, () => 2 * random.next() - 1),
    groupSizes: Int32Array.from(lengths, () => 7),
    sequences: 9,
    groups: 2,
  };
}

async function trainerOf(packedTokens = 64): Promise<Trainer> {
  const trainer = new Trainer(modelConfig, { ...trainerOptions, optimizer, packedTokens });
  await trainer.initialize(3n);
  return trainer;
}
const weightsOf = async (trainer: Trainer) =>
  Promise.all(
    NAMES.map(async (name) => Buffer.from((await trainer.parameter(name)).buffer).toString("base64")),
  );

const custom = (change: Partial<StepOptions> = {}, seen: SlopesRequest[] = []): StepOptions => {
  const options = { ...stepOptions, clipLow: 0.02, clipHigh: 0.03, ...change, objective: "custom" as const };
  const slopes = (request: SlopesRequest) => {
    seen.push(request);
    askSlopes(gspo, request, options);
  };
  return { ...options, slopes };
};

test.each([
  ["plain", {}],
  ["by length", { sequenceWeight: "length" as const }],
  ["with KL and entropy terms", { klCoef: 0.3, entropyCoef: 0.02 }],
])("GSPO written in TypeScript gives the weights of the built-in one to the bit, %s", async (_, change) => {
  const [own, other] = await Promise.all([trainerOf(), trainerOf()]);
  const batch = someBatch();
  const seen: SlopesRequest[] = [];
  const clipped: number[] = [];
  for (let step = 0; step < 3; step++) {
    const built = await own.step(batch, { ...custom(change), objective: "gspo", slopes: undefined } as never);
    const asked = await other.step(batch, custom(change, seen));
    clipped.push(built.clipped.reduce((n, c) => n + c, 0));
    expect(asked.logprobs).toEqual(built.logprobs);
    expect(asked.microBatches).toBeGreaterThan(2);
    expect(asked.loss).toBeCloseTo(built.loss, 14);
    expect(asked.policyLoss).toBeCloseTo(built.policyLoss, 14);
    expect(await weightsOf(other)).toEqual(await weightsOf(own));
  }
  expect(clipped.some((n) => n > 0 && n < 110)).toBe(true);
  expect(seen).toHaveLength(3 * (await own.step(batch, { ...stepOptions })).microBatches);
  await Promise.all([own.close(), other.close()]);
});

test("it is asked once a micro-batch, about the counted tokens alone, with the step's totals", async () => {
  const trainer = await trainerOf();
  const batch = someBatch();
  const seen: SlopesRequest[] = [];
  const report = await trainer.step(batch, custom({}, seen));
  expect(seen).toHaveLength(report.microBatches);
  const counted = [...batch.mask].filter(Boolean).length;
  expect(seen.reduce((n, { logprobs }) => n + logprobs.length, 0)).toBe(counted);
  for (const request of seen) {
    expect(request).toMatchObject({ totalSequences: 9, totalGroups: 2, totalTokens: counted });
    expect(request.sequences.at(-1)).toBe(request.logprobs.length);
    expect([request.advantages.length, request.groupSizes!.length]).toEqual(
      new Array(2).fill(request.sequences.length - 1),
    );
  }
  const reported = new Set([...report.logprobs].filter((_, t) => batch.mask[t]));
  expect(new Set(seen.flatMap(({ logprobs }) => [...logprobs]))).toEqual(reported);
  await trainer.close();
});

test("what it throws is what the step rejects with; weights, moments and version are those before", async () => {
  const [trainer, fresh] = await Promise.all([trainerOf(), trainerOf()]);
  const batch = someBatch();
  const failure = new Error("not today");
  for (const at of [0, 1]) {
    let calls = 0;
    const slopes = (request: SlopesRequest) => {
      if (calls++ === at) throw failure;
      askSlopes(gspo, request, stepOptions as never);
    };
    const before = await weightsOf(trainer);
    await expect(trainer.step(batch, { ...custom(), slopes })).rejects.toBe(failure);
    expect([trainer.version, await weightsOf(trainer)]).toEqual([0, before]);
  }
  await trainer.step(batch, custom());
  await fresh.step(batch, custom());
  expect(await weightsOf(trainer)).toEqual(await weightsOf(fresh));
  await Promise.all([trainer.close(), fresh.close()]);
});

test("memory given away, no function, and a correction are typed errors; log-probs that are not finite are not asked about", async () => {
  const trainer = await trainerOf();
  const batch = someBatch();
  const slopes = ({ out }: SlopesRequest) =>
    void structuredClone(out, { transfer: [out.buffer as ArrayBuffer] });
  await expect(trainer.step(batch, { ...custom(), slopes })).rejects.toMatchObject({
    code: "HONE_ERR_SHAPE",
    message: expect.stringContaining("out has 0 entries after the call, expected"),
  });
  const config = { code: "HONE_ERR_CONFIG" };
  await expect(trainer.step(batch, { ...stepOptions, objective: "custom" })).rejects.toMatchObject(config);
  await expect(trainer.step(batch, { ...custom(), slopes: 3 as never })).rejects.toThrow();
  const correction = { kind: "tis" as const, low: 0, high: 2 };
  await expect(trainer.step(batch, { ...custom(), correction })).rejects.toMatchObject(config);
  await trainer.step(batch, { ...stepOptions, lr: 2e38 });
  await trainer.step(batch, { ...stepOptions, lr: 2e38 }).catch(() => {});
  const seen: SlopesRequest[] = [];
  const report = await trainer.step(batch, custom({}, seen));
  const { nonFiniteSequence } = await trainer.step(batch, stepOptions);
  expect(report).toMatchObject({ skipped: true, nonFiniteSequence });
  expect(seen.length).toBeLessThan(report.microBatches);
  expect(seen.every(({ logprobs }) => logprobs.every(Number.isFinite))).toBe(true);
  await trainer.close();
});

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ASKED = `
  const native = require("node-gyp-build")(${JSON.stringify(ROOT)});
  const trainer = new native.NativeTrainer(${JSON.stringify(modelConfig)}, ${JSON.stringify(trainerOptions)});
  const batch = { tokens: new Int32Array(40).fill(3), mask: new Uint8Array(40).fill(1, 1), cuSeqlens: Int32Array.of(0, 40),
    advantages: Float32Array.of(1), behaviorLogprobs: new Float32Array(40).fill(-4) };
  const step = (slopes) => trainer.step(batch, { ...${JSON.stringify(stepOptions)}, objective: "custom", slopes });
  trainer.initialize(1n);
`;

test.each([
  ["it ends the process", "step(() => process.exit(7))", 7],
  ["the trainer is closed meanwhile", "step(() => { trainer.close().then(() => process.exit(8)) })", 8],
  [
    "the garbage is collected meanwhile",
    "step(() => { gc(); gc() }).then(() => { gc(); process.exit(9) })",
    9,
  ],
  [
    "nobody waits for it",
    "step(({ out }) => { out.fill(1) }); process.on('exit', () => { process.exitCode = 4 })",
    4,
  ],
])("the process ends where %s", (_, script, status) => {
  const run = spawnSync(process.execPath, ["--expose-gc", "--input-type=commonjs", "-e", ASKED + script], {
    cwd: ROOT,
    encoding: "utf8",
    timeout: 60_000,
  });
  expect({ status: run.status, signal: run.signal, stderr: run.stderr }).toEqual({
    status,
    signal: null,
    stderr: "",
  });
});

test("a worker thread that is terminated while it is asked ends", async () => {
  const asked = `${ASKED} const { parentPort } = require("node:worker_threads");
    step(() => { parentPort.postMessage("asked"); for (;;); });`;
  for (let i = 0; i < 3; i++) {
    const worker = new Worker(asked, { eval: true });
    await new Promise((resolve) => worker.once("message", resolve));
    expect(await worker.terminate()).toBe(1);
  }
});
