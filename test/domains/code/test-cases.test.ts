// Mutant tried: a result in a list of its own not unwrapped.
import { describe, expect, test } from "vitest";
import { parseCodeReference } from "../../../lib/domains/code/test-cases.ts";
import { bool, float, int, list, str } from "../../../lib/python/value.ts";

const testsOf = (inputs: unknown[], outputs: unknown[], extra: object = {}) =>
  parseCodeReference({ input_output: JSON.stringify({ inputs, outputs }), ...extra }).tests;
const called = (input: unknown, output: unknown) => testsOf([input], [output], { fn_name: "f" })[0];

test("what a row leaves open has defaults", () => {
  expect(parseCodeReference({ input_output: '{"inputs": ["1"], "outputs": ["2"]}' })).toEqual({
    compat: "strict",
    functionName: undefined,
    tests: [{ kind: "script", stdin: "1", expected: "2" }],
    wallMs: 10_000,
    totalMs: 60_000,
    memoryBytes: 2 ** 30,
  });
});

test("limits and mode are taken", () => {
  const limits = { tests: 1, wallMs: 500, totalMs: 900, memoryMb: 4096 };
  const input_output = { inputs: ["1", "2"], outputs: ["3", "4"] };
  expect(parseCodeReference({ input_output, compat: "reference", limits })).toEqual({
    compat: "reference",
    functionName: undefined,
    tests: [{ kind: "script", stdin: "1", expected: "3" }],
    wallMs: 500,
    totalMs: 900,
    memoryBytes: 2 ** 32,
  });
});

test("the function is named by the row or beside it", () => {
  const row = { fn_name: "g", inputs: [[1]], outputs: [2] };
  expect(parseCodeReference({ input_output: JSON.stringify(row) }).functionName).toBe("g");
  expect(parseCodeReference({ input_output: row, fn_name: "h" }).functionName).toBe("h");
  expect(parseCodeReference({ input_output: { ...row, fn_name: null } }).functionName).toBeUndefined();
});

describe("tests of a script", () => {
  test.each([
    ["texts as they are", "1\n2", "3", "1\n2", "3", "1\n2", "3"],
    ["lists of lines", ["1", "2"], ["3"], "1\n2", "3", "['1', '2']", "['3']"],
    ["numbers", 5, 2.5, "5", "2.5", "5", "2.5"],
    ["what Python calls None and True", null, true, "None", "True", "None", "True"],
  ])("%s", (_, input, output, stdin, expected, referenceStdin, referenceExpected) => {
    expect(testsOf([input], [output])).toEqual([{ kind: "script", stdin, expected }]);
    expect(testsOf([input], [output], { compat: "reference" })).toEqual([
      { kind: "script", stdin: referenceStdin, expected: referenceExpected },
    ]);
  });

  test("a float stays one", () => {
    const reference = parseCodeReference({ input_output: '{"inputs": [1.0], "outputs": [1]}' });
    expect(reference.tests).toEqual([{ kind: "script", stdin: "1.0", expected: "1" }]);
  });
});

describe("tests of a call", () => {
  test.each([
    ["a list of arguments", [1, "a"], 2, [int(1), str("a")], int(2)],
    ["no arguments", [], 2, [], int(2)],
    ["a result in a list of its own", [1], [2], [int(1)], int(2)],
    ["a result that is a list of two", [1], [2, 3], [int(1)], list([int(2), int(3)])],
    ["a list in a list", [1], [[2]], [int(1)], list([int(2)])],
    ["JSON, a line an argument", '[1, 2]\n"x"', "[3]", [list([int(1), int(2)]), str("x")], list([int(3)])],
    ["a text that is no JSON", "a\nb", "c", [str("a\nb")], str("c")],
    ["a bare value", 5, true, [int(5)], bool(true)],
  ])("%s", (_, input, output, args, expected) => {
    expect(called(input, output)).toEqual({ kind: "call", args, expected });
  });

  test.each([
    ["100", str("100"), int(100n)],
    ["true", str("true"), bool(true)],
    ['"a"', str('"a"'), str("a")],
    ["[1]", str("[1]"), list([int(1)])],
    [["100"], str("100"), int(100n)],
  ])("a result that is the text %j stays one, and is JSON for the reference", (output, strict, reference) => {
    expect(called([1], output)).toMatchObject({ expected: strict });
    const row = { fn_name: "f", compat: "reference" };
    expect(testsOf([[1]], [output], row)[0]).toMatchObject({ expected: reference });
  });

  test("integers of any size and floats stay what they are", () => {
    const input_output = `{"fn_name": "f", "inputs": [[1.0, ${"9".repeat(30)}]], "outputs": [${"8".repeat(30)}]}`;
    expect(parseCodeReference({ input_output }).tests[0]).toEqual({
      kind: "call",
      args: [float(1), int(BigInt("9".repeat(30)))],
      expected: int(BigInt("8".repeat(30))),
    });
  });
});

test.each([
  [undefined, "input_output"],
  [{}, "input_output"],
  [{ input_output: "{" }, "is no JSON"],
  [{ input_output: "[]" }, "is a list, not an object"],
  [{ input_output: '{"inputs": ["1"]}' }, "outputs is missing"],
  [{ input_output: '{"inputs": "1", "outputs": "2"}' }, "inputs is a str, not a list"],
  [{ input_output: '{"inputs": [], "outputs": []}' }, "0 inputs and 0 outputs"],
  [{ input_output: '{"inputs": ["1"], "outputs": ["2", "3"]}' }, "1 inputs and 2 outputs"],
  [{ input_output: "{}", compat: "lax" }, "compat"],
  [{ input_output: "{}", limits: { wallMs: 1 } }, "limits.wallMs"],
  [{ input_output: "{}", limits: { totalMs: 10 ** 6 } }, "limits.totalMs"],
])("%j is refused: %s", (raw, message) => {
  expect(() => parseCodeReference(raw)).toThrow(
    expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringContaining(message) }),
  );
});
