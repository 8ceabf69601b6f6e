import { expect, test } from "vitest";
import { readAs } from "../../../data/filtered.ts";

const spec = { kind: "gpqa" } as const;
const row = (question = "Which one?") => ({
  Question: question,
  "Correct Answer": " right\n",
  "Incorrect Answer 1": "wrong 1",
  "Incorrect Answer 2": "wrong 2",
  "Incorrect Answer 3": "wrong 3",
  "High-level domain": "Physics",
});

test("the choices are shuffled by the seed, and the reference says how", async () => {
  const rows = Array.from({ length: 40 }, (_, i) => row(`Which of ${i}?`));
  const { kept } = await readAs(spec, rows);
  for (const { question, reference, family, gold } of kept) {
    const { answer, order, ...rest } = reference as { answer: string; order: number[] };
    expect(rest).toEqual({ choices: 4, style: "gpqa", seed: 0 });
    expect(question.split("\n")).toContain(`${answer}) right`);
    expect("ABCD"[order.indexOf(0)]).toBe(answer);
    expect([...order].sort()).toEqual([0, 1, 2, 3]);
    expect(family).toBe("Physics");
    expect(gold!()).toEqual([`Answer: ${answer}`]);
  }
  expect(new Set(kept.map(({ reference }) => JSON.stringify(reference))).size).toBeGreaterThan(8);
  const [again, other] = [await readAs(spec, rows), await readAs({ ...spec, seed: 1 }, rows)];
  expect(again.kept.map((one) => one.reference)).toEqual(kept.map((one) => one.reference));
  expect(other.kept.map((one) => one.question)).not.toEqual(kept.map((one) => one.question));
});

test("a row that brings its letters keeps them", async () => {
  const prompt = "Which one?\n\nA. wrong\nB. right\nC. wrong\nD. wrong";
  const { kept, bad } = await readAs(spec, [
    { prompt: [{ from: "user", value: prompt }], final_answer: "B" },
    { prompt: [{ from: "user", value: prompt }], final_answer: "E" },
  ]);
  expect(kept).toMatchObject([
    {
      content: prompt,
      question: `${prompt}\n\nThink step by step and put the letter of your answer within \\boxed{}.`,
      reference: { answer: "B", choices: 4, style: "gpqa" },
    },
  ]);
  expect(bad).toEqual({ "final_answer: no letter from a to d": 1 });
});

test("every choice must be there", async () => {
  const { bad } = await readAs(spec, [
    { ...row(), "Incorrect Answer 3": undefined },
    { ...row(), Question: null },
  ]);
  expect(bad).toEqual({
    "Incorrect Answer 3: invalid input: expected string, received undefined": 1,
    "Question: invalid input: expected string, received null": 1,
  });
});
