// Facts of Python 3.13's int() and float(). Deliberate faults (mutants) that these tests detect: only ASCII digits,
// JavaScript's white space, no limit of digits.
import { expect, test } from "vitest";
import { readFloat, readInt } from "../../lib/python/number.ts";

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
  ["1".repeat(4300), BigInt("1".repeat(4300))],
  ["1".repeat(4301), undefined],
  ["-٣٤", -34n],
  ["\u00a07\u2003", 7n],
  ["\ufeff7", undefined],
  ["²", undefined],
  ["Ⅶ", undefined],
])("int(%j) is %s", (text, value) => expect(readInt(text)).toBe(value));

test.each<[string, number | undefined]>([
  ["1.5", 1.5],
  ["-.5e1", -5],
  ["1.", 1],
  ["1_0.2_5", 10.25],
  ["1e1_0", 1e10],
  ["٣.٤", 3.4],
  [" +Infinity\n", Number.POSITIVE_INFINITY],
  ["-inf", Number.NEGATIVE_INFINITY],
  ["NaN", Number.NaN],
  ["1e999", Number.POSITIVE_INFINITY],
  ["1__0.0", undefined],
  ["1_.0", undefined],
  [".", undefined],
  ["1e", undefined],
  ["0x10", undefined],
  ["infin", undefined],
  ["", undefined],
  ["1 2", undefined],
])("float(%j) is %s", (text, value) => expect(readFloat(text)).toBe(value));
