// Mutants tried: the first block, a blank last block taken, tags case-sensitive, gorilla items of several calls cut to
// one, unreadable arguments as none in strict mode too, single tags in reference mode too, the last of single tags only.
import { describe, expect, test } from "vitest";
import { REFERENCE } from "../../../lib/domains/function-calling/reference.ts";
import { STRICT } from "../../../lib/domains/function-calling/strict.ts";
import {
  hasToolCalls,
  readToolCalls,
  type TagReading,
} from "../../../lib/domains/function-calling/tool-calls.ts";
import { toPlain } from "../../../lib/python/value.ts";

/** [name, {argument: value}] of each call, or what there is instead. */
function read(text: string, reading: TagReading = REFERENCE): unknown {
  const found = readToolCalls(text, reading);
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

describe("strict takes calls in tags of their own where there is no list", () => {
  const one = (json: string) => `<tool_call>\n${json}\n</tool_call>`;
  test.each([
    ["one", one(F1), [["f", { a: 1 }]]],
    [
      "several, in order",
      `${one(F1)}\n${one('{"name": "g", "arguments": {}}')}`,
      [
        ["f", { a: 1 }],
        ["g", {}],
      ],
    ],
    ["a list wins over them", `${one('{"name": "g", "arguments": {}}')}${inTags(F1)}`, [["f", { a: 1 }]]],
    ["even an empty one", `${one(F1)}${inTags("")}`, "none: empty <tool_calls>"],
    ["blank ones are none", one(""), "none: empty <tool_call>"],
    [
      "one that cannot be read spoils the rest",
      `${one(F1)}${one("{")}`,
      "malformed: not JSON in <tool_call>",
    ],
    ["one that is not closed is none", `<tool_call>${F1}`, "none: no <tool_calls>"],
  ])("%s", (_, text, expected) => {
    expect(read(text, STRICT)).toEqual(expected);
  });

  test("reference knows lists only", () => {
    expect(read(one(F1))).toBe("none: no <tool_calls>");
    expect([hasToolCalls(one(F1), REFERENCE), hasToolCalls(one(F1), STRICT)]).toEqual([false, true]);
  });
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
    ["a function that is no object", '{"function": "f"}', "malformed: a call whose function is no object"],
    ["a name that is a list", '{"name": [], "arguments": {}}', "malformed: a call whose name is no text"],
    [
      "arguments that are a list of numbers",
      '{"name": "f", "arguments": [1, [2]]}',
      "malformed: arguments that are no object",
    ],
    [
      "arguments that are a number in text",
      '{"name": "f", "arguments": "5"}',
      "malformed: arguments that are no object",
    ],
  ])("%s", (_, json, expected) => {
    expect(read(inTags(json))).toEqual(expected);
    expect(read(inTags(json), STRICT)).toEqual(expected);
  });
});

describe("what reference mode takes for no call or no arguments and strict mode does not", () => {
  const NO_OBJECT = "malformed: arguments that are no object";
  test.each([
    ["no JSON", "[{name: x}]", "none: not JSON in <tool_calls>", "malformed: not JSON in <tool_calls>"],
    ["a fence", "```json\n[]\n```", "none: not JSON in <tool_calls>", "malformed: not JSON in <tool_calls>"],
    [
      "items that are no object",
      '["f"]',
      "none: no calls in <tool_calls>",
      "malformed: a call that is no object",
    ],
    ["arguments that are no JSON", '{"name": "f", "arguments": "a=1"}', [["f", {}]], NO_OBJECT],
    ["null arguments", '{"name": "f", "arguments": null}', [["f", {}]], NO_OBJECT],
    ["a list of texts", '{"name": "f", "arguments": ["a"]}', [["f", {}]], NO_OBJECT],
    ["a list under function", '{"function": {"name": "f", "arguments": [1]}}', [["f", {}]], NO_OBJECT],
    ["a text in place of arguments", '{"f": "x"}', [["f", {}]], NO_OBJECT],
  ])("%s", (_, json, reference, strict) => {
    expect(read(inTags(json))).toEqual(reference);
    expect(read(inTags(json), STRICT)).toEqual(strict);
  });
});

test("int and float stay apart, and ints are exact", () => {
  const found = readToolCalls(inTags('{"f": {"a": 1, "b": 1.0, "c": 9007199254740993}}'), STRICT);
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
  readToolCalls(text, STRICT);
  expect(performance.now() - started).toBeLessThan(15_000);
});
