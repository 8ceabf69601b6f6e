import { expect, test } from "vitest";
import { describeTools, toolsOf } from "../../../../lib/domains/function-calling/read/bfcl-prompt.ts";

const listedIn = (text: string) =>
  text
    .slice(
      text.indexOf("<available_tools>\n") + "<available_tools>\n".length,
      text.indexOf("\n</available_tools>"),
    )
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

test("Python functions become JSON Schema, at any depth, with dots as underscores", () => {
  const tools = toolsOf(
    [
      {
        name: "a.b.c",
        description: "Does it.",
        parameters: {
          properties: {
            n: { type: "integer", description: "How many.", default: 3 },
            x: { type: "float", description: "How much." },
            pair: { type: "tuple", items: { type: "float" } },
            any: { type: "any" },
            deep: { type: "dict", properties: { flag: { type: "boolean" } }, required: ["flag"] },
          },
          required: ["n"],
        },
      },
    ],
    "python",
  );
  const text = describeTools(tools);
  expect(listedIn(text)).toEqual(tools);
  expect(tools).toEqual([
    {
      name: "a_b_c",
      description: "Does it. The function is in Python 3 syntax.",
      parameters: {
        type: "object",
        properties: {
          n: { type: "integer", description: "How many.", default: 3 },
          x: { type: "number", description: "How much. A float." },
          pair: { type: "array", items: { type: "number", description: "A float." } },
          any: { type: "string" },
          deep: { type: "object", properties: { flag: { type: "boolean" } }, required: ["flag"] },
        },
        required: ["n"],
      },
    },
  ]);
  expect(text).toContain("<tool_calls>");
});

test.each([
  ["java", "Java 8 SDK"],
  ["javascript", "JavaScript"],
] as const)("%s arguments are strings of source text", (language, name) => {
  const properties = {
    list: { type: "ArrayList", description: "Values.", items: { type: "long" } },
    on: { type: "boolean" },
  };
  const [tool] = toolsOf([{ name: "f", parameters: { properties } }], language);
  expect(tool).toEqual({
    name: "f",
    description: `The function is in ${name} syntax.`,
    parameters: {
      type: "object",
      properties: {
        list: {
          type: "string",
          description: `Values. A ${name} ArrayList of long, written as source text in a string.`,
        },
        on: { type: "string", description: `A ${name} boolean, written as source text in a string.` },
      },
      required: [],
    },
  });
});

test("parameters named like members of every object are parameters", () => {
  const properties = JSON.parse(
    '{"__proto__": {"type": "integer"}, "constructor": {"type": "string"}}',
  ) as object;
  const tools = toolsOf(
    [{ name: "f", parameters: { properties: properties as Record<string, unknown> } }],
    "python",
  );
  expect(describeTools(tools)).toContain('{"__proto__":{"type":"integer"},"constructor":{"type":"string"}}');
});

test("without functions the list is empty", () => {
  expect(describeTools([])).toContain("<available_tools>\n</available_tools>");
});
