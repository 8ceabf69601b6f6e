import { expect, test } from "vitest";
import { mapped } from "../../lib/data/mapped-rows.ts";
import type { RowMap } from "../../lib/data/row-map.ts";
import { readAs } from "./filtered.ts";

// Deliberate faults (mutants) that these tests detect: the unmapped row's text is passed on, null counts as a bad
// row, a promise is read as a row.

const read = (map: RowMap, value: unknown = { text: "1+1?", n: 2 }) =>
  mapped(
    (raw) => ({ leftOut: JSON.stringify(raw) }),
    map,
  )({
    file: "x.jsonl",
    row: 3,
    value,
    text: "as in the file",
    span: { start: 0, bytes: 14 },
  });

test("the row that a map makes is read, without the text of the one it was made of", () => {
  expect(read(({ text }: { text: string }) => ({ question: text }))).toEqual({
    leftOut: '{"file":"x.jsonl","row":3,"value":{"question":"1+1?"}}',
  });
  expect(read(() => null)).toEqual({ leftOut: "map: returned null" });
});

test.each<[string, RowMap, string]>([
  ["throws", () => JSON.parse('"a') as unknown, "map: threw SyntaxError"],
  ["throws what is no error", () => Promise.reject, "map: returned a function"],
  ["returns a promise", async () => ({ question: "q" }), "map: returned a promise; it must return an object"],
  ["returns nothing", () => {}, "map: returned nothing; it must return an object, or null to drop the row"],
  ["returns a list", () => [1], "map: returned a list"],
  ["returns a text", () => "q", "map: returned a string"],
])("a map that %s makes the row bad", (_, map, bad) => {
  expect(read(map)).toEqual({ bad: expect.stringContaining(bad) as string });
});

test("rows whose map throws are counted by reason, whatever numbers and texts their messages have", async () => {
  const map = ({ n }: { n: number }) => {
    if (n > 2) throw new RangeError(`row ${n} of "${n * 3}" is too large`);
    return n === 1 ? null : { question: `What is ${n}?`, answer: n };
  };
  const rows = [1, 2, 3, 40].map((n) => ({ n }));
  const { kept, bad, leftOut } = await readAs({ kind: "jsonl", verifier: "math", map }, rows);
  expect(kept.map(({ question, reference }) => [question, reference])).toEqual([
    ["What is 2?", { answer: "2" }],
  ]);
  expect(bad).toEqual({ 'map: threw RangeError: row # of "…" is too large': 2 });
  expect(leftOut).toEqual({ "map: returned null": 1 });
});

test("a published kind reads mapped rows too, with all columns of a parquet file", async () => {
  const map = ({ words, target }: { words: string; target: number }) => ({
    problem: words,
    tests: [{ input: "", output: `${target}`, type: "stdin_stdout" }],
  });
  const { kept } = await readAs({ kind: "code-tests", map }, [{ words: "Print 7.", target: 7 }]);
  expect(kept[0]).toMatchObject({
    content: "Print 7.",
    reference: { input_output: expect.anything() as string },
  });
});
