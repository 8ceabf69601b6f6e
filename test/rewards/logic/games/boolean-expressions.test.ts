import { expect, test } from "vitest";
import { judgeAs } from "../judge.ts";

const judge = judgeAs("boolean_expressions");
const data = { answer: "A,B,D" };

test.each([
  ["\\boxed{A,B,D}", "correct", "correct"],
  ["\\boxed{d, b, a, a}", "correct", "correct"],
  ["\\boxed{A} no, \\boxed{ABD}", "correct", "wrong"],
  ["\\boxed{\\text{A}, \\text{B}, \\text{D}}", "wrong", "correct"],
  ["\\boxed{A, B \\text{ and } D}", "wrong", "correct"],
  ["\\boxed{A、B、D}", "correct", "correct"],
  ["\\boxed{A,B}", "wrong", "wrong"],
  ["\\boxed{A,B,C,D}", "wrong", "wrong"],
  ["\\boxed{A,B,D or none of them}", "wrong", "wrong"],
  ["\\boxed{B|A|D}", "correct", "wrong"],
  ["\\boxed{}", "wrong", "wrong"],
  ["\\boxed{A,B,D", "wrong", "wrong"],
  ["A,B,D", "wrong", "wrong"],
])("%s is %s by the reference and %s by strict", async (answer, reference, strict) => {
  const statuses = [await judge(data, answer, "reference"), await judge(data, answer)];
  expect(statuses.map((s) => s.split(":")[0])).toEqual([reference, strict]);
});

test("an empty box solves no puzzle in strict mode", async () => {
  expect(await judge({ answer: "" }, "\\boxed{}", "reference")).toBe("correct: the options that hold");
  expect(await judge({ answer: "" }, "\\boxed{}")).toBe("wrong: not a list of options");
});
