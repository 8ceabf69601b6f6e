import { expect, test } from "vitest";
import { operation } from "../../../../../lib/domains/logic/games/operation/judge.ts";
import { testAnswers } from "../../judge.ts";

testAnswers("operation", { answer: "-4" }, [
  ["\\boxed{-4}", "correct", "correct"],
  ["\\boxed{x = -4}", "correct", "correct"],
  ["\\boxed{\\frac{-8}{2}}", "correct", "correct"],
  ["The answer is -4", "correct", "no_answer"],
  ["$-4$", "correct", "no_answer"],
  ["\\boxed{4}", "wrong", "wrong"],
  ["\\boxed{5}. The final answer is $-4$.", "correct", "wrong"],
  ["no", "wrong", "no_answer"],
]);

test("a stored answer that states no value is refused", () => {
  expect(() => operation.parse({ answer: "" })).toThrow("nothing to compare with");
});
