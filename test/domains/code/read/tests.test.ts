import { describe, expect, test } from "vitest";
import { readTests } from "../../../../lib/domains/code/read/tests.ts";

// Deliberate faults (mutants) that these tests detect: kinds are not compared, names are not compared, the limit of
// tests cuts only the outputs, the outer name is preferred to the inner, assertions are read as tests.

const read = (tests: unknown, options: object = {}) =>
  readTests(typeof tests === "string" ? tests : JSON.stringify(tests), { field: "tests", ...options });
const call = { input: "[1, 2]\n3", output: "6", testtype: "functional", metadata: { func_name: "add" } };
const program = { input: "1\n", output: "2\n", type: "stdin_stdout", fn_name: null };

describe("a list of tests", () => {
  test("of a program", () => {
    expect(
      read([
        program,
        { ...program, type: undefined },
        { ...program, metadata: { func_name: "f" } },
        { input: "3", output: "4", type: "stdin" },
      ]),
    ).toEqual({
      inputOutput: '{"inputs": ["1\\n", "1\\n", "1\\n", "3"], "outputs": ["2\\n", "2\\n", "2\\n", "4"]}',
      fnName: undefined,
    });
  });

  test("of a function, named in the test, in its metadata or beside the tests; literals as written", () => {
    const named = {
      inputOutput: '{"fn_name": "add", "inputs": ["[1, 2]\\n3"], "outputs": ["6"]}',
      fnName: "add",
    };
    expect(read([call])).toEqual(named);
    expect(read([{ ...call, fn_name: "add", metadata: null }])).toEqual(named);
    expect(read([{ ...call, metadata: { func_name: null } }], { fnName: "add" })).toEqual(named);
    expect(read([call], { fnName: "other" })).toEqual(named);
    expect(read('[{"fn_name": "f", "input": [1.0, 12345678901234567890], "output": 1e400}]')).toEqual({
      inputOutput: '{"fn_name": "f", "inputs": [[1.0, 12345678901234567890]], "outputs": [1e400]}',
      fnName: "f",
    });
  });

  test("is cut to the first ones", () => {
    const few = read([program, { ...program, input: "9" }, "no test"], { maxTests: 2 });
    expect(few).toMatchObject({ inputOutput: '{"inputs": ["1\\n", "9"], "outputs": ["2\\n", "2\\n"]}' });
  });

  test.each([
    [[program, call], "tests: tests of both kinds"],
    [[call, { ...call, metadata: { func_name: "sub" } }], "tests: tests of several functions"],
    [[{ ...call, metadata: {} }], "tests: a call of no function"],
    [[{ ...call, metadata: { func_name: "a b" } }], "tests: a call of no function"],
    [[{ ...program, type: "checker" }], "tests.#.type: neither stdin_stdout nor function_call"],
    [[{ input: "1" }], "tests.#: neither input nor output"],
    [[1], "tests: not JSON with inputs and outputs"],
    [[], "tests: no tests"],
    ["[", "tests: not JSON with inputs and outputs"],
  ])("%j is bad", (tests, bad) => expect(read(tests)).toEqual({ bad }));
});

test("columns of inputs and outputs are those of TACO; a name beside them counts where they have none", () => {
  const tests = { inputs: [[1]], outputs: [2] };
  expect(read(tests, { fnName: "f" })).toEqual({ inputOutput: JSON.stringify(tests), fnName: "f" });
  expect(read({ ...tests, fn_name: "g" }, { fnName: "f" })).toMatchObject({ fnName: "g" });
});

test.each([{ test_code: "def check(f): ...", entry_point: "f" }, { assert_case: ["assert f(1) == 2"] }])(
  "%j are assertions, which nobody here judges as tests",
  (tests) =>
    expect(read(tests)).toEqual({ leftOut: "tests: assertions, which the verifier code does not judge" }),
);
