// Facts of Python 3.13's repr and str. Deliberate faults (mutants) that these tests detect: double quotes are
// preferred, exponents are not padded, a tuple of one has no comma.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readLiteral } from "../../lib/python/literal.ts";
import { floatRepr as float, reprOf, strOf, textRepr } from "../../lib/python/spelling.ts";
import { bool, dict, list, NONE, type PythonValue, str } from "../../lib/python/value.ts";

test.each([
  ["1", "1"],
  ["-12345678901234567890", "-12345678901234567890"],
  ["[1, 2.0, 'a', None, True]", "[1, 2.0, 'a', None, True]"],
  ["(1,)", "(1,)"],
  ["()", "()"],
  ["(1,(2,3))", "(1, (2, 3))"],
  ['{"a": [False], 1: {}}', "{'a': [False], 1: {}}"],
  ["{1, 'x'}", "{1, 'x'}"],
  ["b'a\\x00\\xe9\\''", 'b"a\\x00\\xe9\'"'],
  ["2j", "2j"],
  ["1+2j", "(1+2j)"],
  ["1-2.5j", "(1-2.5j)"],
  ["...", "Ellipsis"],
])("the value of %s is written %s", (source, text) => {
  const literal = readLiteral(source);
  expect("fault" in literal ? literal.fault : reprOf(literal.value)).toBe(text);
});

test.each([
  ["it's", `"it's"`],
  [`a'b"c`, `'a\\'b"c'`],
  ["a\n\t\r\\", "'a\\n\\t\\r\\\\'"],
  ["\u0000\u001f\u007f", "'\\x00\\x1f\\x7f'"],
  ["é😀", "'é😀'"],
  ["\u00a0\u200b\u2028", "'\\xa0\\u200b\\u2028'"],
  ["\u{e0001}", "'\\U000e0001'"],
])("the text %j is written %s", (text, written) => {
  expect(textRepr(text)).toBe(written);
});

test("str() is repr() but for a text", () => {
  expect([str("a'b"), NONE, bool(true), list([str("x")])].map(strOf)).toEqual([
    "a'b",
    "None",
    "True",
    "['x']",
  ]);
});

test("what is written is read back as it was", () => {
  const scalar: fc.Arbitrary<PythonValue> = fc.oneof(
    fc.constant(NONE),
    fc.boolean().map(bool),
    fc.bigInt().map((value) => ({ type: "int", value }) as const),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => ({ type: "float", value }) as const),
    fc.string({ unit: "binary" }).map(str),
  );
  const { value } = fc.letrec<{ value: PythonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }).map(list),
      fc.array(tie("value"), { maxLength: 3 }).map((items) => ({ type: "tuple", items }) as const),
      fc
        .dictionary(fc.string(), tie("value"), { maxKeys: 3 })
        .map((entries) => dict(Object.entries(entries).map(([key, item]) => [str(key), item]))!),
    ),
  }));
  fc.assert(
    fc.property(value, (one) => {
      expect(readLiteral(reprOf(one))).toEqual({ value: one });
    }),
  );
});

describe("floats are printed with the fewest digits, in Python's layout", () => {
  test.each([
    [0, "0.0"],
    [-0, "-0.0"],
    [2, "2.0"],
    [0.1, "0.1"],
    [1e-4, "0.0001"],
    [0.00012345, "0.00012345"],
    [1e-5, "1e-05"],
    [1.5e-7, "1.5e-07"],
    [123456789012345680, "1.2345678901234568e+17"],
    [1e15, "1000000000000000.0"],
    [1e16, "1e+16"],
    [1e100, "1e+100"],
    [-2.5, "-2.5"],
    [Number.NaN, "nan"],
    [Number.NEGATIVE_INFINITY, "-inf"],
  ])("%f", (value, text) => {
    expect(float(value)).toBe(text);
  });

  test("and read back as they were", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (x) => {
        expect(Number(float(x))).toBe(x);
      }),
    );
  });
});
