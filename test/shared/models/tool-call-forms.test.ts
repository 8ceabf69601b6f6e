import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readMarkedCalls } from "../../../lib/domains/tool-call-reader.ts";
import { toPlain } from "../../../lib/python/value.ts";
import { TOOL_CALL_FORMS, toolCallForm } from "../../../lib/shared/models/tool-call-forms.ts";

/** One call of get_time(city="Bern", days=2), written by hand as the chat templates of each family render it. */
const RENDERED: Readonly<Record<string, readonly string[]>> = {
  list: [
    '<tool_calls>[{"name": "get_time", "arguments": {"city": "Bern", "days": 2}}]</tool_calls>',
    '<tool_calls>[\n    {"name": "get_time", "arguments": {"city": "Bern", "days": 2}}\n]</tool_calls>',
  ],
  minimax: ['<tool_calls>\n{"name": "get_time", "arguments": {"city": "Bern", "days": 2}}\n</tool_calls>'],
  hermes: ['<tool_call>\n{"name": "get_time", "arguments": {"city": "Bern", "days": 2}}\n</tool_call>'],
  granite: ['<tool_call>[{"name": "get_time", "arguments": {"city": "Bern", "days": 2}}]'],
  "qwen-coder": [
    "<tool_call>\n<function=get_time>\n<parameter=city>\nBern\n</parameter>\n<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
  ],
  glm: [
    "<tool_call>get_time\n<arg_key>city</arg_key>\n<arg_value>Bern</arg_value>\n<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
    "<tool_call>get_time<arg_key>city</arg_key><arg_value>Bern</arg_value><arg_key>days</arg_key><arg_value>2</arg_value></tool_call>",
  ],
  "glm-4": ['get_time\n{"city": "Bern", "days": 2}'],
  llama: [
    '{"name": "get_time", "parameters": {"city": "Bern", "days": 2}}',
    '<|python_tag|>{"type": "function", "name": "get_time", "parameters": {"city": "Bern", "days": 2}}',
  ],
  "llama-tags": ['<function=get_time>{"city": "Bern", "days": 2}</function>'],
  "llama-python": [
    "[get_time(city='Bern', days=2)]",
    '<|python_start|>[get_time(city="Bern", days=2)]<|python_end|>',
  ],
  mistral: [
    '[TOOL_CALLS] [{"name": "get_time", "arguments": {"city": "Bern", "days": 2}}]',
    '[TOOL_CALLS][{"name": "get_time", "arguments": {"city": "Bern", "days": 2}, "id": "abcdefghi"}]',
  ],
  "mistral-11": [
    '[TOOL_CALLS]get_time[ARGS]{"city": "Bern", "days": 2}',
    '[TOOL_CALLS]get_time[CALL_ID]abcdefghi[ARGS]{"city": "Bern", "days": 2}',
    '[TOOL_CALLS]get_time{"city": "Bern", "days": 2}',
  ],
  deepseek: [
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_time\n```json\n{"city": "Bern", "days": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  "deepseek-v3.1": [
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_time<｜tool▁sep｜>{"city": "Bern", "days": 2}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  "deepseek-v3.2": [
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_time">\n<｜DSML｜parameter name="city" string="true">Bern</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  ],
  "gpt-oss": [
    '<|channel|>commentary to=functions.get_time <|constrain|>json<|message|>{"city": "Bern", "days": 2}<|call|>',
    '<|start|>assistant to=functions.get_time<|channel|>commentary json<|message|>{"city": "Bern", "days": 2}',
  ],
  phi: [
    '<|tool_call|>[{"name": "get_time", "arguments": {"city": "Bern", "days": 2}}]<|/tool_call|>',
    '<|tool_call|>[{"name": "get_time", "arguments": {"city": "Bern", "days": 2}}]',
  ],
  functools: ['functools[{"name": "get_time", "arguments": {"city": "Bern", "days": 2}}]'],
  "granite-20b": ['<function_call> {"name": "get_time", "arguments": {"city": "Bern", "days": 2}}'],
  command: [
    '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_time", "parameters": {"city": "Bern", "days": 2}}\n]<|END_ACTION|>',
  ],
  "command-r": [
    'Action: ```json\n[\n    {\n        "tool_name": "get_time",\n        "parameters": {\n            "city": "Bern",\n            "days": 2\n        }\n    }\n]\n```',
    'Action:```json\n[{"tool_name": "get_time", "parameters": {"city": "Bern", "days": 2}}]\n```',
  ],
  "minimax-m2": [
    '<minimax:tool_call>\n<invoke name="get_time">\n<parameter name="city">Bern</parameter>\n<parameter name="days">2</parameter>\n</invoke>\n</minimax:tool_call>',
  ],
  kimi: [
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_time:0<|tool_call_argument_begin|>{"city": "Bern", "days": 2}<|tool_call_end|><|tool_calls_section_end|>',
  ],
  seed: [
    "<seed:tool_call>\n<function=get_time>\n<parameter=city>Bern</parameter>\n<parameter=days>2</parameter>\n</function>\n</seed:tool_call>",
  ],
  internlm: [
    '<|action_start|><|plugin|>\n{"name": "get_time", "parameters": {"city": "Bern", "days": 2}}<|action_end|>',
  ],
  nemotron: ['<TOOLCALL>[{"name": "get_time", "arguments": {"city": "Bern", "days": 2}}]</TOOLCALL>'],
  olmo: ['<function_calls>\nget_time(city="Bern", days=2)\n</function_calls>'],
  lfm: ['<|tool_call_start|>[get_time(city="Bern", days=2)]<|tool_call_end|>'],
};

const isText = (_: string, argument: string) => argument === "city";
function read(text: string, forms = TOOL_CALL_FORMS): unknown {
  const found = readMarkedCalls(text, { isText }, forms);
  if (found.kind !== "calls") return `${found.kind}: ${found.reason}`;
  return found.calls.map(({ name, arguments: given }) => ({
    name,
    arguments: Object.fromEntries([...given].map(([key, value]) => [key, toPlain(value)])),
  }));
}

/** The call f(a=1) as a cell of a Markdown table. */
const cell = (text: string) => `\`\` ${text.replaceAll("|", "\\|").replaceAll("\n", "⏎")} \`\``;

test("docs/reference/verify.md shows every form", () => {
  const page = readFileSync("docs/reference/verify.md", "utf8");
  const rows = TOOL_CALL_FORMS.map(
    ({ families, write }) => `| ${families} | ${cell(write("f", { a: 1 }))} |`,
  );
  expect(rows.filter((row) => !page.includes(row))).toEqual([]);
  expect(page.match(/^\| [^|]+ \| `` .* `` \|$/gm)).toHaveLength(rows.length);
});

test("every form has a rendering here, and a name of its own", () => {
  expect(TOOL_CALL_FORMS.map(({ name }) => name).sort()).toEqual(Object.keys(RENDERED).sort());
  expect(() => toolCallForm("none")).toThrow("none");
});

describe.each(TOOL_CALL_FORMS)("$name", (form) => {
  const call = { name: "get_time", arguments: { city: "Bern", days: 2 } };

  test("is read as the templates render it, among all forms and alone", () => {
    for (const text of RENDERED[form.name]!) {
      expect([text, read(text)]).toEqual([text, [call]]);
      expect([text, read(text, [form])]).toEqual([text, [call]]);
    }
  });

  test("what is written is what is rendered, spaces apart", () => {
    const bare = (text: string) => text.replace(/\s/g, "").replaceAll('"', "'");
    expect(RENDERED[form.name]!.map(bare)).toContain(bare(form.write(call.name, call.arguments)));
  });

  test("what is written is read again", () => {
    const key = fc.constantFrom("days", "n", "rate", "on", "list", "nested");
    const value = fc.oneof(
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.oneof(fc.integer(), fc.constantFrom("x", "a b", "é", "=", '"', "'", "\\", "[1]")), {
        maxLength: 3,
      }),
    );
    const city = fc.constantFrom("Bern", "a b", "", "1", "true", "x = {y}", "two\nlines", "é, 北京");
    fc.assert(
      fc.property(fc.dictionary(key, value), city, (given, text) => {
        const all = { city: text, ...given };
        expect(read(form.write("get_time", all))).toEqual([{ name: "get_time", arguments: all }]);
      }),
      { numRuns: 50 },
    );
  });
});
