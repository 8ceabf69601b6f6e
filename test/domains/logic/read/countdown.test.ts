import { expect, test } from "vitest";
import { readAs } from "../../../data/filtered.ts";

const spec = { kind: "countdown" } as const;
const rows = [
  { target: 98, nums: [44, 19, 35] },
  { target: 64, nums: [63, 95, 96] },
];

test("the question names the numbers and the form of the answer; the reference is the row", async () => {
  const { kept } = await readAs(spec, rows);
  expect(kept.map(({ question, reference }) => [question, reference])).toEqual([
    [
      "Make 98 from the numbers 44, 19, 35. Use + - * / and parentheses, and each number exactly once. End with the expression alone between <answer> and </answer>.",
      { nums: [44, 19, 35], target: 98 },
    ],
    [expect.stringMatching(/^Make 64 from the numbers 63, 95, 96\./), { nums: [63, 95, 96], target: 64 }],
  ]);
});

test("a template of one's own says the form", async () => {
  const { kept } = await readAs({ ...spec, template: "{task} In a \\boxed{}." }, rows);
  expect(kept[0]!.question).toBe("Make 98 from the numbers 44, 19, 35. In a \\boxed{}.");
});

test.each([
  [{ target: 98, nums: [] }, /^nums: /],
  [{ target: 98, nums: [1.5] }, /^nums\.#: /],
  [{ target: "98", nums: [1] }, /^target: /],
  [{ nums: [1] }, /^target: /],
])("%j is bad", async (row, reason) => {
  const { kept, bad } = await readAs(spec, [row]);
  expect(kept).toEqual([]);
  expect(Object.keys(bad)).toEqual([expect.stringMatching(reason)]);
});
