import { describe } from "vitest";
import { testAnswers } from "../../judge.ts";

testAnswers("word_sorting_mistake", { answer: 7 }, [
  ["\\boxed{7}", "correct", "correct"],
  ["\\boxed{ 07 }", "correct", "correct"],
  ["\\boxed{\\text{7}}", "wrong", "correct"],
  ["\\boxed{8}", "wrong", "wrong"],
  ["\\boxed{-7}", "wrong", "wrong"],
  ["\\boxed{Thought 7}", "wrong", "wrong"],
  ["\\boxed{No}", "wrong", "wrong"],
  ["\\boxed{}", "wrong", "wrong"],
  ["7", "wrong", "wrong"],
]);

describe("where nothing is stored, no step is wrong", () => {
  testAnswers("word_sorting_mistake", { answer: null }, [
    ["\\boxed{No}", "correct", "correct"],
    ["\\boxed{NO}", "correct", "correct"],
    ["\\boxed{None}", "wrong", "wrong"],
    ["\\boxed{0}", "wrong", "wrong"],
    ["\\boxed{}", "wrong", "wrong"],
  ]);
});
