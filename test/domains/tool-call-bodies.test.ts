import { describe, expect, test } from "vitest";
import { readBody } from "../../lib/domains/tool-call-bodies.ts";
import { toPlain } from "../../lib/python/value.ts";
import { toolCallForm } from "../../lib/shared/models/tool-call-forms.ts";

/** Returns [name, {argument: value}] of each call, or what is wrong. Arguments named `t` are texts. */
function read(form: string, block: string): unknown {
  const found = readBody(toolCallForm(form).body, block, { isText: (_, argument) => argument === "t" });
  if (typeof found === "string") return found;
  return found.map((call) => [
    call.name,
    Object.fromEntries([...call.arguments].map(([name, value]) => [name, toPlain(value)])),
  ]);
}
const F1 = '{"name": "f", "arguments": {"a": 1}}';
const G = '{"name": "g", "arguments": {}}';
const BOTH = [
  ["f", { a: 1 }],
  ["g", {}],
];

describe("JSON", () => {
  test.each([
    ["an object", "hermes", F1, [["f", { a: 1 }]]],
    ["a list", "mistral", `[${F1}, ${G}]`, BOTH],
    ["an object a line", "minimax", `${F1}\n${G}`, BOTH],
    [
      "objects with semicolons",
      "llama",
      '{"name": "f", "parameters": {"a": 1}}; {"name": "g", "parameters": {}}',
      BOTH,
    ],
    ["an empty list", "mistral", "[]", []],
    ["an object for a list", "mistral", F1, "not JSON of lists"],
    ["a list for an object", "granite-20b", `[${F1}]`, "not JSON of objects"],
    ["half of one", "hermes", F1.slice(0, -1), "not JSON"],
    ["text behind it", "mistral", `[${F1}] done`, "not JSON"],
    ["one of several that is none", "minimax", `${F1}\n{`, "not JSON"],
  ])("%s", (_, form, block, expected) => {
    expect(read(form, block)).toEqual(expected);
  });
});

describe("a name and JSON", () => {
  const deepseek = (name: string, json: string) =>
    `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${json}<｜tool▁call▁end｜>`;
  test.each([
    ["one", "mistral-11", 'f[ARGS]{"a": 1}', [["f", { a: 1 }]]],
    ["with an id", "mistral-11", ' f[CALL_ID]abc123def[ARGS]{"a": 1}', [["f", { a: 1 }]]],
    ["without a mark", "mistral-11", 'f{"a": 1}', [["f", { a: 1 }]]],
    ["two in turn", "deepseek-v3.1", `${deepseek("f", '{"a": 1}')}\n${deepseek("g", "{}")}`, BOTH],
    ["no name", "mistral-11", '[ARGS]{"a": 1}', "no name"],
    ["no object", "mistral-11", "f[ARGS][1]", "arguments that are not an object"],
    ["two where one may stand", "llama-tags", 'f>{"a": 1}\ng>{}', "arguments that are not an object"],
    [
      "one that does not close",
      "deepseek-v3.1",
      "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}",
      "a call that does not close",
    ],
    [
      "text between two",
      "deepseek-v3.1",
      `${deepseek("f", '{"a": 1}')} and ${deepseek("g", "{}")}`,
      "no name",
    ],
  ])("%s", (_, form, block, expected) => {
    expect(read(form, block)).toEqual(expected);
  });
});

describe("a tag for each argument", () => {
  const glm = (key: string, value: string) => `<arg_key>${key}</arg_key>\n<arg_value>${value}</arg_value>`;
  const qwen = (key: string, value: string) => `<parameter=${key}>\n${value}\n</parameter>`;
  test.each<[string, string, string, unknown]>([
    ["texts as they are", "glm", `f\n${glm("t", ' "1" ')}`, [["f", { t: ' "1" ' }]]],
    ["a number that is a text", "glm", `f\n${glm("t", "1")}`, [["f", { t: "1" }]]],
    ["values as JSON", "glm", `f\n${glm("a", "[1, 2.5, null]")}`, [["f", { a: [1, 2.5, null] }]]],
    [
      "Python's own values",
      "qwen-coder",
      `<function=f>\n${qwen("a", "True")}\n</function>`,
      [["f", { a: true }]],
    ],
    ["anything else as a text", "glm", `f\n${glm("a", "x y")}`, [["f", { a: "x y" }]]],
    [
      "lines of a text",
      "qwen-coder",
      `<function=f>\n${qwen("t", "\nx\n\ny")}\n</function>`,
      [["f", { t: "\nx\n\ny" }]],
    ],
    ["no argument", "glm", "f\n", [["f", {}]]],
    [
      "the kind that the tag says",
      "deepseek-v3.2",
      '<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="a" string="true">1</｜DSML｜parameter>\n<｜DSML｜parameter name="t" string="false">1</｜DSML｜parameter>\n</｜DSML｜invoke>',
      [["f", { a: "1", t: 1 }]],
    ],
    ["an argument twice", "glm", `f\n${glm("a", "1")}\n${glm("a", "2")}`, "an argument given twice"],
    [
      "a function that does not close",
      "qwen-coder",
      `<function=f>\n${qwen("a", "1")}`,
      "a call that does not close",
    ],
    ["a value that does not close", "glm", "f\n<arg_key>a</arg_key>\n<arg_value>1", "more behind a call"],
    ["text between", "glm", `f\n${glm("a", "1")}\nso\n${glm("b", "2")}`, "more behind a call"],
  ])("%s", (_, form, block, expected) => {
    expect(read(form, block)).toEqual(expected);
  });
});

describe("Python", () => {
  test.each([
    ["a list", "lfm", "[f(a=1), g()]", BOTH],
    ["one a line", "olmo", "f(a=1)\n\n  g()\n", BOTH],
    ["no list", "lfm", "f(a=1)", "no list of calls"],
    ["no calls", "olmo", "f", "no calls in Python"],
    ["half of one", "lfm", "[f(a=1", "no calls in Python"],
  ])("%s", (_, form, block, expected) => {
    expect(read(form, block)).toEqual(expected);
  });
});

test("a block that is too long is not read", () => {
  expect(read("hermes", " ".repeat(200_001))).toBe("a block of over 200000 characters");
});
