import { expect, test } from "vitest";
import { judgeInteger, readInteger } from "../../../../lib/domains/logic/judging/boxed-integer.ts";

test.each([
  ["202", 202n],
  [" +202 ", 202n],
  ["-7", -7n],
  ["007", 7n],
  ["1_000", 1000n],
  ["２０２", 202n],
  ["9".repeat(30), 10n ** 30n - 1n],
  ["1__0", undefined],
  ["_1", undefined],
  ["1,000", undefined],
  ["5.0", undefined],
  ["+-5", undefined],
  ["", undefined],
  ["5 items", undefined],
  ["1".repeat(10_000), undefined],
])("int(%j) is %s", (text, value) => expect(readInteger(text)).toBe(value));

test("an integer is judged by its value", () => {
  expect(judgeInteger("07", 7n)).toEqual({ status: "correct", score: 1, reason: "the right count" });
  expect(judgeInteger("8", 7n)).toEqual({ status: "wrong", score: 0, reason: "another count" });
  expect(judgeInteger("seven", 7n)).toEqual({ status: "wrong", score: 0, reason: "not an integer" });
  expect(judgeInteger("7", undefined).status).toBe("wrong");
});
