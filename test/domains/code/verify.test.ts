import { expect, test } from "vitest";
import { REFERENCE } from "../../../lib/domains/code/reference.ts";
import { STRICT } from "../../../lib/domains/code/strict.ts";
import { code } from "../../../lib/domains/code/verify.ts";

test("what a row leaves open has defaults", () => {
  expect(code.parseReference({ input_output: '{"inputs": ["1"], "outputs": ["2"]}' })).toEqual({
    rules: STRICT,
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
  expect(code.parseReference({ input_output, compat: "reference", limits })).toEqual({
    rules: REFERENCE,
    functionName: undefined,
    tests: [{ kind: "script", stdin: "1", expected: "3" }],
    wallMs: 500,
    totalMs: 900,
    memoryBytes: 2 ** 32,
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
  expect(() => code.parseReference(raw)).toThrow(
    expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringContaining(message) }),
  );
});
