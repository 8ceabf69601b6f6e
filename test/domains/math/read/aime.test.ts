import { expect, test } from "vitest";
import { filterRows, readAs, sample } from "../../../data/filtered.ts";

const spec = { kind: "aime" } as const;

test("an integer answer, as a number or as digits with leading zeros", async () => {
  const { kept } = await readAs(spec, [
    { problem: " Find $n$. ", answer: 70 },
    { problem: "Find $m$.", answer: "025" },
  ]);
  expect(kept.map(({ question, reference }) => [question, reference])).toEqual([
    [
      "Find $n$.\n\nThink step by step and put your final answer within \\boxed{}. It is an integer from 0 to 999.",
      { answer: "70" },
    ],
    [expect.stringMatching(/^Find \$m\$/), { answer: "25" }],
  ]);
  expect(kept[1]!.gold!()).toEqual(["\\boxed{25}", "\\boxed{025}"]);
});

test.each([[1000], [-1], [1.5], ["x"], ["1000"], [null], [2 ** 60]])(
  "the answer %j is bad",
  async (answer) => {
    const { kept, bad } = await readAs(spec, [{ problem: "Find $n$.", answer }]);
    expect(kept).toEqual([]);
    expect(Object.keys(bad)).toEqual([expect.stringMatching(/^answer: /)]);
  },
);

test.each(["eval/aime2024.jsonl", "eval/aime2025.jsonl"])("%s is thirty held-out problems", async (file) => {
  const path = sample(file);
  if (path === undefined) return;
  const { report } = await filterRows({ ...spec, path });
  expect(report).toMatchObject({ rows: 30, heldOut: 30, training: 0, bad: [], duplicates: [] });
});
