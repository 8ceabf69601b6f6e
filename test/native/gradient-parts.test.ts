// Tests gradients of parts of a batch through the real addon; the C++ tests compare the numbers with references.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SlopesRequest } from "../../lib/custom-objective.ts";
import type { StepOptions, TrainingBatch } from "../../lib/native/face.ts";
import { Trainer } from "../../lib/native/index.ts";
import { CounterRandom } from "../../lib/random.ts";
import { askSlopes } from "../../lib/shared/objectives/slopes-function.ts";
import { gspo } from "../fixtures/custom-gspo.ts";
import { modelConfig, stepOptions, trainerOptions, VOCABULARY } from "./small-model.ts";

const LENGTHS = [9, 30, 14, 5, 22, 40];
const PART_OF = Int32Array.of(0, 1, 0, 2, 1, 2);
const NAME = "model.layers.1.self_attn.q_proj.weight";

function someBatch(): TrainingBatch {
  const random = new CounterRandom(5);
  const ends = LENGTHS.map((_, i) => LENGTHS.slice(0, i + 1).reduce((a, b) => a + b));
  const cuSeqlens = Int32Array.from([0, ...ends]);
  const total = ends.at(-1)!;
  const mask = new Uint8Array(total).fill(1);
  for (const begin of cuSeqlens.subarray(0, -1)) mask.fill(0, begin, begin + 3);
  return {
    tokens: Int32Array.from({ length: total }, () => random.int(0, VOCABULARY - 1)),
    cuSeqlens,
    mask,
    behaviorLogprobs: Float32Array.from({ length: total }, () => -4.1 + 0.1 * random.next()),
    advantages: Float32Array.from(LENGTHS, () => 2 * random.next() - 1),
    groupSizes: Int32Array.from(LENGTHS, () => 3),
    sequences: 9,
    groups: 2,
  };
}

const batch = someBatch();
const wide: StepOptions = { ...stepOptions, clipLow: 0.5, clipHigh: 0.5 };
const custom = (slopes: (request: SlopesRequest) => void): StepOptions => ({
  ...wide,
  objective: "custom",
  slopes,
});

let trainer: Trainer;
beforeAll(async () => {
  trainer = new Trainer(modelConfig, trainerOptions);
  await trainer.initialize(3n);
});
afterAll(() => trainer.close());

test("the products of all parts add up to the squared norm of the step's gradient, and leave no trace in the step", async () => {
  const { products, nonFiniteSequence, microBatches, seconds } = await trainer.gradientParts(
    batch,
    wide,
    PART_OF,
    3,
  );
  expect(products).toHaveLength(9);
  expect([nonFiniteSequence, microBatches]).toEqual([-1, 3]);
  expect(seconds).toBeGreaterThan(0);
  const untouched = new Trainer(modelConfig, trainerOptions);
  await untouched.initialize(3n);
  const [measured, plain] = [await trainer.step(batch, wide), await untouched.step(batch, wide)];
  const whole = products.reduce((sum, product) => sum + product, 0);
  expect(Math.sqrt(whole) / plain.gradNorm).toBeCloseTo(1, 6);
  expect(measured.gradNorm).toBe(plain.gradNorm);
  expect(await trainer.parameter(NAME)).toEqual(await untouched.parameter(NAME));
  expect(trainer.version).toBe(1);
  await untouched.close();
});

test("an objective of TypeScript gives the products of the built-in one that it is", async () => {
  const seen: number[] = [];
  const slopes = (request: SlopesRequest) => {
    seen.push(request.advantages.length, request.totalSequences);
    askSlopes(gspo, request, wide);
  };
  const own = await trainer.gradientParts(batch, custom(slopes), PART_OF, 3);
  const builtIn = await trainer.gradientParts(batch, wide, PART_OF, 3);
  expect(own.products).toEqual(builtIn.products);
  expect(seen).toEqual([2, 9, 2, 9, 2, 9]);
});

test("what such an objective throws is thrown, and the trainer goes on", async () => {
  const failure = new Error("no slopes today");
  const slopes = () => {
    throw failure;
  };
  await expect(trainer.gradientParts(batch, custom(slopes), PART_OF, 3)).rejects.toBe(failure);
  expect((await trainer.gradientParts(batch, wide, PART_OF, 3)).products[0]).toBeGreaterThan(0);
});

test("parts that do not fit the batch are refused", async () => {
  const refused = expect.objectContaining({ code: "HONE_ERR_SHAPE" });
  await expect(trainer.gradientParts(batch, wide, PART_OF.subarray(1), 3)).rejects.toEqual(refused);
  await expect(trainer.gradientParts(batch, wide, PART_OF, 2)).rejects.toEqual(refused);
  await expect(trainer.gradientParts(batch, wide, PART_OF, 0)).rejects.toEqual(refused);
});
