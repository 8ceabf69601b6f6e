// Deliberate faults (mutants) that these tests detect: missing brackets are not added, quotes around the list are
// kept, positional arguments are lost.
import { expect, test } from "vitest";
import { readPythonCalls } from "../../../lib/domains/function-calling/python-calls.ts";

function read(text: string): unknown {
  const found = readPythonCalls(text);
  return found.kind === "calls" ? found.calls.map(({ name }) => name) : `${found.kind}: ${found.reason}`;
}

test.each([
  ["a list", "[f(a=1), g(b=2)]", ["f", "g"]],
  ["a call without brackets", "f(a=1)", ["f"]],
  ["calls without brackets", "f(a=1), g(b=2)", ["f", "g"]],
  ["one bracket of two", "[f(a=1)", ["f"]],
  ["the other bracket", "f(a=1)]", ["f"]],
  ["over lines", "[f(a=1,\nb=2),\ng()]", ["f", "g"]],
  ["in backticks", "```[f(a=1)]```\n", ["f"]],
  ["in quotes", "'[f(a='x')]'", ["f"]],
  ["a tuple", "(f(a=1), g(),)", ["f", "g"]],
  ["a list that ends in a list", "[f(a=[1])]", ["f"]],
  ["nothing called", "[]", "none: no calls"],
  ["an object", "[{}]", "malformed: decoder_failed"],
  ["a fence with its language", "```python\n[f(a=1)]\n```", "malformed: decoder_failed"],
  ["words around", "Sure: [f(a=1)]", "malformed: decoder_failed"],
  ["no call", "I cannot do that.", "malformed: decoder_failed"],
  ["nothing", "", "none: no calls"],
])("%s", (_, text, expected) => {
  expect(read(text)).toEqual(expected);
});

test("arguments without a name are counted", () => {
  const found = readPythonCalls("[f(1, 2, a=3)]");
  expect(found).toMatchObject({
    calls: [{ name: "f", positional: 2, arguments: new Map([["a", { type: "int", value: 3n }]]) }],
  });
});
