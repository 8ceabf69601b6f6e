import { expect, test } from "vitest";
import { miniBatches, updateData, updatePolicy } from "../../../lib/orchestration/pipeline/policy-updates.ts";
import { stepOptions } from "../../../lib/orchestration/pipeline/step-trainer.ts";
import { taughtBatch } from "../../../lib/orchestration/pipeline/teacher-advantages.ts";
import { assembleBatch } from "../../../lib/orchestration/pipeline/training-batch.ts";
import { rolloutOf, settledOf } from "../pipeline-accounting.ts";
import { smallRecipe } from "../small-recipe.ts";
import { StandInTrainer, standInCore } from "../stand-in-core.ts";

/** Five kept groups of two rollouts, and one that a hook dropped; group g has the tokens 10 g, 10 g + 1, 10 g + 2. */
const groups = [0, 1, 2, 3, 4, 5].map((g) =>
  settledOf(
    g,
    [rolloutOf([g], [10 * g, 10 * g + 1], 0.5), rolloutOf([g], [10 * g + 2], -0.5)],
    g === 2 ? "hook" : undefined,
  ),
);
const options = stepOptions(smallRecipe({ steps: 1 }), 1e-3);
const batchOf = (updatesPerBatch: number, epochs: number) => ({
  groups,
  whole: assembleBatch(groups, 80),
  options: { ...options, muonLr: 0 },
  rule: { updatesPerBatch, epochs },
  maxOutputTokens: 80,
});

test("kept groups are divided into neighbours, each group once, sizes one apart at most", () => {
  const parts = miniBatches(groups, 2, 80);
  expect(parts.map(({ batch }) => [...batch.data.tokens])).toEqual([
    [0, 0, 1, 0, 2, 1, 10, 11, 1, 12],
    [3, 30, 31, 3, 32, 4, 40, 41, 4, 42, 5, 50, 51, 5, 52],
  ]);
  expect(parts.map(({ firstSequence, firstToken }) => [firstSequence, firstToken])).toEqual([
    [0, 0],
    [4, 10],
  ]);
  expect(parts.map(({ batch: { data } }) => [data.groups, data.sequences])).toEqual([
    [2, 4],
    [3, 6],
  ]);
  expect(miniBatches(groups, 9, 80)).toHaveLength(5);
});

test("a run of groups whose rollouts are all masked is left out, and the others keep their places", () => {
  const masked = settledOf(9, [{ ...rolloutOf([9], [90], 1), masked: true }]);
  const parts = miniBatches([groups[0]!, masked, groups[1]!], 3, 80);
  expect(parts.map(({ batch, firstToken }) => [batch.data.tokens[0], firstToken])).toEqual([
    [0, 0],
    [1, 5],
  ]);
});

test("one update is one call, with the engine that takes the weights", async () => {
  const trainer = new StandInTrainer({});
  const { report, updates } = await updatePolicy(batchOf(1, 1), trainer);
  expect(updates).toBeUndefined();
  expect(report.trainedTokens).toBe(15);
  expect(trainer.steps[0]).not.toHaveProperty("proximalLogprobs");
});

const engine = () => standInCore().engine("", { maxRunning: 1, pages: 1 } as never, {} as never);

/** A trainer whose weights change: each score and each report gives the number of updates before it. */
function movingTrainer(skip: readonly number[] = []) {
  const asked: { keeps: boolean | undefined; old: Float32Array | undefined }[] = [];
  const trainer = new StandInTrainer({
    onStep: (batch, { keepsVersion }, n) => {
      asked.push({ keeps: keepsVersion, old: batch.proximalLogprobs });
      const ratios = new Float32Array(batch.tokens.length).fill(1 + n);
      const first = batch.tokens[0]!;
      return skip.includes(n)
        ? { skipped: true, nonFiniteSequence: 1, ratios }
        : { loss: n, gradNorm: 10 * n, ratios, clipped: new Uint8Array(batch.tokens.length).fill(first) };
    },
  });
  trainer.version = 6;
  trainer.score = async (batch) => ({
    logprobs: Float32Array.from(batch.tokens, (token) => token - 100 * asked.length),
    entropies: new Float32Array(batch.tokens.length),
  });
  return { trainer, asked };
}

