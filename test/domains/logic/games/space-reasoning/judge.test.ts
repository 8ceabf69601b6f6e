import { expect, test } from "vitest";
import { judgeAs, testAnswers } from "../../judge.ts";

testAnswers("space_reasoning", { answer: "makeup mirror" }, [
  ["\\boxed{makeup mirror}", "correct", "correct"],
  ["\\boxed{ Makeup Mirror }", "correct", "correct"],
  ["\\boxed{\\text{makeup mirror}}", "wrong", "correct"],
  ["\\boxed{x} \\boxed{makeup mirror}", "correct", "correct"],
  ["\\boxed{a makeup mirror}", "wrong", "wrong"],
  ["\\boxed{makeup mirror", "wrong", "wrong"],
  ["\\boxed{}", "wrong", "wrong"],
  ["makeup mirror", "wrong", "wrong"],
]);

test("an empty box names nothing in strict mode", async () => {
  expect(await judgeAs("space_reasoning")({ answer: "" }, "\\boxed{}", "reference")).toBe(
    "correct: the object",
  );
  expect(await judgeAs("space_reasoning")({ answer: "" }, "\\boxed{}")).toBe("wrong: empty \\boxed{}");
});
