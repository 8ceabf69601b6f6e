import { expect, test } from "vitest";
import { functionCalling } from "../../../../lib/domains/function-calling/verify.ts";
import { readAs } from "../../../data/filtered.ts";

// Deliberate faults (mutants) that these tests detect: a call is judged as the first function's, defaults are not
// allowed, arguments equal to defaults are required, the gold keeps dots in names, "no call" accepts a call.

const spec = { kind: "xlam" } as const;
const TOOLS = [
  { name: "time.now", description: "The time.", parameters: {} },
  {
    name: "weather.of",
    description: "The weather.",
    parameters: {
      city: { type: "str", description: "Where." },
      days: { type: "int, optional", description: "How long.", default: 1 },
      scale: { type: "Union[float, str]", description: "Of degrees.", default: "C" },
      where: { type: "Dict[str, float], optional", description: "A place." },
      hours: { type: "List[int], optional", description: "Of the day." },
    },
  },
];
const weather = (args: object) => ({ name: "weather.of", arguments: args });
const row = (query: string, answers: unknown, tools: unknown = TOOLS) => ({
  id: 1,
  query,
  tools: JSON.stringify(tools),
  answers: JSON.stringify(answers),
});

async function judged(answers: unknown, ...texts: string[]) {
  const { kept, bad } = await readAs(spec, [row("What is it like?", answers)]);
  expect(bad).toEqual({});
  const reference = functionCalling.parseReference(kept[0]!.reference);
  return [...kept[0]!.gold!(), ...texts].map(
    (text) => (functionCalling.verify({ text, finish: "stop" }, reference) as { status: string }).status,
  );
}
const calls = (...all: object[]) => `<tool_calls>${JSON.stringify(all)}</tool_calls>`;
const call = (args: object) => ({ name: "weather_of", arguments: args });

test("a row is asked as a conversation with tools, its parameters in JSON Schema, and in words", async () => {
  const { kept } = await readAs(spec, [row("Oslo?", [weather({ city: "Oslo" })])]);
  const [{ tools, messages, question, family, level }] = kept as [(typeof kept)[0]];
  expect({ messages, family, level }).toEqual({
    messages: [{ role: "user", content: "Oslo?" }],
    family: "xlam",
    level: 0,
  });
  const shown = (JSON.parse(tools!) as { function: { name: string; description: string } }[])[1]!.function;
  expect(shown).toMatchObject({
    name: "weather_of",
    description: "The weather.",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string" },
        days: { type: "integer", default: 1 },
        where: { type: "object" },
      },
      required: ["city"],
    },
  });
  expect(question).toMatch(/<available_tools>[\s\S]*"weather_of"[\s\S]*<\/available_tools>\n\nOslo\?$/);
});

test("one call must be the row's; a default may be said or left out", async () => {
  const oslo = { city: "Oslo", days: 1 };
  expect(
    await judged(
      [weather(oslo)],
      calls(call({ city: "Oslo" })),
      calls(call({ city: "Oslo", scale: "C" })),
      calls(call({ ...oslo, days: 2 })),
      calls(call({ city: "Lima", days: 1 })),
      calls(call({ ...oslo, hours: [1] })),
      calls({ name: "time_now", arguments: {} }),
      calls(call(oslo), call(oslo)),
      "It is cold.",
    ),
  ).toEqual(["correct", "correct", "correct", "wrong", "wrong", "wrong", "wrong", "wrong", "no_answer"]);
});

test("several calls are right in any order, with values of every type", async () => {
  const [a, b] = [
    { city: "Oslo", where: { lat: 59.9, lon: 10 }, scale: 1.5 },
    { city: "Lima", hours: [1, 2], days: 3 },
  ];
  expect(
    await judged(
      [weather(a), weather(b), { name: "time.now", arguments: {} }],
      calls({ name: "time_now", arguments: {} }, call(b), call({ ...a, where: { lon: 10, lat: 59.9 } })),
      calls(call(b), call(a)),
      calls({ name: "time_now", arguments: {} }, call({ ...b, hours: [2, 1] }), call(a)),
      calls({ name: "time_now", arguments: {} }, call(b), call({ ...a, where: { lat: 59.9 } })),
    ),
  ).toEqual(["correct", "correct", "wrong", "wrong", "wrong"]);
});

test("a row without calls asks for none", async () => {
  expect(await judged([], "None of these helps.", calls(call({ city: "Oslo" })))).toEqual([
    "correct",
    "correct",
    "wrong",
  ]);
});

test("lists that are no text are read too; what is none is bad, with its place", async () => {
  const lists = { query: "Oslo?", tools: TOOLS, answers: [weather({ city: "Oslo" })] };
  const { kept, bad } = await readAs(spec, [
    lists,
    row("a", [{ name: "other", arguments: {} }]),
    { ...lists, query: "b", answers: "[{" },
    { ...lists, query: "c", tools: "none" },
    { ...lists, query: "d", answers: 3 },
    { tools: [], answers: [] },
  ]);
  expect(kept).toHaveLength(1);
  expect(Object.keys(bad).sort()).toEqual([
    "answers: a call of none of the tools",
    "answers: invalid input, received number",
    "answers: not a JSON list of { name, arguments }",
    expect.stringMatching(/^query: /),
    "tools: not JSON",
  ]);
});
