// Trainers in separate processes, over Gloo, give the same losses, norms and weights as one trainer in this process.
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { ShardingOptions, StepReport, TrainerOptions, TrainingBatch } from "../../lib/native/face.ts";
import { info, Trainer } from "../../lib/native/index.ts";
import { long, longest } from "../long.ts";
import { rankProcesses, resultsOf } from "../native/processes.ts";
import { modelConfig, stepOptions, trainerOptions } from "../native/small-model.ts";

const folder = mkdtempSync(path.join(tmpdir(), "hone-shards-"));
afterAll(() => rmSync(folder, { recursive: true }));

const NAME = "model.layers.0.self_attn.q_proj.weight";
const STEPS = 20;
const options: TrainerOptions = { ...trainerOptions, packedTokens: 16, device: "cpu" };
const supervised = { ...stepOptions, objective: "supervised", lr: 1e-3 } as const;

/** A batch of nine sequences of 4 to 11 tokens. The other processes run the source text of this function too. */
function batchOf(step: number): TrainingBatch {
  const lengths = Array.from({ length: 9 }, (_, i) => 4 + ((step * 5 + i * 3) % 8));
  const starts = lengths.reduce((all, n) => all.concat(all.at(-1)! + n), [0]);
  const total = starts.at(-1)!;
  return {
    tokens: Int32Array.from({ length: total }, (_, t) => (t * 17 + step * 29 + ((t * t) % 7)) % 61),
    cuSeqlens: Int32Array.from(starts),
    mask: Uint8Array.from({ length: total }, (_, t) => (starts.includes(t) ? 0 : 1)),
  };
}

interface Course {
  readonly weights: Float32Array;
  readonly reports: readonly Pick<
    StepReport,
    "loss" | "gradNorm" | "updateNorm" | "weightNorm" | "microBatches" | "logprobs"
  >[];
}

/**
 * The source of a function of NativeTrainer's class, options and rank that trains 20 steps and returns the reports
 * and weights.
 */
const COURSE = `
  const trainer = new native.NativeTrainer(config, options);
  await trainer.initialize(3n);
  const reports = [];
  for (let step = 0; step < ${STEPS}; step++) {
    const { loss, gradNorm, updateNorm, weightNorm, microBatches, logprobs } = await trainer.step(batchOf(step), stepOptions);
    reports.push({ loss, gradNorm, updateNorm, weightNorm, microBatches, logprobs });
  }
  if (directory) await trainer.save(directory, "{}");
  const weights = await trainer.parameter(${JSON.stringify(NAME)});
  await trainer.close();
  return { weights, reports };
`;

function script(sharding: ShardingOptions, directory = "", body = COURSE): string {
  return `const batchOf = ${batchOf.toString()};
    const config = ${JSON.stringify(modelConfig)}, directory = ${JSON.stringify(directory)};
    const stepOptions = ${JSON.stringify(supervised)};
    const options = { ...${JSON.stringify(options)}, sharding: { ...${JSON.stringify(sharding)}, communicator: group } };
    ${body}`;
}

async function alone(sharding?: ShardingOptions): Promise<Course> {
  const trainer = new Trainer(modelConfig, { ...options, ...(sharding && { sharding }) });
  await trainer.initialize(3n);
  const reports: Course["reports"][number][] = [];
  for (let step = 0; step < STEPS; step++) {
    const report = await trainer.step(batchOf(step), supervised);
    const { loss, gradNorm, updateNorm, weightNorm, microBatches, logprobs } = report;
    reports.push({ loss, gradNorm, updateNorm, weightNorm, microBatches, logprobs });
  }
  const weights = await trainer.parameter(NAME);
  await trainer.close();
  return { weights, reports };
}

async function together(size: number, sharding: ShardingOptions, directory = ""): Promise<Course[]> {
  const results = await resultsOf(size, script(sharding, directory));
  return results.map((result) => {
    expect(result?.error).toBeUndefined();
    return result!.value as Course;
  });
}

/** |a - b| / |b| in the Euclidean norm. */
function distance(a: Float32Array, b: Float32Array): number {
  const norm = (values: number[]) => Math.hypot(...values);
  return norm(Array.from(a, (x, i) => x - b[i]!)) / norm([...b]);
}

