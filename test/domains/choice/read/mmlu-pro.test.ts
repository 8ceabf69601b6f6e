import { expect, test } from "vitest";
import { filterRows, fixture, readAs, sample } from "../../../data/filtered.ts";

const spec = { kind: "mmlu-pro" } as const;
const row = (more: object = {}) => ({
  question: "Two and two?",
  options: ["3", "4", "N/A", "5"],
  answer: "B",
  answer_index: 1,
  category: "math",
  ...more,
});

test("options are lettered in their order, those taken out left out", async () => {
  const { kept } = await readAs(spec, [row()]);
  expect(kept).toMatchObject([
    {
      question: expect.stringMatching(/about math\. .*\n\nTwo and two\?\n\nA\. 3\nB\. 4\nC\. 5$/s),
      family: "math",
      reference: { answer: "B", choices: 3, style: "mmlu-pro" },
    },
  ]);
  expect(kept[0]!.gold!()).toEqual(["The answer is (B)."]);
});

test("a seed shuffles them, and the reference says how", async () => {
  const rows = Array.from({ length: 20 }, (_, i) => row({ question: `Two and ${i}?` }));
  const { kept } = await readAs({ ...spec, seed: 3 }, rows);
  for (const { question, reference } of kept) {
    const { answer, order } = reference as { answer: string; order: number[] };
    expect(question.split("\n")).toContain(`${answer}. 4`);
    expect("ABC"[order.indexOf(1)]).toBe(answer);
  }
  expect(new Set(kept.map(({ reference }) => (reference as { answer: string }).answer)).size).toBe(3);
});

test("a template may name the category", async () => {
  const { kept } = await readAs({ ...spec, template: "{category}|{category}|{task}" }, [row()]);
  expect(kept[0]!.question).toBe("math|math|Two and two?\n\nA. 3\nB. 4\nC. 5");
});

test.each([
  [row({ answer: "C" }), "answer: not the letter of answer_index"],
  [row({ answer: "C", answer_index: 2 }), "answer_index: no such option"],
  [row({ answer: "F", answer_index: 5 }), "answer_index: no such option"],
  [row({ options: [] }), "options: too small: expected array to have >=2 items"],
  [row({ options: Array(27).fill("x") }), "options: too big: expected array to have <=26 items"],
])("%j is bad", async (bad, reason) => {
  expect((await readAs(spec, [bad])).bad).toEqual({ [reason]: 1 });
});

test("parquet as published, where an index beyond 2^53 is no index", async () => {
  const { kept, bad } = await readAs({ ...spec, path: fixture("mmlu-pro.parquet") }, []);
  expect(kept.map(({ reference }) => reference)).toEqual([{ answer: "B", choices: 3, style: "mmlu-pro" }]);
  expect(bad).toEqual({
    "answer_index: invalid input: expected number, received bigint": 1,
    "question: invalid input: expected string, received null": 1,
  });
});

test("every row of the sample is a problem with the published letter", async ({ skip }) => {
  const path = sample("eval/mmlu_pro_sample.jsonl") ?? skip("the reference data are not at hand");
  const { kept, report } = await filterRows({ ...spec, path });
  expect([report.rows, kept.length, report.bad]).toEqual([350, 350, []]);
  expect(new Set(kept.map(({ family }) => family)).size).toBe(14);
});
