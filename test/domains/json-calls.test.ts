import { describe, expect, test } from "vitest";
import { jsonCalls } from "../../lib/domains/json-calls.ts";
import { readJson } from "../../lib/python/json.ts";
import { toPlain } from "../../lib/python/value.ts";

const ARGUMENTS = ["name", "arguments"] as const;
const ACTION = ["tool_name", "parameters"] as const;

/** Returns [name, {argument: value}] of each call, or what is wrong. */
function read(text: string, keys: readonly [string, string] = ARGUMENTS, reading = {}): unknown {
  const found = jsonCalls(readJson(text)!, keys, reading);
  if (typeof found === "string") return found;
  return found.map((call) => [
    call.name,
    Object.fromEntries([...call.arguments].map(([name, value]) => [name, toPlain(value)])),
  ]);
}
const F1 = '{"name": "f", "arguments": {"a": 1}}';
const NO_OBJECT = "arguments that are not an object";

describe("with name and arguments", () => {
  test.each([
    ["both", F1, [["f", { a: 1 }]]],
    ["inside a function", `{"function": ${F1}, "type": "function"}`, [["f", { a: 1 }]]],
    ["arguments as text", '{"name": "f", "arguments": "{\\"a\\": 1}"}', [["f", { a: 1 }]]],
    ["more keys", '{"id": "x", "name": "f", "arguments": {}}', [["f", {}]]],
    [
      "name to arguments",
      '{"f": {"a": 1}, "g": {}}',
      [
        ["f", { a: 1 }],
        ["g", {}],
      ],
    ],
    ["a name that is a number", '{"name": 5, "arguments": {}}', [[undefined, {}]]],
    ["special names", '{"__proto__": {"constructor": 1}}', [["__proto__", { constructor: 1 }]]],
    ["no object", '"f"', "a call that is not an object"],
    ["a function that is no object", '{"function": "f"}', "a call whose function is not an object"],
    ["a name that is a list", '{"name": [], "arguments": {}}', "a call whose name is not a text"],
    ["arguments that are no JSON", '{"name": "f", "arguments": "a=1"}', NO_OBJECT],
    ["null arguments", '{"name": "f", "arguments": null}', NO_OBJECT],
    ["a list of arguments", '{"name": "f", "arguments": [1]}', NO_OBJECT],
    ["no arguments", '{"name": "f"}', NO_OBJECT],
    ["parameters for arguments", '{"name": "f", "parameters": {"a": 1}}', NO_OBJECT],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });
});

test("with other keys only an object of both is a call", () => {
  expect(read('{"tool_name": "f", "parameters": {"a": 1}}', ACTION)).toEqual([["f", { a: 1 }]]);
  for (const other of [F1, '{"f": {"a": 1}}', `{"function": ${F1}}`, '{"tool_name": "f"}'])
    expect(read(other, ACTION)).toBe("a call without tool_name and parameters");
});

test("a forgiving reading lets arguments be left out or have the other name", () => {
  const forgiving = { forgiving: true };
  expect(read('{"name": "f"}', ARGUMENTS, forgiving)).toEqual([["f", {}]]);
  expect(read('{"name": "f", "parameters": {"a": 1}}', ARGUMENTS, forgiving)).toEqual([["f", { a: 1 }]]);
  expect(read(F1, ["name", "parameters"], forgiving)).toEqual([["f", { a: 1 }]]);
  expect(read('{"arguments": {}}', ARGUMENTS, forgiving)).toBe("a call without name and arguments");
});

test("a reading that passes over what is unreadable takes it for no call or no arguments", () => {
  const passing = { passesOverUnreadable: true };
  expect(read('"f"', ARGUMENTS, passing)).toEqual([]);
  expect(read('{"name": "f", "arguments": null}', ARGUMENTS, passing)).toEqual([["f", {}]]);
  expect(read('{"name": "f", "arguments": [1, [2]]}', ARGUMENTS, passing)).toBe(NO_OBJECT);
});
