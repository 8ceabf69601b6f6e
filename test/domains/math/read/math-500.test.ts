import { expect, test } from "vitest";
import { readAs } from "../../../data/filtered.ts";

const spec = { kind: "math-500" } as const;

test("rows of MATH-500, and of MATH with its other names", async () => {
  const { kept } = await readAs(spec, [
    {
      problem: "1+1?",
      solution: "It is $\\boxed{2}$.",
      answer: "2",
      subject: "Algebra",
      level: 5,
      unique_id: "x",
    },
    { problem: "1+2?", solution: "It is $\\boxed{\\frac{6}{2}}$.", type: "Prealgebra", level: "Level 3" },
    { problem: "1+3?", solution: "So \\boxed{4}.", type: "Geometry", level: "Level ?" },
  ]);
  expect(kept.map(({ family, level, reference }) => [family, level, reference])).toEqual([
    ["Algebra", 4, { answer: "2" }],
    ["Prealgebra", 2, { answer: "\\frac{6}{2}" }],
    ["Geometry", 0, { answer: "4" }],
  ]);
  expect(kept[1]!.gold!()).toEqual(["\\boxed{\\frac{6}{2}}"]);
});

test("without subject or answer a row is bad", async () => {
  const { bad } = await readAs(spec, [
    { problem: "a", answer: "1", level: 1 },
    { problem: "b", subject: "s", level: 1 },
    {
      problem: "c",
      subject: "s",
      level: 1,
      solution: "A long solution that never says what the answer is, alas.",
    },
    { problem: "d", subject: "s", answer: "1" },
  ]);
  expect(bad).toEqual({
    "subject: missing": 1,
    "answer: missing, and solution states none": 2,
    "level: invalid input, received undefined": 1,
  });
});
