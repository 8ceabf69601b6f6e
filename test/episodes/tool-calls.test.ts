import { expect, test } from "vitest";
import { readCalls, writeCall } from "../../lib/episodes/tool-calls.ts";
import { TOOL_CALL_FORMS } from "../../lib/shared/models/tool-call-forms.ts";

const call = (name: string, given: Record<string, unknown>) => ({ name, arguments: given });

test("each style of chat templates is read, arguments as an object or as JSON in a text", () => {
  const json = '{"name": "compute", "arguments": {"expression": "1+1"}}';
  const one = { calls: [call("compute", { expression: "1+1" })] };
  expect(readCalls(`I call <tool_call>\n${json}\n</tool_call>`, "hermes")).toEqual(one);
  expect(readCalls(`<tool_call>${json}`, "hermes")).toEqual(one);
  expect(
    readCalls(`<tool_call>${json}</tool_call><tool_call>${json}</tool_call>`, "hermes").calls,
  ).toHaveLength(2);
  expect(readCalls(`[TOOL_CALLS][${json}]`, "mistral")).toEqual(one);
  expect(readCalls('{"name": "compute", "parameters": {"expression": "1+1"}}', "llama")).toEqual(one);
  expect(readCalls('<tool_call>{"name": "f", "arguments": "{\\"x\\": 2}"}</tool_call>', "hermes")).toEqual({
    calls: [call("f", { x: 2 })],
  });
  expect(readCalls(" Compute(34*57) ", "plain")).toEqual({ calls: [call("Compute", { input: "34*57" })] });
});

test("between tags a value is a text where the tools say so, and JSON elsewhere", () => {
  const text = "<tool_call>f\n<arg_key>x</arg_key>\n<arg_value>2</arg_value>\n</tool_call>";
  const schema = { name: "f", parameters: { properties: { x: { type: "string" } } } };
  expect(readCalls(text, "glm").calls).toEqual([call("f", { x: 2 })]);
  for (const tool of [schema, { type: "function", function: schema }])
    expect(readCalls(text, "glm", [tool]).calls).toEqual([call("f", { x: "2" })]);
});

test("values are those of JSON, and no name is special", () => {
  const read = readCalls(
    '<tool_call>{"name": "f", "arguments": {"__proto__": {"a": [1.5, 9007199254740993]}}}</tool_call>',
    "hermes",
  );
  expect(JSON.stringify(read.calls)).toBe(
    '[{"name":"f","arguments":{"__proto__":{"a":[1.5,9007199254740992]}}}]',
  );
});

test("what has no marks of the style is no call", () => {
  const json = '{"name": "f", "arguments": {}}';
  expect(readCalls(json, "hermes")).toEqual({ calls: [] });
  expect(readCalls(json, "mistral")).toEqual({ calls: [] });
  expect(readCalls("say f(x) now", "plain")).toEqual({ calls: [] });
});

test("a call that cannot be read takes the others with it and says why", () => {
  const good = '<tool_call>{"name": "f"}</tool_call>';
  for (const bad of [
    "{",
    '"f"',
    '{"arguments": {}}',
    '{"name": "f", "arguments": [1]}',
    '{"name": ""}',
    '{"name": "f", "arguments": "x"}',
  ]) {
    const read = readCalls(`${good}<tool_call>${bad}</tool_call>`, "hermes");
    expect(read.calls).toEqual([]);
    expect(read.malformed).toBeTypeOf("string");
  }
  expect(readCalls("Compute(34", "plain").malformed).toBeTypeOf("string");
  expect(readCalls(`<tool_call>${"x".repeat(300_000)}`, "hermes").malformed).toContain("longer than");
});

test("a written call is read as that call in every style; one that would not be read is refused", () => {
  const written = call("compute", { expression: '34*57 "x" </s>' });
  for (const { name: style } of TOOL_CALL_FORMS) {
    expect(readCalls(writeCall(written, style), style)).toEqual({ calls: [written] });
    expect(readCalls("no call", style)).toEqual({ calls: [] });
  }
  expect(writeCall(call("compute", { expression: "34*57" }), "plain")).toBe("compute(34*57)");
  expect(() => writeCall(call("compute", { expression: "(1+2)*3" }), "plain")).toThrow("plain style");
});
