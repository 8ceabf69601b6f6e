// A deliberate fault (mutant) that these tests detect: a result in a list of one is not unwrapped.
import { describe, expect, test } from "vitest";
import { REFERENCE } from "../../../lib/domains/code/reference.ts";
import { STRICT } from "../../../lib/domains/code/strict.ts";
import { readTests } from "../../../lib/domains/code/test-cases.ts";
import { bool, float, int, list, str } from "../../../lib/python/value.ts";

const testsOf = (inputs: unknown[], outputs: unknown[], fn_name?: string, rules = STRICT) =>
  readTests(JSON.stringify({ inputs, outputs }), fn_name, rules).tests;
const called = (input: unknown, output: unknown) => testsOf([input], [output], "f")[0];

test("the function is named by the row or beside it", () => {
  const row = { fn_name: "g", inputs: [[1]], outputs: [2] };
  expect(readTests(JSON.stringify(row), undefined, STRICT).functionName).toBe("g");
  expect(readTests(row, "h", STRICT).functionName).toBe("h");
  expect(readTests({ ...row, fn_name: null }, null, STRICT).functionName).toBeUndefined();
});

describe("tests of a script", () => {
  test.each([
    ["texts as they are", "1\n2", "3", "1\n2", "3", "1\n2", "3"],
    ["lists of lines", ["1", "2"], ["3"], "1\n2", "3", "['1', '2']", "['3']"],
    ["numbers", 5, 2.5, "5", "2.5", "5", "2.5"],
    ["what Python calls None and True", null, true, "None", "True", "None", "True"],
  ])("%s", (_, input, output, stdin, expected, referenceStdin, referenceExpected) => {
    expect(testsOf([input], [output])).toEqual([{ kind: "script", stdin, expected }]);
    expect(testsOf([input], [output], undefined, REFERENCE)).toEqual([
      { kind: "script", stdin: referenceStdin, expected: referenceExpected },
    ]);
  });

  test("a float stays one", () => {
    const { tests } = readTests('{"inputs": [1.0], "outputs": [1]}', undefined, STRICT);
    expect(tests).toEqual([{ kind: "script", stdin: "1.0", expected: "1" }]);
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
    expect(testsOf([[1]], [output], "f", REFERENCE)[0]).toMatchObject({ expected: reference });
  });

  test("integers of any size and floats stay what they are", () => {
    const input_output = `{"fn_name": "f", "inputs": [[1.0, ${"9".repeat(30)}]], "outputs": [${"8".repeat(30)}]}`;
    expect(readTests(input_output, undefined, STRICT).tests[0]).toEqual({
      kind: "call",
      args: [float(1), int(BigInt("9".repeat(30)))],
      expected: int(BigInt("8".repeat(30))),
    });
  });
});
