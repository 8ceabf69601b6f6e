// Tests over 400 cases by the rules of this file: right and wrong calls in every model family's form, calls where none
// is needed, refusals in prose. No wrong case may pass; at most 2 % of the right ones may be refused (none is).
import { describe, expect, test } from "vitest";
import { functionCalling } from "../../../lib/domains/function-calling/verify.ts";
import {
  FAMILIES,
  type Given,
  type MadeCall,
  type Random,
  randomOf,
  UNKNOWN_FORMS,
} from "./generated-calls.ts";

const TOOLS = ["get_time", "geo.area", "search_flights", "play", "stock.price.of"];
const TEXTS = ["Bern", "New York, NY", "a b", "2024-05-01", "é 北京", "x > y", "it's", "7", "true"];

/** A function's parameters, each with its schema, allowed values and wrong ones. */
interface Parameter {
  readonly name: string;
  readonly schema: object;
  readonly right: unknown;
  readonly wrong: readonly unknown[];
  readonly isOptional: boolean;
}

function parameterOf(name: string, random: Random): Parameter {
  const n = random.int(90) + 2;
  const text = random.pick(TEXTS);
  const kinds: Omit<Parameter, "name" | "isOptional">[] = [
    {
      schema: { type: "string" },
      right: text,
      wrong: [`${text}!`, "", text.toUpperCase() + text, 5, [text]],
    },
    { schema: { type: "integer" }, right: n, wrong: [n + 1, -n, `${n}`, true, [n], null] },
    { schema: { type: "float" }, right: n + 0.5, wrong: [n, n + 0.25, `${n}.5`, false] },
    { schema: { type: "boolean" }, right: true, wrong: [false, 1, "true"] },
    {
      schema: { type: "array", items: { type: "integer" } },
      right: [n, n + 1],
      wrong: [[], [n], [n + 1, n], [true, n + 1], `[${n}, ${n + 1}]`, n],
    },
    {
      schema: { type: "array", items: { type: "string" } },
      right: [text, "b"],
      wrong: [[], ["b", text], [text], [text, "b", "c"], [text, 1]],
    },
    {
      schema: { type: "dict", properties: { k: { type: "integer" }, t: { type: "string" } } },
      right: { k: n, t: text },
      wrong: [
        { k: n },
        { k: true, t: text },
        { k: n, t: "" },
        { k: n, t: text, u: 1 },
        {},
        { k: `${n}`, t: text },
      ],
    },
  ];
  return { name, ...random.pick(kinds), isOptional: random.next() < 0.3 };
}

interface Problem {
  readonly entry: (category: string) => object;
  readonly calls: readonly MadeCall[];
  readonly parameters: readonly Parameter[];
  readonly offered: readonly string[];
}

function problemOf(random: Random, count: number): Problem {
  const tool = random.pick(TOOLS);
  const names = ["city", "days", "mode"].slice(0, random.int(3) + 1);
  const parameters = names.map((name) => parameterOf(name, random));
  const given: Given = Object.fromEntries(parameters.map(({ name, right }) => [name, right]));
  const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
  const required = parameters.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
  const functions = [
    { name: tool, parameters: { type: "dict", properties, required } },
    { name: "other_tool", parameters: { type: "dict", properties: { q: { type: "string" } }, required: [] } },
  ];
  const allowed = Object.fromEntries(
    parameters.map(({ name, right, isOptional, schema }) => [
      name,
      [
        ...(isOptional ? [""] : []),
        ["dict"].includes((schema as { type: string }).type) ? keyed(right) : right,
      ],
    ]),
  );
  const other = { name: "other_tool", given: { q: "x" } };
  const gold = [{ [tool]: allowed }, { other_tool: { q: ["x"] } }].slice(0, count);
  const calls = [{ name: tool.replaceAll(".", "_"), given }, other].slice(0, count);
  const entry = (category: string) => ({
    id: "x",
    category,
    function: functions,
    ...(!category.includes("relevance") && { ground_truth: gold }),
  });
  return { entry, calls, parameters, offered: [tool, "other_tool"] };
}

const keyed = (value: unknown) =>
  Object.fromEntries(Object.entries(value as object).map(([key, one]) => [key, [one]]));

