import { expect, test } from "vitest";
import { filterRows, readAs, sample } from "../../../data/filtered.ts";

const spec = { kind: "open-reasoner-zero" } as const;
const human = { from: "human", value: " What is $1+1$? " };
const gold = { from: "assistant", ground_truth: { value: " n = 2 " } };

test("two turns in a list and two columns are the same problem", async () => {
  const { kept, bad } = await readAs(spec, [
    [human, gold],
    { id: "x", 0: { ...human, value: "Other" }, 1: gold },
  ]);
  expect(bad).toEqual({});
  expect(kept[0]).toMatchObject({
    content: "What is $1+1$?",
    question: "What is $1+1$?\n\nThink step by step and put your final answer within \\boxed{}.",
    family: "open-reasoner-zero",
    level: 0,
    reference: { answer: "n = 2" },
  });
  expect(kept[0]!.gold!()).toEqual(["\\boxed{n = 2}"]);
  expect(kept[1]!.content).toBe("Other");
});

test.each([
  [[], "0: invalid input: expected object, received undefined"],
  [[human], "1: invalid input: expected object, received undefined"],
  [
    [human, { ground_truth: { value: 4 } }],
    "1.ground_truth.value: invalid input: expected string, received number",
  ],
  [[{ value: " " }, gold], "0.value: empty"],
  ["text", "row: invalid input: expected object, received string"],
])("%j is bad", async (row, reason) => {
  expect((await readAs(spec, [JSON.stringify(row)])).bad).toEqual({ [reason]: 1 });
});

test("every row of the sample is a problem or a duplicate", async ({ skip }) => {
  const path = sample("math/orz_sample.jsonl") ?? skip("the reference data are not at hand");
  const { kept, report } = await filterRows({ ...spec, path });
  expect([report.bad, report.leftOut]).toEqual([[], []]);
  expect(kept.length + report.duplicates.reduce((n, { rows }) => n + rows, 0)).toBe(3967);
  expect(kept.every(({ reference }) => (reference as { answer: string }).answer.length > 0)).toBe(true);
});
