import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { ROWS_READ, type RowsRead } from "../../lib/data/rows-read.ts";
import { filterDataset, ofDomain, parseDatasetSpec } from "../../lib/domains/index.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-rows-read-"));
afterAll(() => rmSync(dir, { recursive: true }));

/** Reads all rows of a folder, and collects the progress messages. */
async function readAll(folder: string): Promise<{ rows: number; told: RowsRead[] }> {
  const told: RowsRead[] = [];
  const hear = (message: unknown) => void told.push(message as RowsRead);
  ROWS_READ.subscribe(hear);
  let rows = 0;
  try {
    for await (const _ of filterDataset(ofDomain(parseDatasetSpec(`jsonl:${folder}`)!, "math", true)).rows())
      rows += 1;
  } finally {
    ROWS_READ.unsubscribe(hear);
  }
  return { rows, told };
}

const lines = (n: number, from = 0, filler = "") =>
  Array.from(
    { length: n },
    (_, i) => `${JSON.stringify({ question: `${from + i}+1${filler}`, answer: String(from + i + 1) })}\n`,
  );

test("shares grow with the bytes of all files, inside a small or packed one not, and end at 1", async () => {
  writeFileSync(join(dir, "a.jsonl"), lines(80_000, 0, " and all the others".repeat(5)).join(""));
  writeFileSync(join(dir, "b.jsonl.gz"), gzipSync(lines(3000, 90_000).join("")));
  writeFileSync(join(dir, "c.jsonl"), lines(2000, 99_000).join(""));
  const { rows, told } = await readAll(dir);
  expect(rows).toBe(85_000);
  const shares = told.map(({ share }) => share);
  expect(shares).toEqual(shares.toSorted((x, y) => x - y));
  expect(told.at(-1)).toEqual({ kind: "jsonl", file: join(dir, "c.jsonl"), rows: 85_000, share: 1 });
  const within = (file: string) =>
    new Set(told.filter((one) => one.file.endsWith(file)).map(({ share }) => share)).size;
  expect(within("a.jsonl")).toBeGreaterThan(3);
  // a small file is reported only at its beginning and end
  for (const small of [".gz", "c.jsonl"]) expect(within(small)).toBe(2);
});

test("without a subscriber nothing is looked up", async () => {
  expect(ROWS_READ.hasSubscribers).toBe(false);
  let rows = 0;
  for await (const _ of filterDataset(ofDomain(parseDatasetSpec(`jsonl:${dir}`)!, "math", true)).rows())
    rows += 1;
  expect(rows).toBe(85_000);
});