/** Writes numbers as data sets do: JSON.stringify would drop the point of whole floats. */
function statusOf(entry: object, text: string, dialect: "tool_calls" | undefined): string {
  const reference = functionCalling.parseReference({ entry, ...(dialect && { dialect }) });
  const verdict = functionCalling.verify({ text, finish: "stop" }, reference) as { status: string };
  return verdict.status;
}

interface Case {
  readonly what: string;
  readonly entry: object;
  readonly text: string;
  readonly right: boolean;
}

/** Every model family with one call and with two, and variants with a wrong value, name or number of calls. */
function callCases(random: Random): Case[] {
  return Object.entries(FAMILIES).flatMap(([family, write]) =>
    [1, 2, 1, 2, 1].flatMap((count) => {
      const { entry, calls, parameters } = problemOf(random, count);
      const row = entry(count === 1 ? "simple_python" : "parallel_multiple");
      const wrong = random.pick(parameters);
      const value = random.pick(wrong.wrong);
      const [first, ...rest] = calls as [MadeCall, ...MadeCall[]];
      const spoiled = [
        [{ ...first, given: { ...first.given, [wrong.name]: value } }, ...rest],
        [{ ...first, name: `${first.name}_x` }, ...rest],
        [{ ...first, given: { ...first.given, extra: 1 } }, ...rest],
        [first, ...rest, first],
        ...(count > 1 ? [[first]] : []),
      ];
      const made = [
        { text: write(calls), right: true, what: "right" },
        ...spoiled.map((one) => ({ text: write(one), right: false, what: JSON.stringify(one) })),
      ];
      return made.flatMap(({ text, right, what }) =>
        text === undefined || (!right && isSame(text, write(calls), family))
          ? []
          : [{ what: `${family}: ${what}`, entry: row, text, right }],
      );
    }),
  );
}

/** A text between tags has no quotes, so that some wrong values have the spelling of the right one. */
const isSame = (text: string, right: string | undefined, family: string): boolean =>
  text.replace(/"|string=true|string=false/g, "") === right?.replace(/"|string=true|string=false/g, "") &&
  /Coder|Seed|GLM-4.5|M2|V3.2/.test(family);

const REFUSALS = [
  "<|channel|>analysis<|message|>Not @.<|end|><|start|>assistant<|channel|>final<|message|>No function fits.",

  "None of the functions can answer that.",
  "I cannot do this with the tools at hand; @ needs a city.",
  "`@` only tells the time, so I call no function.",
  "The function @() does not help here.",
  "I would have to know which city you mean before I can use @(city).",
  "The tools are:\n- @(city)\n- other_tool(q)\nNone of them books hotels.",
  "1. @: tells the time.\n2. other_tool: searches.\nNeither fits your question.",
  "Paris. No function is needed for that.",
  "The derivative of x^2 is 2x, since d/dx x^n = n x^(n-1).",
  "A list in Python: [1, 2, 3]. A dict: {'a': 1}.",
  "```python\ndef add(a, b):\n    return a + b\nprint(add(1, b=2))\n```\nThis adds two numbers.",
  '{"answer": 42, "unit": "km"}',
  'The JSON you asked for:\n```json\n{"title": "Dune", "year": 1965}\n```',
  "If x < 3 and y > 2, then x < y + 1 <= 9.",
  "<b>Sorry</b>, there is no tool for that.",
  "[1] See the manual. [2] Ask the support.",
  "I'm sorry, but no tool call is needed: 2 + 2 = 4.",
  "You should call your bank; their function is to help you.",
  "The name is Bern, and the arguments for it are many.",
  "@ takes the parameters city and days. You gave neither.",
  "Which flights? Please name the city: the tool @ requires it.",
  "Use the formula A = length * width; @ computes only volumes.",
  "There is no function named book_hotel(hotel, date) among the tools.",
  "None of @ and other_tool applies.\n\n**Answer:** none",
  "抱歉，这些函数都不能回答这个问题。",
  "Ninguna de las funciones (@, other_tool) sirve para esto.",
  "<tool_calls>[]</tool_calls>",
  "None fits. <tool_calls>[]</tool_calls>",
  "<think>Should I call @(city='Bern')? No.</think>None of them fits.",
  "To=do: ask a person. From: me.",
  "f(x) = 2x + 1 has the root x = -1/2.",
  "| tool | use |\n|---|---|\n| @ | time |\n| other_tool | search |\nNeither helps.",
];
const BLANKS = [
  "<|im_end|>",
  "</s>",
  "@",
  "<|channel|>analysis<|message|>No function fits.<|end|>",

  "",
  " ",
  "\n\n",
  "\u200b",
  "\u3164",
  "\u2800\u2800",
  ".",
  "...",
  "***",
  "<think>@</think>",
  "—",
  "\ufeff",
  "<tool_calls></tool_calls>",
];

