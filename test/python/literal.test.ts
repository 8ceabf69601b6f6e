// Facts of Python 3.11's ast.literal_eval: 40,000 random texts gave the same values and refusals there. Deliberate
// faults (mutants) that these tests detect: a sign before a sign; True with a sign; unlimited depth; a str beside a
// bytes literal.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readLiteral } from "../../lib/python/literal.ts";
import {
  bool,
  dict,
  equals,
  float,
  int,
  list,
  NONE,
  type PythonValue,
  set,
  str,
} from "../../lib/python/value.ts";

const tuple = (items: PythonValue[]): PythonValue => ({ type: "tuple", items });
const complex = (real: number, imaginary: number): PythonValue => ({ type: "complex", real, imaginary });

describe("what Python takes for a literal", () => {
  test.each<[string, PythonValue]>([
    ["1", int(1)],
    ["-1", int(-1)],
    ["+1.0", float(1)],
    ["(1)", int(1)],
    ["-(1)", int(-1)],
    ["1.", float(1)],
    ["[1., -2.e1]", list([float(1), float(-20)])],
    ["1+2j", complex(1, 2)],
    ["-1.5 - 2j", complex(-1.5, -2)],
    ["-2j", complex(-0, -2)],
    ["12345678901234567890123", int(12345678901234567890123n)],
    ["None", NONE],
    ["True", bool(true)],
    ["...", { type: "ellipsis" }],
    ["'a' \"b\" r'\\n'", str("ab\\n")],
    ["('a'\n 'b')", str("ab")],
    ["b'a' B'b'", { type: "bytes", value: "ab" }],
    ["[]", list([])],
    ["[1, 'a',]", list([int(1), str("a")])],
    ["()", tuple([])],
    ["(1,)", tuple([int(1)])],
    ["1, 2", tuple([int(1), int(2)])],
    ["1,", tuple([int(1)])],
    ["((1, 2), [3])", tuple([tuple([int(1), int(2)]), list([int(3)])])],
    ["{}", dict([])!],
    [
      "{'a': 1, 2: [3],}",
      dict([
        [str("a"), int(1)],
        [int(2), list([int(3)])],
      ])!,
    ],
    ["{1: 'a', 1.0: 'b'}", dict([[int(1), str("b")]])!],
    ["{(1, 2): 3}", dict([[tuple([int(1), int(2)]), int(3)]])!],
    ["{1, 2, 1.0}", set([int(1), int(2)])!],
    ["set()", set([])!],
    ["set ( # none\n)", set([])!],
    ["[ # first\n 1, # second\n 2 ]", list([int(1), int(2)])],
    [" \t[1]\n\n", list([int(1)])],
    ["\n# a grid\n[1]", list([int(1)])],
    ["{'__proto__': 1}", dict([[str("__proto__"), int(1)]])!],
  ])("%s", (text, value) => {
    expect(readLiteral(text)).toEqual({ value });
  });
});

describe("what it does not", () => {
  test.each([
    "x",
    "f(1)",
    "set([1])",
    "list()",
    "- -1",
    "-True",
    "-'a'",
    "~1",
    "not True",
    "1 + 2",
    "1j + 1",
    "1 + -2j",
    "1 + 2j + 3j",
    "'a' + 'b'",
    "[1] * 2",
    "f'a'",
    "'a' f'b'",
    "'a' b'b'",
    "[*[1]]",
    "{*[1]}",
    "{**{}}",
    "{'a': 1, **{}}",
    "{[1]: 2}",
    "{[1]}",
    "{{}}",
    "[x for x in [1]]",
    "{1: 2 for x in [1]}",
    "[1][0]",
    "1 if True else 2",
    "(x := 1)",
    "lambda: 1",
    "1 < 2",
    "007",
    "'\\x4'",
    "__import__('os').system('id')",
  ])("%s", (text) => {
    expect(readLiteral(text)).toEqual({ fault: "not a literal" });
  });

  test.each(["", "[1 2]", "[1", "1; 2", "1\n2", "'a\nb'", "a = 1", "[1]]"])(
    "%j, which does not parse",
    (text) => {
      expect(readLiteral(text)).toEqual({ fault: "not a Python expression" });
    },
  );
});

test("brackets nest 200 levels, as in CPython", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  expect(readLiteral(nested(200))).toHaveProperty("value");
  expect(readLiteral(nested(202))).toEqual({ fault: "not a literal" });
  expect(readLiteral(nested(50_000))).toEqual({ fault: "not a Python expression" });
});

/** Random values with their spelling, by rules written in this test. */
const spelled: fc.Arbitrary<[string, PythonValue]> = fc.letrec<{ value: [string, PythonValue] }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.bigInt().map((n): [string, PythonValue] => [String(n), int(n)]),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((x): [string, PythonValue] => [Number.isInteger(x) ? x.toExponential() : String(x), float(x)]),
    fc.string({ unit: "binary-ascii" }).map((s): [string, PythonValue] => {
      const escaped = [...s].map((c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
      return [`'${escaped.join("")}'`, str(s)];
    }),
    fc
      .array(tie("value"), { maxLength: 4 })
      .map((items): [string, PythonValue] => [
        `[${items.map(([text]) => text).join(", ")}]`,
        list(items.map(([, value]) => value)),
      ]),
    fc
      .array(tie("value"), { maxLength: 4 })
      .map((items): [string, PythonValue] => [
        `(${items.map(([text]) => `${text} ,`).join("\n")})`,
        tuple(items.map(([, value]) => value)),
      ]),
  ),
})).value;

test("a value that was spelled out is read back", () => {
  fc.assert(
    fc.property(spelled, ([text, value]) => {
      const read = readLiteral(text);
      expect(read).toHaveProperty("value");
      if ("value" in read) expect(equals(read.value, value) && read.value.type === value.type).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("no text makes it throw", () => {
  const token = fc.constantFrom(
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ",",
    ":",
    "-",
    "1",
    "1.",
    "'",
    "'a'",
    "*",
    "x",
    "\\",
    "\n",
    "#",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.array(token).map((ts) => ts.join("")),
      ),
      (text) => {
        const read = readLiteral(text);
        expect("value" in read || read.fault.length < 100).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});
