// Deliberate faults (mutants) that these tests detect: underscores are refused, "nan" is text, upTo accepts a line
// break.
import { expect, test } from "vitest";
import { commaParts, integer, numberOrText, upTo } from "../../../lib/domains/function-calling/conversion.ts";
import { float, int, type PythonValue, str } from "../../../lib/python/value.ts";

test.each<[string, PythonValue]>([
  ["5", int(5)],
  ["-5", int(-5)],
  ["+5", int(5)],
  [" 1_000 ", int(1000)],
  ["12345678901234567890", int(12345678901234567890n)],
  ["1.5", float(1.5)],
  ["-.5e1", float(-5)],
  ["1.", float(1)],
  ["1e3", float(1000)],
  ["-Infinity", float(Number.NEGATIVE_INFINITY)],
  ["nan", float(Number.NaN)],
  ["5 apples", str("5 apples")],
  ["", str("")],
  ["1__0", str("1__0")],
  ["0x10", str("0x10")],
  [".", str(".")],
  [" a ", str(" a ")],
])("%j is read as Python's int() or float() would, or stays text", (text, value) => {
  expect(numberOrText(text)).toEqual(value);
});

test("digits make an exact int", () => {
  expect(integer("-9007199254740993")).toEqual(int(-9007199254740993n));
});

test("parts between commas are trimmed, nesting does not count", () => {
  expect(commaParts(" a, [b ,c] ,")).toEqual(["a", "[b", "c]", ""]);
});

test("text up to an end stays on its line", () => {
  expect([upTo("(a)b)", 1, ")"), upTo("(a", 1, ")"), upTo("(a\n)", 1, ")")]).toEqual([
    "a",
    undefined,
    undefined,
  ]);
});