function noCallCases(random: Random): Case[] {
  const made: Case[] = [];
  const add = (what: string, text: string, right: boolean, { entry, offered }: Problem) =>
    made.push({ what, text: text.replaceAll("@", random.pick(offered)), right, entry: entry("irrelevance") });
  for (const [family, write] of Object.entries(FAMILIES)) {
    const problem = problemOf(random, 1);
    const [call] = problem.calls as [MadeCall];
    const whole = write([call])!;
    const unknown = write([{ name: "g", given: { x: 1 } }])!;
    add(`${family}, whole`, whole, false, problem);
    add(`${family}, of an unknown function`, unknown, false, problem);
    add(`${family}, behind a refusal`, `None of them fits.\n${unknown}`, false, problem);
    add(`${family}, before a refusal`, `${whole}\nNone of them fits.`, false, problem);
    for (const share of [0.35, 0.6, 0.85, 0.97])
      add(`${family}, cut at ${share}`, whole.slice(0, Math.ceil(whole.length * share)), false, problem);
    add(`${family}, JSON that is none`, whole.replace(/[}\])]/, ""), false, problem);
  }
  for (const [form, write] of Object.entries(UNKNOWN_FORMS)) {
    const problem = problemOf(random, 1);
    add(form, write(problem.calls[0]!), false, problem);
  }
  for (const text of REFUSALS) for (let i = 0; i < 5; i++) add("a refusal", text, true, problemOf(random, 1));
  for (const text of BLANKS) add("a blank", text, false, problemOf(random, 1));
  return made;
}

/** Attempts of a policy that is paid for calls elsewhere; get_time(city) is offered. */
const TRIED = [
  "{",
  "[",
  "<",
  "<|",
  "```json\n{",
  "```\n[{",
  "{}",
  "[{}]",
  '"get_time"',
  "get_time",
  "get_time()",
  "get_time(city)",
  'get_time("Bern")',
  "get_time('Bern'",
  "get_time city=Bern",
  "get_time --city Bern",
  "/get_time Bern",
  "@get_time Bern",
  "#get_time(Bern)",
  "call get_time with city=Bern",
  "CALL get_time(city=Bern)",
  "<get_time>Bern</get_time>",
  '<get_time city="Bern"/>',
  "get_time: Bern",
  "get_time -> Bern",
  "get_time|Bern",
  "tool: get_time, input: Bern",
  "tool: get_time\nargs: {city: Bern}",
  "name: get_time\narguments:\n  city: Bern",
  "[get_time: Bern]",
  "[[get_time city=Bern]]",
  '{{get_time city="Bern"}}',
  '!get_time(city="Bern")',
  "$ get_time Bern",
  '`get_time` `{"city": "Bern"}`',
  "await get_time({city: 'Bern'})",
  "const t = get_time({city: 'Bern'});",
  "print(get_time(city='Bern'))",
  "import tools; tools.get_time(city='Bern')",
  'functions.get_time({"city": "Bern"})',
  "<|im_start|>tool\nget_time",
  "<tools>get_time</tools>",
  "<call>get_time</call>",
  "<execute>get_time()</execute>",
  "<code>get_time('Bern')</code>",
  "<python>get_time('Bern')</python>",
  "ＧＥＴ＿ＴＩＭＥ（city='Bern'）",
  "get\u200b_time(city='Bern')",
  "get_time\u00a0(city='Bern')",
  "get\\_time(city='Bern')",
  "g‌et_time(city='Bern')",
  "time_get(city='Bern')",
  "{'name':'get_time'",
  "<tool\ncall>",
  "< tool_call >",
  "<tool-call>",
  "<toolcall>",
  "<ToolCall>",
  "[tool_call]",
  "[TOOL CALL]",
  "(tool_call)",
  "{tool_call}",
  "**tool_call**",
  "tool_call",
  "tool_calls: []",
  "I call the tool. <|tool▁call",
  "assistant to=get_time",
  "to=get_time code",
  "commentary to=functions.get_time",
  '<|channel|>commentary json<|message|>{"city":1}',
  "<tool_response>12:00</tool_response>",
  "<tool_output>x",
  "<function_results>x",
];

