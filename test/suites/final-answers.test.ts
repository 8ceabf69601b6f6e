import { expect, test } from "vitest";
import { boxedAnswer, chosenLetter, statedAnswer } from "../../lib/suites/final-answers.ts";

test.each([
  ["So \\boxed{ 1{,}000 } .", "1{,}000"],
  ["<think>\\boxed{1}</think> it is $\\boxed{\\dfrac{1}{2}}$", "\\frac{1}{2}"],
  ["\\boxed{1,000}", "1000"],
  ["\\boxed{073}", "73"],
  ["\\boxed{\\left( 1, 2 \\right)}", "(1,2)"],
  ["\\boxed{0}", "0"],
  ["\\boxed{}", undefined],
  ["\\boxed{3", undefined],
  ["<think>\\boxed{3}", undefined],
  ["no box", undefined],
])("%j votes for %j", (text, answer) => {
  expect(boxedAnswer(text)).toBe(answer);
});

test("letters and made-up problems", () => {
  expect([chosenLetter("<think>A</think>The answer is (C)."), chosenLetter("I do not know")]).toEqual([
    "C",
    undefined,
  ]);
  expect([statedAnswer("<think>x</think> 12 <eos>"), statedAnswer("12")]).toEqual(["12", undefined]);
});
