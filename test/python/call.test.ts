// Facts of BFCL's decoder over Python 3.11's ast. Deliberate faults (mutants) that these tests detect: positional
// arguments are refused, the first of equal keywords is kept, names are joined without dots, a bare name is refused,
// `f(a=1, 2)` is accepted.
import { describe, expect, test } from "vitest";
import { readCalls } from "../../lib/python/call.ts";
import { bool, dict, float, int, list, NONE, type PythonValue, str } from "../../lib/python/value.ts";

/** The value of keyword argument `a` in a call. */
function keywordValue(text: string): PythonValue | undefined {
  return readCalls(`f(a=${text})`)?.[0]?.keywords.get("a");
}

describe("calls", () => {
  const named = (text: string) => readCalls(text)?.map(({ name, keywords }) => [name, [...keywords.keys()]]);
  test.each([
    ["f()", [["f", []]]],
    [
      "[f(a=1), g.h.i(b=2, c=3)]",
      [
        ["f", ["a"]],
        ["g.h.i", ["b", "c"]],
      ],
    ],
    [
      "(f(), g(),)",
      [
        ["f", []],
        ["g", []],
      ],
    ],
    [
      "f(), g()",
      [
        ["f", []],
        ["g", []],
      ],
    ],
    ["[]", []],
    [
      "[\n  f(a=1), # the first\n  g()\n]",
      [
        ["f", ["a"]],
        ["g", []],
      ],
    ],
    ["(f)(a=1)", [["f", ["a"]]]],
    ["f(a=1)(b=2)", [["", ["b"]]]],
    ["f(**kw)", [["f", ["**"]]]],
    ["f(a=1, **kw)", [["f", ["a", "**"]]]],
    ["__proto__(constructor=1)", [["__proto__", ["constructor"]]]],
    ["f(print=1, match=2, type=3)", [["f", ["print", "match", "type"]]]],
    ["ｆ(a=1)", [["f", ["a"]]]],
  ])("%s", (text, expected) => {
    expect(named(text)).toEqual(expected);
  });

  test("positional arguments are counted and not read; of equal keywords the last counts", () => {
    expect(readCalls("f(lambda: 0, *x, a=1, a=2)")).toEqual([
      { name: "f", keywords: new Map([["a", int(2)]]), positional: 2 },
    ]);
  });

  test.each([
    "",
    "f",
    "f(",
    "1",
    "{}",
    "{f()}",
    "[f(), 1]",
    "[f(), [g()]]",
    "f() + g()",
    "f() and g()",
    "[f() for x in y]",
    "f(a=1, 2)",
    "f(**a, *b)",
    "f(x for x in y, 1)",
    "f(1=2)",
    "f(a.b=1)",
    "f(class=1)",
    "f(); g()",
    "f()\ng()",
    "Sure: [f()]",
    "```python\n[f()]",
    "await f()",
    "x = f()",
  ])("%j is none", (text) => {
    expect(readCalls(text)).toBeUndefined();
  });
});

describe("values", () => {
  test.each<[string, PythonValue]>([
    ["1", int(1)],
    ["1.0", float(1)],
    ["-1.5", float(-1.5)],
    ["+1", int(-1)],
    ["not True", int(-1)],
    ["True", bool(true)],
    ["None", NONE],
    ["'a' 'b'", str("ab")],
    ["x", str("x")],
    ["...", str("...")],
    ["[1, (2, x)]", list([int(1), { type: "tuple", items: [int(2), str("x")] }])],
    [
      "{'k': [y], 2: 'v'}",
      dict([
        [str("k"), list([str("y")])],
        [int(2), str("v")],
      ])!,
    ],
    ["2 * 3", int(6)],
    ["'a' + 'b'", str("ab")],
    ["g( 1,\n2 )", str("g(1, 2)")],
    ["np.array([1,2])", str("np.array([1, 2])")],
    ["g(b=1)", dict([[str("g"), dict([[str("b"), int(1)]])!]])!],
    [
      "g(1, b=h(c=2))",
      dict([[str("g"), dict([[str("b"), dict([[str("h"), dict([[str("c"), int(2)]])!]])!]])!]])!,
    ],
    ["d['k']", str("d['k']")],
    ["b'x'", { type: "bytes", value: "x" }],
  ])("%s", (text, value) => {
    expect(keywordValue(text)).toEqual(value);
  });

  test.each([
    "a.b",
    "f'x'",
    "{1, 2}",
    "lambda: 1",
    "1 < 2",
    "x and y",
    "1 if x else 2",
    "[i for i in x]",
    "[*x]",
    "{**x}",
    "{[1]: 2}",
    "- -1",
    "-x",
    "-'a'",
    "x + 1",
    "len('a') + 1",
    "(y := 1)",
    "'\\x4'",
    "007",
  ])("%s is refused", (text) => {
    expect(keywordValue(text)).toBeUndefined();
  });
});

test("deep and long texts are refused or read in bounded time", () => {
  const started = performance.now();
  for (const text of [
    `f(a=${"g(b=".repeat(5000)}1${")".repeat(5000)})`,
    `f(a=${"[".repeat(400)}${"]".repeat(400)})`,
    `[${"f(a=1),".repeat(10_000)}]`,
    `f(a=${"x.".repeat(2000)}y)`,
    `f(${"a=1,".repeat(20_000)})`,
  ])
    readCalls(text);
  expect(performance.now() - started).toBeLessThan(15_000);
  expect(keywordValue(`${"[".repeat(400)}${"]".repeat(400)}`)).toBeUndefined();
});
