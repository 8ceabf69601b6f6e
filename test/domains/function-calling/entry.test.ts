// Deliberate faults (mutants) that these tests detect: JSON.parse reads the text (1.0 becomes 1), "javascript"
// matches java, an id may have letters after its number.
import { describe, expect, test } from "vitest";
import { categoryOf, readEntry, Unjudgeable } from "../../../lib/domains/function-calling/entry.ts";
import { float, int, str } from "../../../lib/python/value.ts";

const ROW = {
  id: "simple_python_1",
  category: "simple_python",
  function: [
    {
      name: "math.area",
      parameters: {
        type: "dict",
        properties: {
          side: { type: "integer" },
          sides: { type: "array", items: { type: "float" } },
          odd: {},
        },
        required: ["side"],
      },
    },
  ],
  ground_truth: [{ "math.area": { side: [7], sides: ["", [1.5]] } }],
};

test("a row is read with its types, what is required, and what is allowed", () => {
  const entry = readEntry(ROW);
  expect(entry).toEqual({
    category: "simple_python",
    language: "python",
    functions: [
      {
        name: "math.area",
        parameters: new Map([
          ["side", { type: "integer", items: undefined }],
          ["sides", { type: "array", items: "float" }],
          ["odd", { type: undefined, items: undefined }],
        ]),
        required: ["side"],
      },
    ],
    expected: [
      {
        name: "math.area",
        allowed: new Map([
          ["side", [int(7)]],
          ["sides", [str(""), { type: "list", items: [float(1.5)] }]],
        ]),
      },
    ],
  });
});

test("text keeps 1 and 1.0 apart", () => {
  const text = JSON.stringify(ROW).replace("[7]", "[7.0]");
  expect(readEntry(text).expected![0]!.allowed.get("side")).toEqual([float(7)]);
});

test("names that are special to JavaScript are plain names", () => {
  const entry = readEntry(
    '{"id":"simple_python_1","function":[{"name":"__proto__","parameters":{"properties":{"constructor":{"type":"any"}}}}],"ground_truth":[{"__proto__":{"constructor":["a"]}}]}',
  );
  expect(entry.functions[0]!.parameters.get("constructor")).toEqual({ type: "any", items: undefined });
  expect(entry.functions[0]!.required).toBeUndefined();
  expect(entry.expected![0]!.allowed.get("constructor")).toEqual([str("a")]);
});

test.each([
  ["simple_java_3", "simple_java", "java"],
  ["simple_javascript_0", "simple_javascript", "javascript"],
  ["live_multiple_2-1-0", "live_multiple", "python"],
])("the id %s tells category %s and language %s", (id, category, language) => {
  expect(readEntry({ ...ROW, id, category: undefined })).toMatchObject({ category, language });
});

test.each(["simple", "simple_1x", "live_simple_a", "Simple_1", "", "1"])("the id %j tells none", (id) => {
  expect(categoryOf(id)).toBeUndefined();
});

test.each(["irrelevance", "live_irrelevance", "live_relevance"])(
  "%s expects no calls to compare",
  (category) => {
    expect(readEntry({ ...ROW, category, ground_truth: undefined }).expected).toBeUndefined();
  },
);

describe("what is no entry", () => {
  test.each<[unknown, string]>([
    ["{", "entry ? is not a JSON object"],
    [[], "entry ? is not a JSON object"],
    [undefined, "entry ? is not a JSON object"],
    [{ ...ROW, id: "x", category: undefined }, "entry x has no category"],
    [{ ...ROW, function: undefined }, "needs `function`"],
    [{ ...ROW, function: [{ name: 1, parameters: {} }] }, "needs `function`"],
    [{ ...ROW, function: [{ name: "f" }] }, "needs `function`"],
    [{ ...ROW, ground_truth: undefined }, "needs `ground_truth`"],
    [{ ...ROW, ground_truth: [] }, "needs `ground_truth`"],
    [{ ...ROW, ground_truth: [{ f: { a: 1 } }] }, "needs `ground_truth`"],
    [{ ...ROW, ground_truth: ["f"] }, "needs `ground_truth`"],
  ])("%j", (row, message) => {
    expect(() => readEntry(row)).toThrow(
      expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringContaining(message) }),
    );
  });
});

test("what the reference has no rule for is an error of its own", () => {
  expect(new Unjudgeable("no type")).toBeInstanceOf(Error);
});
