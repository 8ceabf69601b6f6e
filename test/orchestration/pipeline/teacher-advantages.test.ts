import { expect, test } from "vitest";
import { taughtBatch } from "../../../lib/orchestration/pipeline/teacher-advantages.ts";
import { assembleBatch } from "../../../lib/orchestration/pipeline/training-batch.ts";
import { rolloutOf, settledOf } from "../pipeline-accounting.ts";

const groups = [
  settledOf(0, [rolloutOf([7], [1, 2], 0.5), rolloutOf([7, 8], [3], -0.5)]),
  settledOf(1, [rolloutOf([9], [4], 0.25)]),
];
const batch = assembleBatch(groups, 80);
const sampler = Float32Array.of(0, -1, -2, 0, 0, -0.5, 0, -3);
const data = { ...batch.data, behaviorLogprobs: sampler };
// the values at prompt tokens must not become advantages
const teacherLogprobs = Float32Array.of(9, -0.25, -4, 9, 9, -0.25, 9, -1);
const gaps = [0.75, -2, 0.25]; // the gaps of the first group, whose mean is -1/3

test("a sampled token's advantage is the reward's and how much likelier than its group's the teacher finds it", () => {
  const taught = taughtBatch({ ...batch, data }, { logprobs: teacherLogprobs }, { coef: 2, rewardCoef: 3 });
  const [a, b, c] = gaps.map((gap) => 2 * (gap + 1 / 3));
  const expected = [0, 1.5 + a!, 1.5 + b!, 0, 0, -1.5 + c!, 0, 0.75];
  expect([...taught.data.tokenAdvantages]).toEqual(expected.map(Math.fround));
  expect(taught.teacherLogprobs).toBe(teacherLogprobs);
  // the given batch is unchanged
  expect([...data.tokenAdvantages]).toEqual([0, 0.5, 0.5, 0, 0, -0.5, 0, 0.25]);
});

test("with rewardCoef 0 rewards are no part of it", () => {
  const taught = taughtBatch({ ...batch, data }, { logprobs: teacherLogprobs }, { coef: 1, rewardCoef: 0 });
  const [a, b, c] = gaps.map((gap) => gap + 1 / 3);
  expect([...taught.data.tokenAdvantages]).toEqual([0, a!, b!, 0, 0, c!, 0, 0].map(Math.fround));
});

test("a group's advantages are the same in whatever batch it is, as those of an update of several are", () => {
  const alone = assembleBatch(groups.slice(0, 1), 80);
  const whole = taughtBatch({ ...batch, data }, { logprobs: teacherLogprobs }, { coef: 1, rewardCoef: 1 });
  const part = taughtBatch(
    { ...alone, data: { ...alone.data, behaviorLogprobs: sampler.slice(0, 6) } },
    { logprobs: teacherLogprobs.slice(0, 6) },
    { coef: 1, rewardCoef: 1 },
  );
  expect(part.data.tokenAdvantages).toEqual(whole.data.tokenAdvantages.slice(0, 6));
});
