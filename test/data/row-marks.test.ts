import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { RowJudge } from "../../lib/data/row-judge.ts";
import { MARK, MARK_NUMBERS, PartReader } from "../../lib/data/row-marks.ts";
import { MarkedRow } from "../../lib/data/used-row.ts";
import { jsonl } from "../../lib/domains/jsonl.ts";
import { scratch } from "./filtered.ts";

const path = scratch("marks.jsonl");
const rows = Array.from({ length: 600 }, (_, i) =>
  i % 3 === 0 ? { prompt: `without ${i}` } : { question: `sum ${i}`, answer: `${i}`, family: `f${i % 2}` },
);
writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
const options = { path, domain: "math" };
const reader = () => new PartReader(new RowJudge(jsonl(options), options));
const whole = { path, from: 0, to: 1 << 20 };

test("marks count every line, and name the first rows that are refused for a reason", async () => {
  const marks = await reader().marks(whole, 0);
  expect([marks.lines, marks.rows, marks.numbers.length / MARK_NUMBERS]).toEqual([600, 600, 400]);
  expect(marks.refused).toEqual([
    {
      as: "bad",
      reason: "row: neither reference nor answer",
      rows: 200,
      first: [1, 4, 7, 10, 13].map((line) => ({ line, columns: "prompt" })),
    },
  ]);
  expect(marks.kinds.map(({ family, askedFrom }) => [family, askedFrom])).toEqual([
    ["f1", "question"],
    ["f0", "question"],
  ]);
});

test("keys are those of the rows that may be held out", async () => {
  const marks = await reader().marks(whole, 0.25);
  const points = Array.from(
    { length: 400 },
    (_, at) => marks.numbers[at * MARK_NUMBERS + MARK.hash]! / 2 ** 32,
  );
  expect([...marks.keys.keys()]).toEqual(points.flatMap((point, at) => (point <= 0.25 ? [at] : [])));
});

test("parts that are asked at once are read one after another", async () => {
  const one = reader();
  const both = await Promise.all([one.marks(whole, 0), one.marks({ ...whole, from: 4000 }, 0)]);
  expect(both).toEqual([await reader().marks(whole, 0), await reader().marks({ ...whole, from: 4000 }, 0)]);
  const row = new MarkedRow(0, { file: path, from: 4000, lines: 77, marks: both[1]! }, 0);
  expect(row.number).toBe(77 + both[1]!.numbers[MARK.line]!);
  expect(row.span.start).toBeGreaterThanOrEqual(4000);
});
