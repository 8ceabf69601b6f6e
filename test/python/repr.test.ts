import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readLiteral } from "../../lib/python/literal.ts";
import { parseRepr } from "../../lib/python/repr.ts";
import { toPlain } from "../../lib/python/value.ts";

describe("values as repr() writes them", () => {
  test.each<[string, unknown]>([
    ["None", null],
    ["True", true],
    [" False ", false],
    ["-12", -12],
    ["1.5", 1.5],
    ["1e-05", 1e-5],
    ["'it''s'".slice(0, 4), "it"],
    ['"it\'s"', "it's"],
    ["'say \"hi\"\\n\\t\\\\ \\'x\\''", "say \"hi\"\n\t\\ 'x'"],
    ["'\\xe9\\u20ac\\U0001f600'", "é€😀"],
    ["'\\d stays'", "\\d stays"],
    ["'a\\\nb'", "ab"],
    ["'\\101\\7'", "A\x07"],
    ["-0.0", -0],
    ["[+5, 1., .5, 00, 1E3, 01.5, 1e999]", [5, 1, 0.5, 0, 1000, 1.5, Number.POSITIVE_INFINITY]],
    ["()", []],
    ["((),)", [[]]],
    ["[1,]", [1]],
    ["{'a': (),}", { a: [] }],
    ["[]", []],
    ["[1, 'two', None,]", [1, "two", null]],
    ["(1, (2,))", [1, [2]]],
    ["{}", {}],
    ["{'a': {'b': [True]}, \"c\": 2}", { a: { b: [true] }, c: 2 }],
    ["{'a': 1, 'a': 2}", { a: 2 }],
  ])("%s", (text, value) => {
    expect(parseRepr(text)).toEqual(value);
  });

  test("a key named __proto__ is a key", () => {
    const value = parseRepr("{'__proto__': {'x': 1}}") as object;
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test("a row of the data set", () => {
    const text =
      "[{'instruction_id': ['length_constraints:number_words', 'punctuation:no_comma'], 'kwargs': [{'relation': 'at least', 'num_words': 300}, None]}]";
    expect(parseRepr(text)).toEqual([
      {
        instruction_id: ["length_constraints:number_words", "punctuation:no_comma"],
        kwargs: [{ relation: "at least", num_words: 300 }, null],
      },
    ]);
  });
});

test("whatever a list of texts, numbers and names holds survives", () => {
  const python = (value: unknown): string => {
    if (value === null) return "None";
    if (typeof value === "boolean") return value ? "True" : "False";
    if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
    if (typeof value === "string") return `'${value.replace(/[\\']/g, "\\$&").replaceAll("\n", "\\n")}'`;
    if (typeof value !== "object") return String(value);
    const members = Object.entries(value).map(([key, one]) => `${python(key)}: ${python(one)}`);
    return `{${members.join(", ")}}`;
  };
  const leaf = fc.oneof(fc.string(), fc.boolean(), fc.constant(null), fc.maxSafeInteger());
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: "small" },
      leaf,
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie("tree"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      expect(parseRepr(python(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

describe("beside the verifiers' reader of whole Python", () => {
  const members = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(members);
    if (value instanceof Map) return Object.fromEntries([...value].map(([key, one]) => [key, members(one)]));
    return value;
  };
  const theirs = (text: string): unknown => {
    const read = readLiteral(text);
    return "fault" in read ? read : members(toPlain(read.value));
  };
  const ours = (text: string): unknown => {
    try {
      return { value: parseRepr(text) };
    } catch (error) {
      expect(error).toBeInstanceOf(SyntaxError);
      return undefined;
    }
  };

  // trimmed, because a line break before the value is indentation in Python and white space here
  test("whatever this one takes, that one takes for the same value", () => {
    const pieces = [
      "(",
      ")",
      "[",
      "]",
      "{",
      "}",
      ",",
      ":",
      " ",
      "\n",
      "'a'",
      '"b"',
      "'c'",
      "'\\x41'",
      "'\\q'",
      "''",
    ];
    const words = [
      "1",
      "-2",
      "+3",
      "007",
      "1.",
      ".5",
      "1e3",
      "-1E-2",
      "1_0",
      "True",
      "None",
      "--1",
      "1j",
      "0x1",
    ];
    let taken = 0;
    const text = fc
      .array(fc.constantFrom(...pieces, ...words), { maxLength: 9 })
      .map((some) => some.join("").trim());
    fc.assert(
      fc.property(text, (literal) => {
        const value = ours(literal);
        if (value === undefined) return;
        taken += 1;
        expect([literal, value]).toEqual([literal, { value: theirs(literal) }]);
      }),
      { numRuns: 20_000 },
    );
    expect(taken).toBeGreaterThan(500);
  });
});

describe("anything else is a syntax error", () => {
  test.each([
    "",
    "x",
    "nan",
    "1 2",
    "[1",
    "[1 2]",
    "[,]",
    "(,)",
    "{,}",
    "[1,,]",
    "(1]",
    "]",
    "[1],",
    "1,",
    "'a' 'b'",
    "'\\N{DIGIT ONE}'",
    "+",
    ".",
    "1e",
    "null",
    "true",
    "{'a'}",
    "{1: 2}",
    "{'a': }",
    "'open",
    "'line\nbreak'",
    "'\\x4'",
    "'\\U00110000'",
    "__import__('os').system('true')",
    "1+1",
    "9007199254740993",
    "007",
    "(1)",
    "('a')",
    "[1,\u00a02]",
    "[".repeat(60) + "]".repeat(60),
    " ".repeat((1 << 20) + 1),
  ])("%j", (text) => {
    expect(() => parseRepr(text)).toThrow(SyntaxError);
  });

  test("in linear time", () => {
    const begun = process.cpuUsage();
    for (const unit of ["[", "'", "\\", "{'a':", "1", "(1,"]) {
      expect(() => parseRepr(`'${unit.repeat(170_000)}`)).toThrow(SyntaxError);
    }
    expect(process.cpuUsage(begun).user).toBeLessThan(10e6); // takes microseconds; quadratic time would be minutes
  });
});
