import { expect, test } from "vitest";
import { judgeAs, testAnswers } from "../../judge.ts";

testAnswers("object_counting", { answer: "1202" }, [
  ["\\boxed{1202}", "correct", "correct"],
  ["\\boxed{ +1_202 }", "correct", "correct"],
  ["\\boxed{\\text{1202}}", "wrong", "correct"],
  ["\\boxed{3} \\boxed{1202}", "correct", "correct"],
  ["\\boxed{1202} \\boxed{3}", "wrong", "wrong"],
  ["\\boxed{1,202}", "wrong", "wrong"],
  ["\\boxed{1202.0}", "wrong", "wrong"],
  ["\\boxed{1202 items}", "wrong", "wrong"],
  ["\\boxed{1203}", "wrong", "wrong"],
  ["\\boxed{1202", "wrong", "wrong"],
  ["\\boxed{}", "wrong", "wrong"],
  ["1202", "wrong", "wrong"],
]);

test("a stored number is an answer too", async () => {
  expect(await judgeAs("object_counting")({ answer: 7 }, "\\boxed{7}")).toBe("correct: the right count");
});
