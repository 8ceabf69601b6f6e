// Deliberate faults (mutants) that these tests detect: hashKey gives a bool its own key (1 == True is lost);
// numberKey uses String (1.0 differs from 1 at 1e21); dict keeps the last key; equalSets ignores the size; toPlain
// rounds big ints.
import { describe, expect, test } from "vitest";
import {
  bool,
  dict,
  equals,
  float,
  hashKey,
  int,
  list,
  NONE,
  type PythonValue,
  set,
  str,
  toPlain,
} from "../../lib/python/value.ts";

const tuple = (items: PythonValue[]): PythonValue => ({ type: "tuple", items });
const bytes = (value: string): PythonValue => ({ type: "bytes", value });
const complex = (real: number, imaginary: number): PythonValue => ({ type: "complex", real, imaginary });
const big = 2n ** 70n;

/** Facts of Python 3.11: the pairs that `==` finds equal. */
describe("equality is Python's", () => {
  test.each([
    ["1 == 1.0", int(1), float(1)],
    ["1 == True", int(1), bool(true)],
    ["0.0 == False", float(0), bool(false)],
    ["0.0 == -0.0", float(0), float(-0)],
    ["1 == 1+0j", int(1), complex(1, 0)],
    ["2**70 == float(2**70)", int(big), float(2 ** 70)],
    ["inf == inf", float(Number.POSITIVE_INFINITY), float(Number.POSITIVE_INFINITY)],
    ["[1, 'a'] == [1.0, 'a']", list([int(1), str("a")]), list([float(1), str("a")])],
    ["(1,) == (True,)", tuple([int(1)]), tuple([bool(true)])],
    ["{1, 2} == {2.0, 1}", set([int(1), int(2)])!, set([float(2), int(1)])!],
    [
      "dicts in another order",
      dict([
        [str("a"), int(1)],
        [str("b"), int(2)],
      ])!,
      dict([
        [str("b"), int(2)],
        [str("a"), float(1)],
      ])!,
    ],
    ["None is None", NONE, { type: "NoneType" }],
  ] as const)("%s", (_, a, b) => {
    expect([equals(a, b), equals(b, a)]).toEqual([true, true]);
  });

  test.each([
    ["1 != '1'", int(1), str("1")],
    ["'a' != b'a'", str("a"), bytes("a")],
    ["[1] != (1,)", list([int(1)]), tuple([int(1)])],
    ["None != False", NONE, bool(false)],
    ["2**70 + 1 != float(2**70)", int(big + 1n), float(2 ** 70)],
    ["nan != nan", float(Number.NaN), float(Number.NaN)],
    ["1 != 1+1j", int(1), complex(1, 1)],
    ["[1, 2] != [1]", list([int(1), int(2)]), list([int(1)])],
    ["{1} != {1, 2}", set([int(1)])!, set([int(1), int(2)])!],
    ["{1} != [1]", set([int(1)])!, list([int(1)])],
    ["{'a': 1} != {'a': 2}", dict([[str("a"), int(1)]])!, dict([[str("a"), int(2)]])!],
    ["{'a': 1} != {'b': 1}", dict([[str("a"), int(1)]])!, dict([[str("b"), int(1)]])!],
    ["{} != []", dict([])!, list([])],
  ] as const)("%s", (_, a, b) => {
    expect([equals(a, b), equals(b, a)]).toEqual([false, false]);
  });
});

describe("hashing", () => {
  test("lists, dicts and sets have no hash, nor has a tuple of one", () => {
    const unhashable = [list([]), dict([])!, set([])!, tuple([tuple([list([])])])];
    expect(unhashable.map(hashKey)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test("tuples that only look alike when their items run together are apart", () => {
    expect(hashKey(tuple([str("a"), str("b")]))).not.toBe(hashKey(tuple([str('a","sb')])));
    expect(hashKey(tuple([tuple([int(1)]), int(2)]))).not.toBe(hashKey(tuple([int(1), int(2)])));
  });

  test("of equal dict keys the first stays, with the last value", () => {
    const built = dict([
      [int(1), str("a")],
      [str("x"), NONE],
      [bool(true), str("b")],
    ]);
    expect(built).toEqual({
      type: "dict",
      entries: [
        [int(1), str("b")],
        [str("x"), NONE],
      ],
    });
    expect(dict([[list([]), NONE]])).toBeUndefined();
  });

  test("of equal set items the first stays", () => {
    expect(set([float(1), int(1), bool(true), int(2)])).toEqual({ type: "set", items: [float(1), int(2)] });
    expect(set([dict([])!])).toBeUndefined();
  });

  test("no key is special", () => {
    const built = dict([
      [str("__proto__"), int(1)],
      [str("constructor"), int(2)],
    ])!;
    expect(toPlain(built)).toEqual(
      new Map([
        ["__proto__", 1],
        ["constructor", 2],
      ]),
    );
  });
});

test.each<[string, PythonValue, unknown]>([
  ["None", NONE, null],
  ["True", bool(true), true],
  ["a small int", int(7), 7],
  ["the largest safe int", int(2n ** 53n - 1n), 2 ** 53 - 1],
  ["a larger int", int(2n ** 53n), 2n ** 53n],
  ["a larger negative int", int(-(2n ** 60n)), -(2n ** 60n)],
  ["a float", float(1.5), 1.5],
  ["text", str("a"), "a"],
  ["bytes", bytes("\xff"), "\xff"],
  ["nested sequences", list([tuple([int(1)]), set([int(2)])!]), [[1], [2]]],
  ["a dict", dict([[int(1), list([])]])!, new Map([[1, []]])],
  ["a complex number", complex(1, 2), undefined],
  ["an ellipsis", { type: "ellipsis" }, undefined],
])("%s in plain form", (_, value, plain) => {
  expect(toPlain(value)).toEqual(plain);
});