describe.skipIf(info().gloo.version === null)("trainers over Gloo", () => {
  test.each([2, 3, 4])("%i of them end within 1e-5 of one, and all with the same bits", async (size) => {
    const [one, ranks] = [await alone(), await together(size, { stage: "optimizer" })];
    for (const rank of ranks) expect(rank).toEqual(ranks[0]);
    expect(distance(ranks[0]!.weights, one.weights)).toBeLessThanOrEqual(1e-5);
    for (const [step, report] of ranks[0]!.reports.entries()) {
      const wanted = one.reports[step]!;
      expect(report.microBatches).toBe(wanted.microBatches);
      expect(distance(report.logprobs, wanted.logprobs)).toBeLessThanOrEqual(1e-5);
      for (const name of ["loss", "gradNorm", "updateNorm", "weightNorm"] as const) {
        expect(Math.abs(report[name] / wanted[name] - 1)).toBeLessThanOrEqual(1e-5);
      }
    }
  });

  test.runIf(longest)(
    "ranks that have micro-batches together have the bits of one process that adds up as they do",
    async () => {
      const sharding = { stage: "optimizer", exact: true, sequence: 2 } as const;
      const one = await alone(sharding);
      expect(await together(2, sharding)).toEqual([one, one]);
      expect(await together(4, { ...sharding, stage: "parameters" })).toEqual([one, one, one, one]);
      const plain = await alone();
      expect(one.reports[0]!.microBatches).toBeLessThan(plain.reports[0]!.microBatches);
      expect(distance(one.weights, plain.weights)).toBeLessThanOrEqual(1e-5);
    },
  );

  test.runIf(long)(
    "the exact mode, divided gradients and divided weights have the bits of one process",
    async () => {
      const one = await alone({ stage: "optimizer", exact: true });
      expect(await together(3, { stage: "optimizer", exact: true })).toEqual([one, one, one]);
      expect(await together(2, { stage: "gradients" })).toEqual([one, one]);
      expect(await together(3, { stage: "parameters" })).toEqual([one, one, one]);
    },
  );

  test("they score together, with the bits of one", async () => {
    const trainer = new Trainer(modelConfig, options);
    await trainer.initialize(3n);
    const scores = await trainer.score(batchOf(0), 1);
    await trainer.close();
    const body = `const trainer = new native.NativeTrainer(config, options);
      await trainer.initialize(3n);
      const scores = await trainer.score(batchOf(0), 1);
      await trainer.close();
      return scores;`;
    const results = await resultsOf(3, script({ stage: "optimizer" }, "", body));
    expect(results).toEqual(Array(3).fill({ value: scores }));
  });

  test("a checkpoint that three processes wrote is read by one", async () => {
    const directory = path.join(folder, "three");
    const [rank] = await together(3, { stage: "gradients" }, directory);
    expect(readdirSync(directory).filter((name) => name.startsWith("optimizer.rank-"))).toHaveLength(3);
    const trainer = new Trainer(modelConfig, options);
    await trainer.load(directory);
    expect(await trainer.parameter(NAME)).toEqual(rank!.weights);
    expect(trainer.version).toBe(STEPS);
    await trainer.close();
  });

  test("a rank that is killed is noticed by the others in their next step", async () => {
    const endless = `const trainer = new native.NativeTrainer(config, options);
      await trainer.initialize(3n);
      for (let step = 0; ; step++) {
        await trainer.step(batchOf(step % 20), stepOptions);
        if (rank === 1 && step === 2) process.kill(process.pid, "SIGKILL");
      }`;
    const ranks = await rankProcesses(3, script({ stage: "optimizer", exact: true }, "", endless));
    await once(ranks[1]!.child, "exit");
    expect(await ranks[1]!.result).toBeUndefined();
    for (const rank of [0, 2]) {
      expect(await ranks[rank]!.result).toMatchObject({ error: { code: "HONE_ERR_COLLECTIVE" } });
    }
  });
});

test("only a communicator is a group", () => {
  const sharding = { stage: "optimizer", communicator: {} as never } as const;
  expect(() => new Trainer(modelConfig, { ...options, sharding })).toThrow(/communicator/);
});
