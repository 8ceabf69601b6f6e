// Deliberate faults (mutants) that these tests detect: the first block is taken, a blank last block is taken, tags
// are case-sensitive, gorilla items of several calls are cut to one, single tags are read too.
import { describe, expect, test } from "vitest";
import { hasToolCalls, readToolCalls } from "../../../lib/domains/function-calling/tool-calls.ts";
import { toPlain } from "../../../lib/python/value.ts";

/** Returns [name, {argument: value}] of each call, or what was read instead. */
function read(text: string): unknown {
  const found = readToolCalls(text);
  if (found.kind !== "calls") return `${found.kind}: ${found.reason}`;
  return found.calls.map((call) => [
    call.name,
    Object.fromEntries([...call.arguments].map(([name, value]) => [name, toPlain(value)])),
  ]);
}
const inTags = (json: string) => `<tool_calls>${json}</tool_calls>`;
const F1 = '{"name": "f", "arguments": {"a": 1}}';

describe("which block", () => {
  test.each([
    ["the last", `${inTags("[]")} and ${inTags(F1)}`, [["f", { a: 1 }]]],
    ["the last that is not blank", `${inTags(F1)}${inTags(" \n")}`, [["f", { a: 1 }]]],
    ["tags in any case", `<TOOL_CALLS>${F1}</Tool_Calls>`, [["f", { a: 1 }]]],
    [
      "one that is opened twice, from the first",
      `<tool_calls>x<tool_calls>${F1}</tool_calls>`,
      "none: not JSON in <tool_calls>",
    ],
    ["one inside a thought", `<think>${inTags(F1)}</think>`, [["f", { a: 1 }]]],
    ["none that is not closed", `<tool_calls>${F1}`, "none: no <tool_calls>"],
    ["none without tags", F1, "none: no <tool_calls>"],
    ["a blank one", inTags(""), "none: empty <tool_calls>"],
    ["a closing tag alone", `</tool_calls>${F1}`, "none: no <tool_calls>"],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });
});

test("only lists are known", () => {
  const one = `<tool_call>${F1}</tool_call>`;
  expect(read(one)).toBe("none: no <tool_calls>");
  expect([hasToolCalls(one), hasToolCalls(inTags(F1)), hasToolCalls("<TOOL_CALLS>")]).toEqual([
    false,
    true,
    true,
  ]);
});

describe("how a call is written", () => {
  test.each([
    ["name and arguments", F1, [["f", { a: 1 }]]],
    [
      "a list of them",
      `[${F1}, ${F1}]`,
      [
        ["f", { a: 1 }],
        ["f", { a: 1 }],
      ],
    ],
    ["with a function", `{"function": ${F1}}`, [["f", { a: 1 }]]],
    ["arguments as text", '{"name": "f", "arguments": "{\\"a\\": 1}"}', [["f", { a: 1 }]]],
    ["name to arguments", '{"f": {"a": 1}}', [["f", { a: 1 }]]],
    [
      "several names in one object",
      '{"f": {"a": 1}, "g": {}}',
      [
        ["f", { a: 1 }],
        ["g", {}],
      ],
    ],
    ["arguments left out, with a function", '{"function": {"name": "f"}}', [["f", {}]]],
    ["a function without a name", '{"function": {}}', [["", {}]]],
    ["a name that is a number", '{"name": 5, "arguments": {}}', [[undefined, {}]]],
    ["no calls", "[]", "none: no calls in <tool_calls>"],
    ["an empty object", "[{}]", "none: no calls in <tool_calls>"],
    [
      "names that are special to JavaScript",
      '{"__proto__": {"constructor": 1}}',
      [["__proto__", { constructor: 1 }]],
    ],
    [
      "a function that is no object",
      '{"function": "f"}',
      "malformed: a call whose function is not an object",
    ],
    ["a name that is a list", '{"name": [], "arguments": {}}', "malformed: a call whose name is not a text"],
    [
      "arguments that are a list of numbers",
      '{"name": "f", "arguments": [1, [2]]}',
      "malformed: arguments that are not an object",
    ],
    [
      "arguments that are a number in text",
      '{"name": "f", "arguments": "5"}',
      "malformed: arguments that are not an object",
    ],
  ])("%s", (_, json, expected) => {
    expect(read(inTags(json))).toEqual(expected);
  });
});

describe("what cannot be read is no call or no arguments", () => {
  test.each([
    ["no JSON", "[{name: x}]", "none: not JSON in <tool_calls>"],
    ["a fence", "```json\n[]\n```", "none: not JSON in <tool_calls>"],
    ["items that are no object", '["f"]', "none: no calls in <tool_calls>"],
    ["arguments that are no JSON", '{"name": "f", "arguments": "a=1"}', [["f", {}]]],
    ["null arguments", '{"name": "f", "arguments": null}', [["f", {}]]],
    ["a list of texts", '{"name": "f", "arguments": ["a"]}', [["f", {}]]],
    ["a list under function", '{"function": {"name": "f", "arguments": [1]}}', [["f", {}]]],
    ["a text in place of arguments", '{"f": "x"}', [["f", {}]]],
  ])("%s", (_, json, expected) => {
    expect(read(inTags(json))).toEqual(expected);
  });
});

test("int and float stay apart, and ints are exact", () => {
  const found = readToolCalls(inTags('{"f": {"a": 1, "b": 1.0, "c": 9007199254740993}}'));
  const types = found.kind === "calls" && [...found.calls[0]!.arguments.values()];
  expect(types).toEqual([
    { type: "int", value: 1n },
    { type: "float", value: 1 },
    { type: "int", value: 9007199254740993n },
  ]);
});

test.each([
  ["openings", "<tool_calls>".repeat(100_000)],
  ["blocks", inTags(F1).repeat(50_000)],
  ["brackets", inTags("[".repeat(1_000_000))],
  ["angles", "<".repeat(10_000_000)],
])("ten megabytes of %s are read or refused in bounded time", (_, text) => {
  const started = performance.now();
  readToolCalls(text);
  expect(performance.now() - started).toBeLessThan(15_000);
});
