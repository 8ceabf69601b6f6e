// Runs against a real HTTP server.
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AnswerCache } from "../../lib/traces/answer-cache.ts";
import { CATEGORIES } from "../../lib/traces/categories.ts";
import { jsonIn, ModelReader, type ModelReaderOptions } from "../../lib/traces/model-reader.ts";
import type { ReadTrace, Trace } from "../../lib/traces/trace.ts";
import { type Asked, LabellingServer } from "./labelling-server.ts";
import { freshDir, thought } from "./small-evaluation.ts";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const FAST = { model: "judge", concurrency: 2, retries: 1, backoffMs: 1, timeoutMs: 2000 };
const path = () => join(freshDir(), "answers.jsonl");

async function reading(change: Partial<ModelReaderOptions> = {}, at = path()) {
  const server = new LabellingServer();
  const url = `${await server.listen()}/v1`;
  const cache = new AnswerCache(at);
  const reader = new ModelReader({ ...FAST, url, cache, ...change });
  open.push(
    () => server[Symbol.asyncDispose](),
    () => cache[Symbol.dispose](),
    () => reader[Symbol.dispose](),
  );
  return { server, reader, at };
}

const traceOf = (text: string): Trace => ({
  problem: "p",
  question: "How many?",
  text,
  tokens: 10,
  correct: true,
});
const TRACE = traceOf(thought("First one. Second one. Third one.", "A fourth."));

const isRead = (result: Awaited<ReturnType<ModelReader["read"]>>): ReadTrace => {
  if (typeof result === "string" || "outage" in result)
    throw new Error(`not read: ${JSON.stringify(result)}`);
  return result;
};

test("asks for the beginnings, then for the categories twice: other orders, other seeds, one set of steps", async () => {
  const { server, reader } = await reading();
  server.category = (text, seed) =>
    seed === 1 ? "verification" : text.startsWith("First") ? "backtracking" : "verification";
  const { steps, labels, second } = isRead(await reader.read(TRACE));
  expect(steps.map(({ text }) => text)).toEqual([
    "First one. Second one.",
    "Third one.\n\nA fourth.",
    "The answer is 7.",
  ]);
  expect(labels).toEqual(Array(3).fill("verification"));
  expect(second).toEqual(["backtracking", "verification", "verification"]);
  expect(server.asked.map(({ kind, seed }) => [kind, seed])).toEqual([
    ["split", 1],
    ["label", 1],
    ["label", 2],
  ]);
  const orderIn = ({ prompt }: Asked) => [...prompt.matchAll(/^- "([^"]+)":/gm)].map(([, name]) => name);
  expect(orderIn(server.asked[1]!)).toEqual(CATEGORIES);
  expect(orderIn(server.asked[2]!)).toEqual([...CATEGORIES].reverse());
  expect(server.asked.every(({ prompt }) => prompt.includes("How many?"))).toBe(true);
});

test("what was answered is not asked again, but for another model", async () => {
  const at = path();
  const first = await reading({}, at);
  const read = isRead(await first.reader.read(TRACE));
  const again = await reading({}, at);
  expect(await again.reader.read(TRACE)).toEqual(read);
  expect(again.server.asked).toEqual([]);
  const other = await reading({ model: "another" }, at);
  await other.reader.read(TRACE);
  expect(other.server.asked).toHaveLength(3);
});

const BAD: Readonly<Record<string, (asked: Asked, proper: string) => string>> = {
  "no JSON": () => "I think that they are all forward reasoning.",
  "an unknown category": (_, proper) => proper.replaceAll(/"category":"[^"]+"/g, '"category":"thinking"'),
  "a step too few": ({ texts }) =>
    JSON.stringify({ labels: texts.slice(1).map((_, i) => ({ step: i + 1, category: "verification" })) }),
  "a step twice": ({ texts }) =>
    JSON.stringify({ labels: texts.map(() => ({ step: 1, category: "verification" })) }),
  "another shape": () => '{"categories": ["verification"]}',
  nothing: () => "",
};

