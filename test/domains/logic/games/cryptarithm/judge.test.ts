import fc from "fast-check";
import { expect, test } from "vitest";
import { cryptarithm } from "../../../../../lib/domains/logic/games/cryptarithm/judge.ts";
import { judgeAs, testAnswers } from "../../judge.ts";

testAnswers(
  "cryptarithm",
  {
    answer: "12 + 34 = 46",
    metadata: { letter_words: ["AB", "CD", "DE"], operators: ["+"] },
  },
  [
    ["The answer is 12 + 34 = 46.", "correct", "correct"],
    ["答案是 $12+34=46$。", "correct", "correct"],
    ["1+1=2, so 12 + 34 = 46", "correct", "correct"],
    ["12 + 34 = 46. Check: 1 + 1 = 2", "wrong", "wrong"],
    ["13 + 25 = 56", "wrong", "wrong"],
    ["12 + 56 = 68", "wrong", "correct"],
    ["12 + 34 = 47", "wrong", "wrong"],
    ["12 + 33 = 45", "wrong", "wrong"],
    ["10 + 23 = 33", "wrong", "wrong"],
    ["34 - 12 = 22", "wrong", "wrong"],
    ["112 + 34 = 146", "wrong", "wrong"],
    ["05 + 13 = 38", "wrong", "wrong"],
    ["12 + 34", "wrong", "wrong"],
    ["12 + 34 = 46 or 47", "correct", "wrong"],
    ["12 + 34 = 46/47", "correct", "wrong"],
    ["13 + 25 = 38 or 12 + 34 = 46", "correct", "wrong"],
    ["13 + 25 = 56 is off, or I cannot add; 12 + 34 = 46, or so.", "correct", "correct"],
    ["12 34 = 46", "wrong", "wrong"],
    ["AB + CD = DE", "wrong", "wrong"],
  ],
);

test("the last equation is the one a backtracking search finds", () => {
  const pattern = /\d+(?:\s*[-+*]\s*\d+)+\s*=\s*-?\d+/g;
  const text = fc.array(fc.constantFrom("1", "23", "+", "-", "*", "=", " ", "x"), { maxLength: 25 });
  fc.assert(
    fc.property(text, (pieces) => {
      const joined = pieces.join("");
      const last = joined.match(pattern)?.at(-1)?.replaceAll(" ", "");
      const data = cryptarithm.parse({ answer: last ?? "?" });
      expect(cryptarithm.judgeAsReference!(joined, data).reason).toBe(last ? "the equation" : "no equation");
    }),
    { numRuns: 2000 },
  );
});

test("a negative result is part of the equation", async () => {
  expect(await judgeAs("cryptarithm")({ answer: "12 - 34 = -22" }, "12 - 34 = -22")).toBe(
    "correct: the equation",
  );
});

test("no number starts with 0, not even a number of one digit", async () => {
  const data = { answer: "1 + 23 = 24", metadata: { letter_words: ["A", "BC", "BC"], operators: ["+"] } };
  expect(await judgeAs("cryptarithm")(data, "0 + 12 = 12")).toBe("wrong: a number starts with 0");
});
