import { expect, test } from "vitest";
import { overrideRecipe, type Recipe } from "../../lib/config/index.ts";
import { PUBLISHED_CONFIGS } from "../../lib/inference/index.ts";
import { sizesOf } from "../../lib/plan/buffers.ts";
import {
  cpuActor,
  cpuRows,
  cpuTrainerAlone,
  evaluationRow,
  gpuTrainer,
  gradientRow,
  hostMoments,
  KEY_VALUES,
  type MemoryRow,
  saidRow,
  stagedRow,
} from "../../lib/plan/rows.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const TINY = JSON.stringify(PUBLISHED_CONFIGS["Qwen/Qwen3-0.6B"]);
const small = (...settings: string[]) => overrideRecipe(smallRecipe(), settings);
const sum = (rows: readonly MemoryRow[]) => rows.reduce((total, { bytes }) => total + bytes, 0);
const trainer = (recipe: Recipe) => gpuTrainer(recipe, sizesOf(recipe, TINY, "cuda", 1), 1);
const bytesOf = (rows: readonly MemoryRow[], name: RegExp) =>
  rows.find((row) => name.test(row.name))?.bytes ?? 0;

test("the first packing of a frozen base has an embedding in f32 beside it, as far as nothing later takes as much", () => {
  const row = /packed for the first time/;
  const [adapted, long] = [small("lora.rank=8"), small("lora.rank=8", "training.packedTokens=20000")];
  const sizes = sizesOf(adapted, TINY, "cuda", 1);
  const later =
    sizes.trained + sizes.moments + sizes.activations + sizes.trainingScratch + sizes.logits + sizes.arrays;
  const embedding = 151_936 * 1024 * 4;
  expect(later).toBeGreaterThan(0);
  expect(bytesOf(trainer(adapted), row)).toBe(Math.max(0, embedding - later));
  expect(bytesOf(trainer(long), row)).toBe(0);
  expect(bytesOf(trainer(small()), row)).toBe(0);
});

test("a teacher is counted by its own sizes, as a trainer that only scores", () => {
  const large = JSON.stringify(PUBLISHED_CONFIGS["Qwen/Qwen3-4B"]);
  const row = /^teacher, a trainer/;
  for (const device of ["cpu", "cuda"] as const) {
    const rowsOf = (sizes: ReturnType<typeof sizesOf>) =>
      device === "cpu" ? cpuRows(small(), sizes) : gpuTrainer(small(), sizes, 1);
    const without = sizesOf(small(), TINY, device, 1);
    const sizes = sizesOf(small(), { config: TINY, teacher: large }, device, 1);
    const alone = sizesOf(small(), large, device, 1);
    expect(bytesOf(rowsOf(without), row)).toBe(0);
    expect(bytesOf(rowsOf(sizes), row)).toBe(
      alone.parameters +
        alone.snapshot +
        alone.activations +
        alone.trainingScratch +
        alone.logits +
        alone.arrays,
    );
    expect(sum(rowsOf(sizes)) - sum(rowsOf(without))).toBe(bytesOf(rowsOf(sizes), row));
    const adapted = sizesOf(small("lora.rank=8"), { config: TINY, teacher: large }, device, 1);
    expect(adapted.teacher, "a teacher has no adapters").toBe(sizes.teacher);
  }
});

test("whole distributions take a head, a chunk of logits and a micro-batch's rows; a step's are in host memory", () => {
  const large = JSON.stringify(PUBLISHED_CONFIGS["Qwen/Qwen3-4B"]);
  const [width, vocabulary] = [2560, 151_936];
  const extra = (device: "cpu" | "cuda", divergence?: object) => {
    const plain = small();
    const teacher = { folder: "./t", coef: 1, rewardCoef: 0 };
    const of = (more: object) =>
      sizesOf(
        { ...plain, teacher: { ...teacher, ...more } } as typeof plain,
        { config: TINY, teacher: large },
        device,
        1,
      );
    const with_ = of({ divergence: { beta: 0.5, ...divergence } });
    return { here: with_.teacher - of({}).teacher, host: with_.said };
  };
  const { training, rollouts } = small();
  const tokens = training.groupsPerStep * rollouts.groupSize * rollouts.maxOutputTokens;
  const packed = Math.max(training.packedTokens, rollouts.maxPromptTokens + rollouts.maxOutputTokens);
  expect(extra("cuda")).toEqual({
    here: 4 * vocabulary * (width + 2 * 256) + 2 * packed * width,
    host: 8 * tokens * width,
  });
  expect(extra("cuda", { topK: 20 })).toEqual({
    here: 4 * vocabulary * 256 + 8 * packed * 20,
    host: 8 * tokens * 40,
  });
  expect(extra("cpu")).toEqual({
    here: 4 * vocabulary * (width + 168) + 4 * packed * width + 8 * tokens * width,
    host: 0,
  });
  const full = small("objective.kind=dapo", "objective.klCoef=0.1", "objective.klEstimator=full");
  const row = /^distributions of the reference$/;
  const here = 4 * vocabulary * (1024 + 2 * 256) + 2 * packed * 1024;
  expect(bytesOf(gpuTrainer(full, sizesOf(full, TINY, "cuda", 1), 1), row)).toBe(here);
  expect(saidRow(sizesOf(full, TINY, "cuda", 1)).bytes).toBe(8 * tokens * 1024);
});

