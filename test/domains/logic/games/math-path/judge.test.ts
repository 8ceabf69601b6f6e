import { expect, test } from "vitest";
import { judgeAs, testAnswers } from "../../judge.ts";

testAnswers("math_path", { metadata: { query_expr: "?-6%9+0*?+4 = 4" } }, [
  ["[[6 -6 %9 +0 *7 +4 = 4]]", "correct", "correct"],
  ["$[[6-6%9+0*1+4=4]]$", "correct", "correct"],
  ["[[1=1]] [[6-6%9+0*1+4=4]]", "correct", "correct"],
  ["[[6-6%9+0*1+4=4]] [[x]]", "wrong", "wrong"],
  ["[[6-6%9+0*1\n+4=4]]", "wrong", "wrong"],
  ["[[7-6%9+0*1+4=4]]", "wrong", "wrong"],
  ["[[?-6%9+0*?+4=4]]", "wrong", "wrong"],
  ["[[6-6%9+0*1+44]]", "correct", "wrong"],
  ["[[(6-6%9)+0*1+4=4]]", "correct", "wrong"],
  ["[[6-6%9+0*(1+4)=4]]", "wrong", "wrong"],
  ["[[6-6%9-0*1+4=4]]", "wrong", "wrong"],
  ["[[6-6%9+0*1+4==4]]", "wrong", "wrong"],
  ["[[True]]", "wrong", "wrong"],
  ["6-6%9+0*1+4=4", "wrong", "wrong"],
]);

test("division is exact in strict mode and Python's in reference mode", async () => {
  const judge = judgeAs("math_path");
  const data = { metadata: { query_expr: "?/9*9 = 7" } };
  expect(await judge(data, "[[7/9*9=7]]")).toBe("correct: holds");
  expect(await judge(data, "[[7/9*9=7]]", "reference")).toBe("correct: holds");
  const inexact = { metadata: { query_expr: "?/3-1/3-1/3 = 0" } };
  expect(await judge(inexact, "[[2/3-1/3-1/3=0]]")).toBe("correct: holds");
  const zero = { metadata: { query_expr: "?/? = 1" } };
  expect(await judge(zero, "[[0/0=1]]")).toBe("wrong: does not hold");
});