describe("what a policy may try", () => {
  const offered = {
    id: "x",
    category: "irrelevance",
    function: [
      { name: "get_time", parameters: { properties: { city: { type: "string" } }, required: ["city"] } },
    ],
  };

  test.each(TRIED)("%j is no refusal", (text) => {
    for (const dialect of ["tool_calls", undefined] as const)
      expect(statusOf(offered, text, dialect)).not.toBe("correct");
  });

  const wanted = {
    ...offered,
    category: "simple_python",
    ground_truth: [{ get_time: { city: ["Bern"] } }],
  };
  const right = '{"name": "get_time", "arguments": {"city": "Bern"}}';
  test.each([
    `<tool_call>${right}</tool_call><tool_call>${right}</tool_call>`,
    `<tool_call>${right}</tool_call><tool_calls>[${right}]</tool_calls>`,
    `<tool_call>${right}</tool_call>[TOOL_CALLS][${right}]`,
    `<tool_call>${right}`,
    `<tool_calls>[${right}]`,
    `<tool_calls>[${right}, ${right}]</tool_calls>`,
    `<tool_calls>[${right}]</tool_calls><tool_calls>[`,
    `<tool_calls>{"name": "get_time", "arguments": {"city": "x"}, "function": ${right}}</tool_calls>`,
    `<tool_calls>{"function": ${right}, "get_time": {"city": "x"}}</tool_calls>`,
    '{"name": "get_time", "parameters": {"city": "Bern"}, "arguments": {"city": "x"}}',
    "<tool_call>get_time\n<arg_key>city</arg_key><arg_value>Bern</arg_value><arg_key>city</arg_key><arg_value>x</arg_value></tool_call>",
    "[get_time('x', city='Bern')]",
    "I call get_time(city='Bern')",
    `\`\`\`json\n${right}\n\`\`\``,
  ])("%j is no right call", (text) => {
    expect(statusOf(wanted, text, "tool_calls")).not.toBe("correct");
  });

  test.each(["city", "Bern", "Time is money.", "get some rest", "It is noon in Bern (city of bears)."])(
    "%j is a refusal or an answer",
    (text) => expect(statusOf(offered, text, "tool_calls")).toBe("correct"),
  );
});

describe.each([
  ["calls", callCases(randomOf(1)), 400],
  ["no call", noCallCases(randomOf(2)), 400],
] as const)("%s", (kind, cases, least) => {
  const dialects = kind === "calls" ? (["tool_calls"] as const) : (["tool_calls", undefined] as const);

  test(`at least ${least} cases, both right and wrong`, () => {
    expect(cases.length).toBeGreaterThanOrEqual(least);
    for (const right of [true, false])
      expect(cases.filter((one) => one.right === right).length).toBeGreaterThan(100);
  });

  if (kind === "calls")
    test("marks alone say that the calls are marked", () => {
      const told = cases.filter(({ what }) => !what.startsWith("Llama 3.2"));
      const apart = told.filter(
        ({ entry, text, right }) => (statusOf(entry, text, undefined) === "correct") !== right,
      );
      expect(apart.map(({ what, text }) => [what, text])).toEqual([]);
    });

  test.each(dialects)(
    "dialect %s: none that is wrong is right, and none that is right is refused",
    (dialect) => {
      const judged = cases.map((one) => ({ ...one, status: statusOf(one.entry, one.text, dialect) }));
      const shown = ({ what, text, status }: (typeof judged)[number]) => [what, text.slice(0, 300), status];
      expect(judged.filter(({ right, status }) => !right && status === "correct").map(shown)).toEqual([]);
      expect(judged.filter(({ right, status }) => right && status !== "correct").map(shown)).toEqual([]);
    },
  );
});
