import { expect, test } from "vitest";
import { readAs } from "../../../data/filtered.ts";

const spec = { kind: "gsm8k" } as const;

test("the answer is the number behind the last ####, without commas, dollars and a full stop", async () => {
  const answers = ["Two and two.\n#### 4", "#### 3\n#### 1,234,567", "x #### $ 18", "#### -5.", "#### 2.50"];
  const { kept } = await readAs(
    spec,
    answers.map((answer, i) => ({ question: `Question ${i}?`, answer })),
  );
  expect(kept.map(({ reference }) => (reference as { answer: string }).answer)).toEqual([
    "4",
    "1234567",
    "18",
    "-5",
    "2.50",
  ]);
  expect(kept[0]).toMatchObject({ family: "gsm8k", content: "Question 0?" });
  expect(kept[1]!.gold!()).toEqual(["\\boxed{1234567}"]);
});

test("rows without one are bad", async () => {
  const { bad } = await readAs(spec, [
    { question: "a", answer: "4" },
    { question: "b", answer: "#### four" },
    { question: "", answer: "#### 1" },
  ]);
  expect(Object.keys(bad).sort()).toEqual([
    "answer: no answer after ####",
    "answer: no number after ####",
    expect.stringMatching(/^question: /),
  ]);
});