test("a checkpoint on its way is weights and moments once more, wherever they lie; of adapters theirs alone", () => {
  const staged = (device: "cpu" | "cuda", ...settings: string[]) => {
    const recipe = small(...settings);
    return stagedRow(recipe, sizesOf(recipe, TINY, device, 1)).bytes;
  };
  expect(staged("cpu")).toBe(12 * 596_049_920);
  expect(staged("cpu", "optimizer.moments=bf16")).toBe(8 * 596_049_920);
  expect(staged("cuda", "hardware.optimizerMemory=host")).toBe(12 * 596_049_920);
  const sizes = sizesOf(small("lora.rank=8"), TINY, "cpu", 1);
  expect(staged("cpu", "lora.rank=8")).toBe(sizes.trained + sizes.moments);
  expect(staged("cpu", "lora.rank=8")).toBeLessThan(12 * 596_049_920 * 0.05);
  expect(staged("cpu", "checkpoint.async=false")).toBe(0);
  expect(bytesOf(cpuRows(small(), sizesOf(small(), TINY, "cpu", 1)), /checkpoint on its way/)).toBe(
    staged("cpu"),
  );
  // three ranks together hold it once, up to the remainder of the division by three
  const divided = small("hardware.processes.actors=1", "hardware.processes.trainers=3");
  const each = cpuTrainerAlone(divided, sizesOf(divided, TINY, "cpu", 1, 3), 3);
  const together = 3 * bytesOf(each, /checkpoint on its way/);
  expect(together / staged("cpu")).toBeCloseTo(1, 5);
});

test("with adapters a GPU keeps no f32 weight of the base", () => {
  expect(bytesOf(trainer(small()), /^master weights/)).toBe(596_049_920 * 4);
  expect(bytesOf(trainer(small("lora.rank=8")), /^master weights/)).toBe(0);
});

test("an actor of adapters holds the base once, and two versions share what no adapter changes", () => {
  const [plain, adapted] = [small(), small("lora.rank=8")];
  const [of, sizes] = [sizesOf(plain, TINY, "cpu", 1), sizesOf(adapted, TINY, "cpu", 1)];
  const arriving = /^weights as they arrive/;
  expect(bytesOf(cpuActor(plain, of), /^frozen base|^adapters/)).toBe(0);
  expect(bytesOf(cpuActor(plain, of), arriving)).toBe(of.snapshot);
  const rows = cpuActor(adapted, sizes);
  expect(bytesOf(rows, /^frozen base, f32/)).toBe(596_049_920 * 4);
  expect(bytesOf(rows, /^adapters/)).toBe(sizes.adapters);
  const embedding = 151_936 * 1024 * 4;
  expect(sizes.snapshot - bytesOf(rows, arriving)).toBeGreaterThanOrEqual(embedding);
});

test("moments in bf16 are half of those in f32, also of adapters; a warm start keeps f32", () => {
  const moments = (type: string, ...settings: string[]) =>
    bytesOf(
      trainer(small(`optimizer.moments=${type}`, ...settings)),
      new RegExp(`^optimizer moments, ${type}$`),
    );
  expect(moments("f32")).toBe(8 * 596_049_920);
  expect(moments("bf16")).toBe(4 * 596_049_920);
  expect(moments("bf16", "lora.rank=8")).toBe(moments("f32", "lora.rank=8") / 2);
  expect(moments("bf16", "lora.rank=8")).toBeGreaterThan(0);
  const warm = small("optimizer.moments=bf16", "warmStart.steps=1", 'warmStart.mixture={"math":1}');
  expect(bytesOf(trainer(warm), /^optimizer moments, f32$/)).toBe(8 * 596_049_920);
  const onCpu = cpuRows(
    small("optimizer.moments=bf16"),
    sizesOf(small("optimizer.moments=bf16"), TINY, "cpu", 2),
  );
  expect(bytesOf(onCpu, /^optimizer moments, bf16$/)).toBe(4 * 596_049_920);
});

