import { describe, expect, test } from "vitest";
import { boxed, judge } from "./verdicts.ts";

describe("the box", () => {
  test.each([
    ["it is 5", "no_answer: no \\boxed{}"],
    ["", "no_answer: no \\boxed{}"],
    ["\\fbox{5}", "no_answer: no \\boxed{}"],
    ["\\boxed {5}", "no_answer: no \\boxed{}"],
    ["\\boxed{}", "unparsable: empty \\boxed{}"],
    ["\\boxed{ }", "unparsable: no expression in \\boxed{}"],
    ["\\boxed{5", "unparsable: no expression in \\boxed{}"],
    ["\\boxed{\\frac{5}{1}", "unparsable: no expression in \\boxed{}"],
    [boxed("5") + " and so on".repeat(100), "unparsable: more than 1000 characters from \\boxed{ to the end"],
    [`${boxed("7")} but ${boxed("5")}`, "correct: same text"],
    [`${boxed("5")} but ${boxed("7")}`, "wrong: not equal"],
    ["\\boxed{\\boxed{5}}", "correct: same text"],
    [boxed("\\frac{1}{}"), "wrong: not an expression"],
    [boxed("\\frac{5}{0}"), "wrong: undefined value"],
    [boxed("5, 6"), "wrong: not equal"],
    [boxed("10/2"), "correct: equal"],
  ])("%j is %s", async (text, expected) => expect(await judge("5", text)).toBe(expected));

  test("in a thought counts for the reference only", async () => {
    const thought = `<think>${boxed("5")}</think> it is clear`;
    expect([await judge("5", thought), await judge("5", thought, "reference")]).toEqual([
      "no_answer: no \\boxed{}",
      "correct: same text",
    ]);
    expect(await judge("5", `<think>${boxed("5")} and then`)).toBe("correct: same text");
  });
});