test("several updates have the log-probs before the first, one version and one publication", async () => {
  const { trainer, asked } = movingTrainer();
  const taken: number[] = [];
  trainer.publish = async () => taken.push(trainer.version);
  const { report, updates } = await updatePolicy(batchOf(2, 2), trainer, engine());
  expect(asked.map(({ keeps }) => keeps)).toEqual([true, true, true, undefined]);
  expect(asked.map(({ old }) => old!.length)).toEqual([10, 15, 10, 15]);
  expect([...asked[2]!.old!]).toEqual([...asked[0]!.old!]);
  expect(asked[3]!.old![1]).toBe(30);
  expect(trainer.version).toBe(7);
  expect(taken).toEqual([7]);
  expect(updates!.map(({ epoch, groups: g, loss }) => [epoch, g, loss])).toEqual([
    [0, 2, 0],
    [0, 3, 1],
    [1, 2, 2],
    [1, 3, 3],
  ]);
  expect(report).toMatchObject({ loss: 1.5, gradNorm: 15, trainedTokens: 30, skipped: false });
  expect([report.ratios[0], report.ratios[10]]).toEqual([3, 4]); // the ratios of the last epoch
  expect([report.clipped[0], report.clipped[24]]).toEqual([0, 3]);
  expect(report.logprobs[11]).toBe(30);
});

test("where the last update is skipped, those before it are published all the same", async () => {
  const { trainer } = movingTrainer([1]);
  const taken: number[] = [];
  trainer.publish = async () => taken.push(trainer.version);
  const { report } = await updatePolicy(batchOf(2, 1), trainer, engine());
  expect(report).toMatchObject({ skipped: false, loss: 0, nonFiniteSequence: 5 });
  expect(trainer.version).toBe(7);
  expect(taken).toEqual([7]);
});

test("where every update is skipped, so is the step", async () => {
  const { trainer } = movingTrainer([0, 1]);
  trainer.publish = () => Promise.reject(new Error("nothing changed"));
  const { report } = await updatePolicy(batchOf(2, 1), trainer, engine());
  expect(report.skipped).toBe(true);
  expect(trainer.version).toBe(6);
});

test("with a teacher each update has the advantages of its own tokens", async () => {
  const trainer = new StandInTrainer({});
  const two = batchOf(2, 1);
  const teacherLogprobs = Float32Array.from(two.whole.data.tokens, (_, t) => -t / 4);
  const whole = taughtBatch(two.whole, { logprobs: teacherLogprobs }, { coef: 1, rewardCoef: 0 });
  await updatePolicy({ ...two, whole }, trainer);
  const given = trainer.steps.flatMap(({ tokenAdvantages }) => [...tokenAdvantages!]);
  expect(given).toEqual([...whole.data.tokenAdvantages]);
  expect(given.filter((advantage) => advantage !== 0).length).toBeGreaterThan(10);
});

test("each update has its own tokens' weights and penalties, and one update the time of a pass before it", async () => {
  const trainer = new StandInTrainer({});
  const plain = batchOf(2, 1);
  const numbers = Float32Array.from(plain.whole.data.tokens, (_, t) => t);
  const data = { ...plain.whole.data, tokenWeights: numbers, tokenPenalties: numbers };
  const parts = miniBatches(groups, 2, 80);
  for (const [i, { firstToken, batch }] of parts.entries()) {
    const { tokenWeights, tokenPenalties } = updateData(parts[i]!, { ...plain.whole, data }, numbers);
    const own = numbers.subarray(firstToken, firstToken + batch.data.tokens.length);
    expect(tokenWeights).toEqual(own);
    expect(tokenPenalties).toEqual(own);
  }
  const first = { logprobs: numbers, entropies: numbers, seconds: 5 };
  const { report } = await updatePolicy({ ...batchOf(1, 1), first }, trainer);
  expect(report.forwardSeconds).toBeGreaterThanOrEqual(5);
});
