import { expect, test } from "vitest";
import {
  type BatchHook,
  given,
  weighBatches,
  weighed,
} from "../../../lib/orchestration/pipeline/batch-advantages.ts";
import type { StepBatch } from "../../../lib/orchestration/pipeline/batcher.ts";
import { type SettledGroup, settle, shapingOptions } from "../../../lib/orchestration/pipeline/grouper.ts";
import type { Rollout, Verdict } from "../../../lib/records.ts";
import { requestOf } from "../pipeline-accounting.ts";
import { smallRecipe } from "../small-recipe.ts";

// Deliberate faults (mutants) that these tests detect: the hook runs before the batch's division, it sees dropped
// groups, its numbers go to the next group.

const plain = { lengthPenalty: { kind: "none" } } as const;
const SHAPING = shapingOptions(smallRecipe({}, { ...plain, advantages: { divideBy: "batch-std" } }));

const settled = (group: number, scores: readonly number[]): SettledGroup => {
  const request = requestOf(group, 0, { attempts: scores.length });
  const rollouts = scores.map(
    (_, attempt) =>
      ({ attempt, finish: "eos", tokens: new Int32Array(2), problem: request.problem }) as Rollout,
  );
  const verdicts = scores.map(
    (score): Verdict => ({ status: score === 1 ? "correct" : "wrong", score, reason: "" }),
  );
  return settle(request, rollouts, verdicts, SHAPING);
};
const groups = () => [settled(4, [1, 0]), settled(5, [0, 0]), settled(7, [1, 0, 0])];

async function weigh(onBatch?: BatchHook): Promise<StepBatch> {
  const batches = (async function* () {
    yield { groups: groups(), credits: 3 };
  })();
  return (await weighBatches(batches, SHAPING, onBatch).next()).value!;
}
const advantagesOf = ({ groups: all }: Pick<StepBatch, "groups">) =>
  all.map(({ group }) => group.rollouts.map(({ advantage }) => Number(advantage.toFixed(4))));

test("a batch gets the advantages that need all of its kept groups", async () => {
  // differences ½, -½, ⅔, -⅓, -⅓: the sum of squares is 7/6, over five rollouts
  const batch = await weigh();
  expect(batch.credits).toBe(3);
  expect(advantagesOf(batch)).toEqual([
    [1.0351, -1.0351],
    [0, 0],
    [1.3801, -0.6901, -0.6901],
  ]);
  expect(batch.groups[1]!.group.dropped).toBe("zero-advantage");
});

test("a hook sees the kept groups as they would be trained, and sets those that it names", async () => {
  const seen: number[][] = [];
  const batch = await weigh((kept) => {
    for (const { rollouts } of kept) seen.push(rollouts.map(({ advantage }) => Number(advantage.toFixed(4))));
    return [undefined, [3, 0, -1]];
  });
  expect(seen).toEqual([
    [1.0351, -1.0351],
    [1.3801, -0.6901, -0.6901],
  ]);
  expect(advantagesOf(batch)).toEqual([
    [1.0351, -1.0351],
    [0, 0],
    [3, 0, -1],
  ]);
  expect(batch.groups.map(({ advantages }) => advantages)).toEqual([undefined, undefined, [3, 0, -1]]);
  expect(advantagesOf(await weigh(() => undefined))).toEqual(advantagesOf(await weigh()));
});

test.each([
  ["too few groups", [[1, 2]], "gave 1 entries for 2 groups"],
  ["too few rollouts", [[1, 2], [1]], "gave the advantages [1] for 3 rollouts"],
  ["no number", [[1, Number.NaN], undefined], "gave the advantages [1,NaN] for 2 rollouts"],
  ["beyond float32", [[1, 1e39], undefined], "gave the advantages [1,1e+39] for 2 rollouts"],
  ["no list", 3, "gave a number for 2 groups"],
] as const)("what a hook cannot mean is refused: %s", async (_, wish, message) => {
  await expect(weigh(() => wish as never)).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: expect.stringContaining(message),
  });
});

test("recorded advantages are put back by group number", () => {
  const [first, , third] = given(weighed(groups(), SHAPING), new Map([[7, [9, 8, 7]]]));
  expect(first!.advantages).toBeUndefined();
  expect(third!.group.rollouts.map(({ advantage }) => advantage)).toEqual([9, 8, 7]);
});
