import { expect, test } from "vitest";
import { judgeInteger } from "../../../../lib/domains/logic/judging/boxed-integer.ts";

test("an integer is judged by its value", () => {
  expect(judgeInteger("07", 7n)).toEqual({ status: "correct", score: 1, reason: "the right count" });
  expect(judgeInteger("8", 7n)).toEqual({ status: "wrong", score: 0, reason: "another count" });
  expect(judgeInteger("seven", 7n)).toEqual({ status: "wrong", score: 0, reason: "not an integer" });
  expect(judgeInteger("7", undefined).status).toBe("wrong");
});