test("moments on the host take windows of the card and the host's memory, twice with an evaluation beside training", () => {
  const host = small("hardware.optimizerMemory=host");
  const sizes = sizesOf(host, TINY, "cuda", 1);
  const there = sizesOf(small(), TINY, "cuda", 1);
  expect([sizes.moments, sizes.hostMoments, there.hostMoments]).toEqual([0, 8 * 596_049_920, 0]);
  // Three windows for both moments of 4 Mi weights.
  expect(sizes.arrays - there.arrays).toBe(3 * 2 * 4 * 2 ** 22);
  expect(bytesOf(trainer(host), /^optimizer moments/)).toBe(0);
  const beside = overrideRecipe(host, ["evaluation.everySteps=2"]);
  expect(hostMoments(host, sizes)).toMatchObject({
    name: "optimizer moments, f32, page-locked",
    bytes: 8 * 596_049_920,
  });
  expect(hostMoments(beside, sizes).bytes).toBe(16 * 596_049_920);
  const half = small("hardware.optimizerMemory=host", "optimizer.moments=bf16");
  expect(hostMoments(half, sizesOf(half, TINY, "cuda", 1))).toMatchObject({
    name: "optimizer moments, bf16, page-locked",
    bytes: 4 * 596_049_920,
  });
  expect(sizesOf(host, TINY, "cpu", 2)).toEqual(sizesOf(small(), TINY, "cpu", 2));
  const muon = small(
    "hardware.optimizerMemory=host",
    "warmStart.steps=1",
    'warmStart.mixture={"math":1}',
    'warmStart.optimizer="muon"',
  );
  expect(sizesOf(muon, TINY, "cuda", 1)).toMatchObject({ hostMoments: 0, moments: 8 * 596_049_920 });
});

test("a reference policy on one card is a second trainer without gradients and moments", () => {
  const recipe = small("objective.klCoef=0.1");
  const { parameters, snapshot, activations, trainingScratch, logits, arrays } = sizesOf(
    recipe,
    TINY,
    "cuda",
    1,
  );
  const whole = parameters + snapshot + activations + trainingScratch + logits + arrays;
  expect(bytesOf(trainer(recipe), /^reference policy/)).toBe(whole);
});

test("an evaluation beside training is another engine, and a trainer to read the checkpoint", () => {
  const [without, beside] = [small(), small("evaluation.everySteps=2")];
  const s = sizesOf(beside, TINY, "cuda", 1);
  expect(evaluationRow(without, s).bytes).toBe(0);
  const trainerBytes = s.parameters + s.moments + s.snapshot;
  expect(evaluationRow(beside, s).bytes).toBe(trainerBytes + s.snapshot + s.keyValues + s.engineScratch);
  const onCpu = sizesOf(beside, TINY, "cpu", 2);
  expect(sum(cpuRows(beside, onCpu)) - sum(cpuRows(without, onCpu))).toBe(evaluationRow(beside, onCpu).bytes);
});

test("of gradients of domains all but one are kept: two a domain that is trained, or one without the noise scale", () => {
  const gradients = (...settings: string[]) => {
    const recipe = small("metrics.gradients.everySteps=5", ...settings);
    return gradientRow(recipe, sizesOf(recipe, TINY, "cpu", 2)).bytes / (596_049_920 * 4);
  };
  expect(gradientRow(small(), sizesOf(small(), TINY, "cpu", 2)).bytes).toBe(0);
  expect(Object.keys(small().domains)).toHaveLength(3);
  expect(gradients()).toBeCloseTo(5, 5);
  expect(gradients("metrics.gradients.noiseScale=false")).toBeCloseTo(2, 5);
  expect(gradients("domains.code.weight=0")).toBeCloseTo(3, 5);
  expect(gradients("training.groupsPerStep=1")).toBeCloseTo(1, 5);
  const rows = cpuRows(small("metrics.gradients.everySteps=5"), sizesOf(small(), TINY, "cpu", 2));
  expect(bytesOf(rows, /^gradients of domains/) / (596_049_920 * 4)).toBeCloseTo(5, 5);
});

test("keys and values are one row, and every row has a name of its own", () => {
  const rows = cpuRows(small(), sizesOf(small(), TINY, "cpu", 2));
  expect(bytesOf(rows, new RegExp(`^${KEY_VALUES}$`))).toBe(sizesOf(small(), TINY, "cpu", 2).keyValues);
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
});

test("an evaluation beside training takes the scratch of its own budget's contexts", () => {
  const trained = ["engine.pages=4096", "model.config.maxPositions=20000"];
  const beside = (...settings: string[]) => small("evaluation.everySteps=1", ...trained, ...settings);
  const sizes = (recipe: Recipe) => sizesOf(recipe, TINY, "cuda", 1);
  const longer = beside("evaluation.maxTokens=9000");
  const asTrained = beside("rollouts.maxOutputTokens=9000");
  expect(sizes(longer).evaluationScratch).toBe(sizes(asTrained).engineScratch);
  expect(sizes(longer).engineScratch).toBe(sizes(beside()).engineScratch);
  const more = sizes(longer).evaluationScratch - sizes(longer).engineScratch;
  expect(more).toBeGreaterThan(0);
  expect(evaluationRow(longer, sizes(longer)).bytes - evaluationRow(beside(), sizes(beside())).bytes).toBe(
    more,
  );
});
