// Facts of BFCL's js_type_converter. Deliberate faults (mutants) that these tests detect: a String keeps its quotes,
// Bigint without n, an object ends at the last brace, keys keep their quotes.
import { describe, expect, test } from "vitest";
import { Unjudgeable } from "../../../lib/domains/function-calling/entry.ts";
import { fromJavaScript, JAVASCRIPT_TYPES } from "../../../lib/domains/function-calling/javascript.ts";
import { bool, dict, float, int, list, type PythonValue, str } from "../../../lib/python/value.ts";

describe("simple types; what does not fit stays text", () => {
  test.each<[string, string, PythonValue]>([
    ["String", '"a"', str("a")],
    ["String", "'a'", str("a")],
    ["String", "a", str("a")],
    ["String", "\"a'", str("\"a'")],
    ["integer", "-5", int(-5)],
    ["integer", "5.0", str("5.0")],
    ["float", "1.5", float(1.5)],
    ["float", "5", float(5)],
    ["float", "1e3", str("1e3")],
    ["Bigint", "9007199254740993n", int(9007199254740993n)],
    ["Bigint", "5", str("5")],
    ["Boolean", "false", bool(false)],
    ["Boolean", "1", str("1")],
    ["any", "true", str("true")],
  ])("%s %s", (type, text, value) => {
    expect(fromJavaScript(text, type)).toEqual(value);
  });
});

describe("arrays and objects", () => {
  const ONE_TWO = list([int(1), int(2)]);
  test.each<[string, string, string | undefined, PythonValue]>([
    ["array", "[1, 2]", "integer", ONE_TWO],
    ["array", " [1, 2] ", undefined, ONE_TWO],
    ["array", "new Array(1, 2)", "integer", ONE_TWO],
    ["array", "[]", "integer", list([])],
    ["array", "[ ]", "String", list([])],
    ["array", "[\"a\", 'b', c]", "String", list([str("a"), str("b"), str("c")])],
    ["array", '["a", true, 1.5]', undefined, list([str("a"), bool(true), float(1.5)])],
    ["array", "[[1, 2], [3]]", "array", list([ONE_TWO, list([int(3)])])],
    ["array", "new Array([1, 2], ['x'])", undefined, list([ONE_TWO, list([str("x")])])],
    ["array", "[1, 2", "integer", str("[1, 2")],
    ["array", "[1,\n2]", "integer", str("[1,\n2]")],
    ["array", "[1]", "Symbol", str("[1]")],
    ["dict", "{}", undefined, dict([])!],
    [
      "dict",
      "{a: 1, 'b': 'x', \"c\": true}",
      undefined,
      dict([
        [str("a"), int(1)],
        [str("b"), str("x")],
        [str("c"), bool(true)],
      ])!,
    ],
    [
      "dict",
      "{a: [1, 2], b: 2}",
      undefined,
      dict([
        [str("a"), ONE_TWO],
        [str("b"), int(2)],
      ])!,
    ],
    [
      "dict",
      "{a: x, y, b: 2}",
      undefined,
      dict([
        [str("a"), str("x, y")],
        [str("b"), int(2)],
      ])!,
    ],
    ["dict", "{a: {b: 1}}", undefined, dict([[str("a"), str("{b: 1")]])!],
    ["dict", "{__proto__: 1}", undefined, dict([[str("__proto__"), int(1)]])!],
    ["dict", "config", undefined, str("config")],
    ["dict", "{a: 1,\nb: 2}", undefined, str("{a: 1,\nb: 2}")],
  ])("%s %j of %s", (type, text, items, value) => {
    expect(fromJavaScript(text, type, items)).toEqual(value);
  });
});

test("another type is not converted", () => {
  expect(() => fromJavaScript("x", "Map")).toThrow(Unjudgeable);
  for (const type of JAVASCRIPT_TYPES.keys()) expect(fromJavaScript("x", type)).toEqual(str("x"));
});

test("long texts stay text, and hostile ones cost little", () => {
  const started = performance.now();
  for (const unit of ["[],", "[[", "a:", ",", " ", "{a:{", "], [", "'"]) {
    for (const [type, head] of [
      ["array", "[["],
      ["array", "["],
      ["dict", "{a: 1,"],
    ] as const) {
      const text = head + unit.repeat(10_000);
      expect(fromJavaScript(text, type)).toEqual(str(text));
      fromJavaScript(`${text.slice(0, 3990)}}`, type, "integer");
    }
  }
  expect(performance.now() - started).toBeLessThan(15_000);
});
