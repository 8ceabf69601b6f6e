import { describe, expect, test } from "vitest";
import { EXACT, evaluate, PYTHON } from "../../../../lib/domains/logic/judging/arithmetic.ts";
import { toText } from "../../../../lib/domains/math/rational.ts";

const exact = (text: string): string | undefined => {
  const value = evaluate(text, EXACT);
  return value && toText(value);
};

/** Python's values, except where exact fractions keep what floats lose. */
test.each([
  ["1+2*3", "7", 7],
  ["(1+2)*3", "9", 9],
  ["10-4-3", "3", 3],
  ["16/4/2", "2", 2],
  ["-4+7", "3", 3],
  ["--4", "4", 4],
  ["2*-3", "-6", -6],
  ["+5", "5", 5],
  ["7%3", "1", 1],
  ["-7%3", "2", 2],
  ["7%-3", "-2", -2],
  ["6-6%9+0*7+4", "4", 4],
  ["8/(3-8/3)", "24", 23.99999999999999],
  ["1/2%2", "1/2", 0.5],
  [" ( 1\n+ 2 ) ", "3", 3],
  ["1\n+2", undefined, undefined],
  ["0+00", "0", 0],
  ["08", undefined, undefined],
  ["1/0", undefined, undefined],
  ["1%0", undefined, undefined],
  ["1//0", undefined, undefined],
  ["7//2", undefined, 3],
  ["-7//2", undefined, -4],
  ["2**3**2", undefined, 512],
  ["-2**2", undefined, -4],
  ["2**-1", undefined, 0.5],
  ["2* *3", undefined, undefined],
  ["", undefined, undefined],
  ["()", undefined, undefined],
  ["(1", undefined, undefined],
  ["1)", undefined, undefined],
  ["1 2", undefined, undefined],
  ["(1)(2)", undefined, undefined],
  ["1+", undefined, undefined],
  ["*1", undefined, undefined],
  ["1.5", undefined, undefined],
  ["x", undefined, undefined],
  ["__import__('os')", undefined, undefined],
  ["1 if 1 else 2", undefined, undefined],
])("%j is %s exactly and %s in Python", (text, fraction, float) => {
  expect([exact(text), evaluate(text, PYTHON)]).toEqual([fraction, float]);
});

describe("hostile expressions have no value", () => {
  test.each([
    ["depth", `${"(".repeat(900)}1${")".repeat(900)}`],
    ["signs", `${"-".repeat(1999)}1`],
    ["length", `1${"+1".repeat(2000)}`],
    ["a tower", "9**9**9**9"],
    ["a long product", "9".repeat(1900)],
  ])("%s", (_, text) => {
    expect(evaluate(text, EXACT) === undefined || evaluate(text, EXACT)!.n > 10n ** 1800n).toBe(true);
    expect([undefined, Number.POSITIVE_INFINITY]).toContain(evaluate(text, PYTHON));
  });
});
