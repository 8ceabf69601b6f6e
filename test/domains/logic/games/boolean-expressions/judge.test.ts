import { expect, test } from "vitest";
import { judgeAs, testAnswers } from "../../judge.ts";

testAnswers("boolean_expressions", { answer: "A,B,D" }, [
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
]);

test("an empty box solves no puzzle in strict mode", async () => {
  const judge = judgeAs("boolean_expressions");
  expect(await judge({ answer: "" }, "\\boxed{}", "reference")).toBe("correct: the options that hold");
  expect(await judge({ answer: "" }, "\\boxed{}")).toBe("wrong: not a list of options");
});
