// Facts evaluated in Python 3.11. Deliberate faults (mutants) that these tests detect: // rounds to zero, % has the
// dividend's sign, / of ints gives an int, powers are unlimited, repetition is unlimited, ~ accepts floats.
import { describe, expect, test } from "vitest";
import { evaluateOperation } from "../../lib/python/operation.ts";
import { readExpression } from "../../lib/python/syntax.ts";
import { float, int, list, type PythonValue, str } from "../../lib/python/value.ts";

function evaluate(text: string): PythonValue | undefined {
  const expression = readExpression(text);
  if ("fault" in expression) throw new Error(expression.fault);
  return evaluateOperation(expression, expression.node);
}

describe("arithmetic on literals", () => {
  test.each<[string, PythonValue]>([
    ["2 * 3 + 4", int(10)],
    ["2 + 3 * 4", int(14)],
    ["(2 + 3) * 4", int(20)],
    ["2 ** 70", int(2n ** 70n)],
    ["2 ** 3 ** 2", int(512)],
    ["2 ** -1", float(0.5)],
    ["7 / 2", float(3.5)],
    ["6 / 2", float(3)],
    ["7 // 2", int(3)],
    ["-7 // 2", int(-4)],
    ["7 // -2", int(-4)],
    ["-7 % 3", int(2)],
    ["7 % -3", int(-2)],
    ["-6 % 3", int(0)],
    ["7.5 // 2", float(3)],
    ["-7.5 % 2", float(0.5)],
    ["1 << 3", int(8)],
    ["-9 >> 1", int(-5)],
    ["6 & 3 | 8 ^ 1", int(11)],
    ["~5 + 1", int(-5)],
    ["1 + 1.0", float(2)],
    ["True + 1", int(2)],
    ["+True * 2", int(2)],
    ["-3 - -4", int(1)],
    ["'a' + 'b' 'c'", str("abc")],
    ["'ab' * 2", str("abab")],
    ["2 * 'ab'", str("abab")],
    ["'ab' * -1", str("")],
    ["[1] + [2, 3]", list([int(1), int(2), int(3)])],
    ["[0] * 3", list([int(0), int(0), int(0)])],
    ["(1,) + (2,)", { type: "tuple", items: [int(1), int(2)] }],
  ])("%s", (text, value) => {
    expect(evaluate(text)).toEqual(value);
  });
});

describe("what is refused", () => {
  test.each([
    ["a name", "x + 1"],
    ["a call", "len('abc') + 1"],
    ["division by zero", "1 / 0"],
    ["and its like", "1 // 0"],
    ["and", "1 % 0"],
    ["and", "0 ** -1"],
    ["a float where bits are due", "1.5 << 2"],
    ["and", "~1.5 + 1"],
    ["a negative shift", "1 << -1"],
    ["text and number", "'a' + 1"],
    ["list and tuple", "[1] + (2,)"],
    ["text times float", "'a' * 1.5"],
    ["formatting", "'%s' % 'a'"],
    ["a result that is no number", "1e308 * 10"],
    ["a power of a power", "9 ** 9 ** 9"],
    ["a large power", "2 ** 5000"],
    ["a large product", "(2 ** 4000) * (2 ** 4000)"],
    ["a large shift", "1 << 100000"],
    ["a long text", "'a' * 1000000000"],
    ["a text just too long", "'ab' * 5001"],
    ["a long list", "[0] * 1000000000"],
    ["a comparison", "(1 < 2) + 1"],
    ["a comprehension", "[x for x in 'ab'] + [1]"],
  ])("%s: %s", (_, text) => {
    expect(evaluate(text)).toBeUndefined();
  });
});

test("a chain of a thousand operations is refused, not run out of stack", () => {
  expect(evaluate(`1${"+1".repeat(1000)}`)).toBeUndefined();
});
