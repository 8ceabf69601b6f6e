import { expect, test } from "vitest";
import { judgeAs, testAnswers } from "../../judge.ts";

testAnswers("object_properties", { answer: "5" }, [
  ["\\boxed{5}", "correct", "correct"],
  ["\\boxed{05}", "correct", "correct"],
  ["\\boxed{\\textbf{5}}", "wrong", "correct"],
  ["\\boxed{5 or 6}", "wrong", "wrong"],
  ["\\boxed{6}", "wrong", "wrong"],
  ["\\boxed{unknown}", "wrong", "wrong"],
  ["5", "wrong", "wrong"],
]);

test("what cannot be known is said in strict mode, and never right by the reference", async () => {
  const judge = judgeAs("object_properties");
  expect(await judge({ answer: "unknown" }, "\\boxed{Unknown}")).toBe("correct: cannot be known");
  expect(await judge({ answer: "unknown" }, "\\boxed{unknown}", "reference")).toBe("wrong: not an integer");
  expect(await judge({ answer: "unknown" }, "\\boxed{5}")).toBe("wrong: another count");
});
