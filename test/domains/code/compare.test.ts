// Deliberate faults (mutants) that these tests detect: True equals 1 in strict, int and text keys are equal, trailing
// zeros are kept, nan equals nan, lines are not stripped.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decimal, outputsMatch, sameValue } from "../../../lib/domains/code/compare.ts";
import { REFERENCE } from "../../../lib/domains/code/reference.ts";
import { bool, dict, float, int, list, NONE, type PythonValue, set, str } from "../../../lib/python/value.ts";

describe("what is printed", () => {
  test.each([
    ["3", "3", true],
    ["3\n", "3", true],
    ["  3  \n\n", "3\n", true],
    ["a \n b", "a\nb", true],
    ["a\r\nb\r\n", "a\nb", true],
    ["1.0 2.50", "1 2.5", true],
    ["1e2", "100", true],
    ["-0", "0", true],
    ["+7", "7", true],
    ["007", "7", true],
    ["1_000", "1000", true],
    ["inf", "Infinity", true],
    ["1  2", "1 2", true],
    ["", "", true],
    ["\n\n", "", true],
    ["3", "4", false],
    ["Yes", "YES", false],
    ["a  b", "a b", false],
    ["0.1", "0.10000000000000001", false],
    ["nan", "NaN", false],
    ["inf", "-inf", false],
    ["a\n\nb", "a\nb", false],
    ["1 2", "1\n2", false],
    ["1 2 3", "1 2", false],
    ["1\n2", "1\n2\n3", false],
    ["1\n2\n3", "1\n2", false],
    ["", "0", false],
    ["0x10", "16", false],
    ["1e1e1", "10", false],
    [".", "0", false],
  ])("%j for %j: %s", (actual, expected, matches) => {
    expect(outputsMatch(actual, expected)).toBe(matches);
  });

  test("nan equals itself only as the same line", () => {
    expect([outputsMatch("nan", "nan"), outputsMatch("nan 1", "nan  1")]).toEqual([true, false]);
  });

  test.each([
    ["blanks", " ".repeat(1 << 20)],
    ["runs of blanks", `a${" ".repeat(1000)}`.repeat(1000)],
    ["digits", "1".repeat(1 << 20)],
    ["zeros", `1${"0".repeat(1 << 20)}`],
    ["lines", "1.0\n".repeat(1 << 18)],
    ["exponents", "1e999999999999999999\n".repeat(1 << 15)],
    ["underscores", "_".repeat(1 << 20)],
    ["an exponent of a million digits", `1e${"9".repeat(1 << 20)}`],
  ])("a megabyte of %s takes no time", (_, text) => {
    const started = performance.now();
    outputsMatch(text, `${text} `.replace("1", "2"));
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});

const PYTHON = "/usr/bin/python3";
describe.skipIf(!existsSync(PYTHON))("decimals are those of Python", () => {
  test("over random tokens", () => {
    const token = fc.stringMatching(/^[+-]?[0-9_.eE+-]{1,8}$/);
    const tokens = fc.sample(token, { numRuns: 400, seed: 7 });
    const pairs = tokens.flatMap((a, i) => [
      [a, tokens[(i * 7 + 1) % tokens.length]!],
      [a, `${a}0`],
      [a, `0${a}`],
    ]);
    const script = `import sys, json
from decimal import Decimal
def same(a, b):
    try:
        return Decimal(a) == Decimal(b)
    except Exception:
        return None
print(json.dumps([same(a, b) for a, b in json.load(sys.stdin)]))`;
    const printed = execFileSync(PYTHON, ["-c", script], { input: JSON.stringify(pairs), encoding: "utf8" });
    const ours = pairs.map(([a, b]) => {
      const [left, right] = [decimal(a!), decimal(b!)];
      return left === undefined || right === undefined ? null : left === right;
    });
    expect(ours).toEqual(JSON.parse(printed));
  });
});

const tuple = (...items: PythonValue[]): PythonValue => ({ type: "tuple", items });
const of = (...entries: [PythonValue, PythonValue][]) => dict(entries)!;

/** Each row: actual value, expected value, and whether strict and reference find them equal. */
describe("what is returned", () => {
  test.each<[string, PythonValue, PythonValue, boolean, boolean]>([
    ["an int", int(3), int(3), true, true],
    ["another int", int(4), int(3), false, false],
    ["a float for an int", float(3), int(3), true, true],
    ["an int for a float", int(3), float(3), true, true],
    ["a float beside it", float(3.0000001), int(3), false, false],
    ["a large int for its float", int(2n ** 53n + 1n), float(2 ** 53), false, false],
    ["minus zero", float(-0), int(0), true, true],
    ["nan", float(Number.NaN), float(Number.NaN), false, false],
    ["True for 1", bool(true), int(1), false, true],
    ["1 for True", int(1), bool(true), false, true],
    ["0.0 for False", float(0), bool(false), false, true],
    ["True", bool(true), bool(true), true, true],
    ["False for True", bool(false), bool(true), false, false],
    ["None", NONE, NONE, true, true],
    ["None for 0", NONE, int(0), false, false],
    ["a text", str("a"), str("a"), true, true],
    ["a text for an int", str("3"), int(3), false, false],
    ["bytes for a text", { type: "bytes", value: "a" }, str("a"), false, false],
    ["a list", list([int(1), str("a")]), list([int(1), str("a")]), true, true],
    ["another order", list([int(1), int(2)]), list([int(2), int(1)]), false, false],
    ["a shorter list", list([int(1)]), list([int(1), int(2)]), false, false],
    ["a longer list", list([int(1), int(2)]), list([int(1)]), false, false],
    ["a tuple for a list", tuple(int(1), int(2)), list([int(1), int(2)]), true, true],
    ["a tuple inside", list([tuple(int(1))]), list([list([int(1)])]), true, false],
    ["True inside", list([bool(true)]), list([int(1)]), false, true],
    ["a set for a list", set([int(1)])!, list([int(1)]), false, false],
    ["a text for a list", str("ab"), list([str("a"), str("b")]), false, false],
    ["a dict", of([str("a"), int(1)]), of([str("a"), int(1)]), true, true],
    [
      "a dict in another order",
      of([str("b"), int(2)], [str("a"), int(1)]),
      of([str("a"), int(1)], [str("b"), int(2)]),
      true,
      true,
    ],
    ["int keys for texts", of([int(1), int(2)]), of([str("1"), int(2)]), true, false],
    [
      "an int and its text as keys",
      of([int(1), int(2)], [str("1"), int(2)]),
      of([str("1"), int(2)]),
      false,
      false,
    ],
    ["a bool as key for its text", of([bool(true), int(2)]), of([str("true"), int(2)]), false, false],
    ["another value", of([str("a"), int(1)]), of([str("a"), int(2)]), false, false],
    ["a key more", of([str("a"), int(1)], [str("b"), int(1)]), of([str("a"), int(1)]), false, false],
    ["a key of a prototype", of([str("__proto__"), int(1)]), of([str("toString"), int(1)]), false, false],
    ["a list for a dict", list([]), of(), false, false],
    ["a dict with a key less", of(), of([str("a"), int(1)]), false, false],
    ["a dict with a key more", of([str("a"), int(1)]), of(), false, false],
  ])("%s", (_, actual, expected, strict, reference) => {
    expect([sameValue(actual, expected), REFERENCE.equals(actual, expected)]).toEqual([strict, reference]);
  });
});
