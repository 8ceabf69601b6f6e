// Facts of Python 3.11's json.loads. Deliberate faults (mutants) that these tests detect: every number is a float,
// depth is unlimited, NaN is refused, control characters are accepted.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readJson } from "../../lib/python/json.ts";
import { bool, dict, equals, float, int, list, NONE, type PythonValue, str } from "../../lib/python/value.ts";

describe("what json.loads reads", () => {
  test.each<[string, PythonValue]>([
    ["1", int(1)],
    ["-0", int(0)],
    ["1.0", float(1)],
    ["1e2", float(100)],
    ["-1.5E-1", float(-0.15)],
    ["9007199254740993", int(9007199254740993n)],
    ["1e999", float(Number.POSITIVE_INFINITY)],
    ["NaN", float(Number.NaN)],
    ["-Infinity", float(Number.NEGATIVE_INFINITY)],
    [" null ", NONE],
    ["true", bool(true)],
    ["false", bool(false)],
    ['"a\\n\\u00e9\\"\\/"', str('a\né"/')],
    ['"\\ud83d\\ude00"', str("😀")],
    ['"\\ud800"', str("\ud800")],
    ['"é😀\u007f"', str("é😀\u007f")],
    ["[]", list([])],
    ["[1, 1.0,\n\t[]]", list([int(1), float(1), list([])])],
    ["{}", dict([])!],
    [
      '{"a": 1, "b": {"a": 2}, "a": 3}',
      dict([
        [str("a"), int(3)],
        [str("b"), dict([[str("a"), int(2)]])!],
      ])!,
    ],
    ['{"__proto__": {"constructor": 1}}', dict([[str("__proto__"), dict([[str("constructor"), int(1)]])!]])!],
  ])("%s", (text, value) => {
    expect(readJson(text)).toEqual(value);
  });
});

test.each([
  "",
  " ",
  "01",
  "+1",
  ".5",
  "1.",
  "1e",
  "--1",
  "nul",
  "True",
  "undefined",
  "'a'",
  '"a',
  '"\\x41"',
  '"\\u12"',
  '"\\"',
  '"a\nb"',
  '"\u0000"',
  "[1,]",
  "[,1]",
  "[1 2]",
  "[1",
  "{1: 2}",
  '{"a"}',
  '{"a": }',
  '{"a": 1,}',
  '{"a": 1 "b": 2}',
  "1 2",
  "[] // none",
  "\u00a01",
  "\ufeff1",
  "-",
])("%j is none", (text) => {
  expect(readJson(text)).toBeUndefined();
});

test("depth and digits are bounded", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  expect(readJson(nested(500))).toBeDefined();
  expect(readJson(nested(502))).toBeUndefined();
  expect(readJson("[".repeat(1_000_000))).toBeUndefined();
  expect(readJson("9".repeat(4300))).toEqual(int(10n ** 4300n - 1n));
  expect(readJson("9".repeat(4301))).toBeUndefined();
});

/** JSON.parse has the same grammar without NaN and Infinity, and does not distinguish int from float. */
function fromParsed(value: unknown): PythonValue {
  if (value === null) return NONE;
  if (typeof value === "boolean") return bool(value);
  if (typeof value === "number") return float(value);
  if (typeof value === "string") return str(value);
  if (Array.isArray(value)) return list(value.map(fromParsed));
  return dict(Object.entries(value as object).map(([key, item]) => [str(key), fromParsed(item)]))!;
}

/** Converts ints to the floats that JSON.parse returns. */
function floated(value: PythonValue): PythonValue {
  if (value.type === "int") return float(Number(value.value));
  if (value.type === "list") return list(value.items.map(floated));
  return value.type === "dict" ? dict(value.entries.map(([key, item]) => [key, floated(item)]))! : value;
}

test("every JSON value is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const read = readJson(text);
      expect(read !== undefined && equals(floated(read), fromParsed(JSON.parse(text)))).toBe(true);
    }),
  );
});

test("a damaged text is refused exactly where JSON.parse refuses it", () => {
  const damage = fc.tuple(fc.nat(40), fc.constantFrom("", ",", "}", "]", '"', "{", "1", " ", "\\", "e"));
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), damage, (value, [at, put]) => {
      const text = JSON.stringify(value);
      const damaged = text.slice(0, at) + put + text.slice(at + 1);
      let isJson = true;
      try {
        JSON.parse(damaged);
      } catch {
        isJson = false;
      }
      expect(readJson(damaged) !== undefined).toBe(isJson);
    }),
    { numRuns: 500 },
  );
});
