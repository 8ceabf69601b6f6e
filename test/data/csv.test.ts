import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { csvRows } from "../../lib/data/csv.ts";

// Deliberate faults (mutants) that these tests detect: a comma or line end inside quotes separates, \r is kept, a
// doubled quote is dropped.

const path = join(mkdtempSync(join(tmpdir(), "hone-csv-")), "rows.csv");
afterAll(() => rmSync(join(path, ".."), { recursive: true }));

async function read(text: string): Promise<unknown[]> {
  writeFileSync(path, text);
  const rows: unknown[] = [];
  for await (const raw of csvRows(path)) rows.push([raw.row, "fault" in raw ? raw.fault : raw.value]);
  return rows;
}

test("quotes, line ends, a byte order mark, blank lines and missing fields", async () => {
  const text = '\uFEFFa,b c\r\n1,"x, ""y""\nz"\r\n\r\n2\n"",end';
  expect(await read(text)).toEqual([
    [1, { a: "1", "b c": 'x, "y"\nz' }],
    [2, { a: "2", "b c": "" }],
    [3, { a: "", "b c": "end" }],
  ]);
  expect(await read("")).toEqual([]);
  await expect(read('a\n"open')).rejects.toThrow("quoted");
});

test("a byte order mark before a quote, semicolons, and tabs", async () => {
  expect(await read('\uFEFF"question","answer"\n"a, b",2')).toEqual([[1, { question: "a, b", answer: "2" }]]);
  expect(await read('question;answer\n"a; b, c";2\n1,5 + 1;2,5')).toEqual([
    [1, { question: "a; b, c", answer: "2" }],
    [2, { question: "1,5 + 1", answer: "2,5" }],
  ]);
  expect(await read("question\tanswer\na, b; c\t2")).toEqual([[1, { question: "a, b; c", answer: "2" }]]);
  expect(await read('"a;b",c\n1;2,3')).toEqual([[1, { "a;b": "1;2", c: "3" }]]);
  expect(await read("question\na; b\tc")).toEqual([[1, { question: "a; b\tc" }]]);
});

test("a file that is named .tsv has tabs between its fields, whatever its first line has", async () => {
  const tabbed = join(path, "../rows.tsv");
  writeFileSync(tabbed, "a, b\tc\n1\t2");
  const rows: unknown[] = [];
  for await (const raw of csvRows(tabbed)) rows.push("value" in raw && raw.value);
  expect(rows).toEqual([{ "a, b": "1", c: "2" }]);
});

test("a row that says more than there are names is a fault; commas at its end say nothing", async () => {
  const fault = "more fields than the first line has names: a comma outside quotes?";
  expect(await read("question,answer\nHow many, then?,5\na,1,,\nb,2")).toEqual([
    [1, fault],
    [2, { question: "a", answer: "1" }],
    [3, { question: "b", answer: "2" }],
  ]);
});

test("what is written by the rules is read back", async () => {
  const field = fc.string({ unit: fc.constantFrom("a", ",", '"', "\n", " ", "é", "😀") });
  const written = (fields: readonly string[]) =>
    fields.map((one) => `"${one.replaceAll('"', '""')}"`).join(",");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(field, field)), async (rows) => {
      const read_ = await read(["x,y", ...rows.map(written)].join("\n"));
      expect(read_).toEqual(rows.map(([x, y], i) => [i + 1, { x, y }]));
    }),
    { numRuns: 30 },
  );
});