test.each(Object.keys(BAD))("%s is asked again, and then holds", async (name) => {
  const { server, reader } = await reading();
  let bad = 2;
  server.script = (asked) => {
    const proper = server.proper(asked);
    return asked.kind === "label" && bad-- > 0 ? BAD[name]!(asked, proper) : proper;
  };
  const { labels } = isRead(await reader.read(TRACE));
  expect(labels.every((label) => label !== undefined)).toBe(true);
  expect(server.asked.map(({ seed }) => seed)).toEqual([1, 1, 1001, 2001, 2]);
  expect(server.asked.map(({ temperature }) => temperature)).toEqual([0, 0, 0.7, 0.7, 0]);
});

test.each(Object.keys(BAD))(
  "%s for good leaves steps unclassified, is not kept, and is asked again next time",
  async (name) => {
    const { server, reader, at } = await reading();
    server.script = (asked) =>
      asked.kind === "label" && asked.seed % 1000 === 1
        ? BAD[name]!(asked, server.proper(asked))
        : server.proper(asked);
    const { labels, second } = isRead(await reader.read(TRACE));
    expect(labels).toEqual(Array(3).fill(undefined));
    expect(second!.every((label) => label !== undefined)).toBe(true);
    expect(server.asked).toHaveLength(1 + 3 + 1);
    const better = await reading({}, at);
    expect(isRead(await better.reader.read(TRACE)).labels).not.toContain(undefined);
    expect(better.server.asked).toHaveLength(1);
  },
);

test.each([
  ["beyond the last piece", '{"starts":[1,99]}'],
  ["descending", '{"starts":[3,1]}'],
  ["none", '{"starts":[]}'],
])("beginnings that are %s divide nothing: the trace is unsplit", async (_, said) => {
  const { server, reader } = await reading();
  server.script = () => said;
  expect(await reader.read(TRACE)).toBe("unsplit");
});

test("an outage is told as one, whatever was asked, and nothing is kept of it", async () => {
  for (const kind of ["split", "label"] as const) {
    const { server, reader, at } = await reading();
    server.script = (asked) => (asked.kind === kind ? 503 : server.proper(asked));
    expect(await reader.read(TRACE)).toEqual({ outage: "the server says 503: no" });
    const better = await reading({}, at);
    isRead(await better.reader.read(TRACE));
    expect(better.server.asked).toHaveLength(kind === "split" ? 3 : 2);
  }
});

test("a server that never answers ends it", async () => {
  const { server, reader } = await reading();
  server.script = () => 500;
  for (let i = 0; i < 3; i++) expect(await reader.read(TRACE)).toHaveProperty("outage");
  await expect(reader.read(TRACE)).rejects.toMatchObject({ code: "HONE_ERR_ENDPOINT" });
});

test("a long trace is asked in parts, each with what came before it, and every step once", async () => {
  const { server, reader } = await reading();
  const paragraphs = Array.from(
    { length: 300 },
    (_, i) => `Paragraph ${i} has some words about the number ${i}.`,
  );
  const { steps, labels } = isRead(await reader.read(traceOf(thought(...paragraphs))));
  expect(labels).toHaveLength(steps.length);
  expect(labels).not.toContain(undefined);
  const first = server.asked.filter(({ kind, seed }) => kind === "label" && seed === 1);
  expect(first.length).toBeGreaterThan(1);
  expect(first.flatMap(({ texts }) => texts)).toEqual(
    steps.map(({ text, place }) => (place === "answer" ? `(after the thought) ${text}` : text)),
  );
  expect(first[0]!.prompt).not.toContain("<before>");
  expect(first[1]!.prompt).toContain("<before>");
});

test("the JSON is found behind a thought, a fence and words", () => {
  expect(jsonIn('<think>{"a": 1}</think>Here:\n```json\n{"b": {"c": 2}}\n```')).toEqual({ b: { c: 2 } });
  expect(jsonIn('set {x} then {"b": 3}')).toEqual({ b: 3 });
  for (const none of ["", "{", "}{", '{"b": 3']) expect(jsonIn(none)).toBeUndefined();
});
