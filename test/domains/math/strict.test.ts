import { describe, expect, test } from "vitest";
import { boxed, judge } from "./verdicts.ts";

/** Answers that only one of reference and strict accepts. */
describe("exploits", () => {
  test.each([
    [
      "text after the box",
      "7",
      `${boxed("5")} The final answer is $7$.`,
      "correct: same text",
      "wrong: not equal",
    ],
    [
      "a number fished from junk",
      "2",
      boxed("\\frac{t = 2}{2}"),
      "correct: equal",
      "wrong: not an expression",
    ],
    ["a restated sum", "55", boxed("\\sum_{k=1}^{10} k"), "correct: equal", "wrong: unevaluated expression"],
    ["a chain of different values", "7", boxed("x=5=7"), "correct: equal", "wrong: equates different values"],
    [
      "an approximation of something else",
      "5",
      boxed("5 \\approx 7"),
      "correct: equal",
      "wrong: approximation is off",
    ],
    ["tiny constants", "\\frac{1}{2^{99}}", boxed("\\frac{1}{2^{98}}"), "correct: equal", "wrong: not equal"],
    ["tiny decimals", "0.0000004", boxed("0.0000002"), "correct: equal", "wrong: not equal"],
    ["juxtaposed integers", "5", boxed("2(3)"), "correct: equal", "wrong: not equal"],
  ])("%s", async (_, gold, text, reference, strict) => {
    expect([await judge(gold, text, "reference"), await judge(gold, text)]).toEqual([reference, strict]);
  });

  test.each([
    ["an honest chain", "5", "x=2+3=5"],
    ["an honest approximation", "\\sqrt{2}", "\\sqrt{2}\\approx 1.414"],
    ["a gold sum", "\\sum_{k=1}^{10} k", "\\sum_{k=1}^{10} k"],
    ["a symbol with nothing added", "n", "n+0"],
    ["numbers that a name has", "\\pm 2", "x=\\pm 2"],
    ["the value of a function", "f(2)=4", "4"],
    ["the value of a function, computed", "f(2)=4", "f(2)=2^2=4"],
    ["words in pieces", "\\text{Monday}", "\\text{Mon}\\text{day}"],
    ["a brace below", "5", "\\underbrace{2+3}_{\\text{sum}}"],
  ])("%s is no exploit", async (_, gold, answer) =>
    expect(await judge(gold, boxed(answer))).toMatch(/^correct/),
  );

  test.each([
    ["several answers", "5", "5, 6, 7"],
    ["one number said to be two", "\\pm 2", "2=\\pm 2"],
    ["another value of a function", "f(2)=4", "f(3)=4"],
    ["a value that a function has not", "f(2)=4", "2"],
    ["either of two", "5", "5 \\text{ or } 7"],
    ["all numbers", "5", Array.from({ length: 40 }, (_, i) => i).join(", ")],
    ["the code of an answer", "5", "process.exit(5)"],
    ["a countdown of it", "5", "countdown 5"],
  ])("%s is wrong in both", async (_, gold, answer) => {
    for (const compat of ["strict", "reference"] as const) {
      expect(await judge(gold, `countdown ${boxed(answer)}`, compat)).toMatch(/^wrong/);
    }
  });
});
