// Several readers, each of a part of a file, must give the same set as one reader of the whole file.
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { FilePart } from "../../lib/data/file-parts.ts";
import type { Admission, DatasetReport } from "../../lib/data/index.ts";
import { RowFilter } from "../../lib/data/row-filter.ts";
import { RowJudge } from "../../lib/data/row-judge.ts";
import { PartReader } from "../../lib/data/row-marks.ts";
import type { DatasetOptions } from "../../lib/data/row-reader.ts";
import type { RowThread } from "../../lib/data/row-threads.ts";
import { jsonl } from "../../lib/domains/jsonl.ts";
import { scratch } from "./filtered.ts";

const FILLER = "How many are left at the end of the day? ".repeat(20);
const ROWS = 12_000;

/** About 10 MB with everything that shifts byte offsets or line numbers, is refused or is repeated. */
function lines(): string {
  const all = Array.from({ length: ROWS }, (_, i) => {
    if (i % 500 === 7) return i % 1000 === 7 ? "" : "  \t";
    if (i % 500 === 8) return "{broken";
    if (i % 500 === 9) return JSON.stringify({ question: `no answer ${i}` });
    if (i % 500 === 11) return JSON.stringify({ question: `Zoë's dull day ${i}`, answer: "1" });
    const name = i % 5 === 0 ? `Zoë ☂ ${i} 𝔸` : `Ann ${i}`;
    const question = i % 500 === 10 ? "The same question again" : `${name}: ${FILLER}`;
    return JSON.stringify({ question, answer: `${i}`, family: `f${i % 7}` });
  });
  return `\uFEFF${all.join("\r\n")}`;
}

const path = scratch("parts.jsonl");
writeFileSync(path, lines());
const reader = jsonl({ path, domain: "math" });
const admit: Admission = ({ question }) => (question.includes("dull") ? "too dull" : undefined);
const sizes = { fileBytes: 0, partBytes: 1 << 18 };

/** A stand-in for a thread that answers late and out of order; `fails` chooses the parts that it cannot read. */
function thread(options: DatasetOptions, read: FilePart[], fails = (_: number) => false): RowThread {
  const parts = new PartReader(new RowJudge(reader, options, { admit }));
  return {
    async marks(part, reach) {
      read.push(part);
      await new Promise((resolve) => setTimeout(resolve, (read.length * 7) % 5));
      if (fails(read.length)) throw new Error("gone");
      return parts.marks(part, reach);
    },
    close: () => void read.push({ path: "closed", from: 0, to: 0 }),
  };
}

interface Outcome {
  readonly rows: readonly unknown[];
  readonly held: readonly unknown[];
  readonly report: DatasetReport;
}

async function outcomeOf(
  options: Partial<DatasetOptions>,
  open?: (all: DatasetOptions) => readonly RowThread[],
): Promise<Outcome> {
  const all = { path, ...options };
  const filter = new RowFilter("jsonl", reader, all, { admit });
  const rows: unknown[] = [];
  for await (const batch of filter.stored(() => open?.(all) ?? [], sizes))
    for (const row of batch) {
      const { family, file, number, span } = row;
      rows.push({ family, file, number, span, checksum: row.checksum() });
    }
  return { rows, held: [...filter.held], report: filter.report() };
}

describe.each<[string, Partial<DatasetOptions>]>([
  ["a share", { heldOut: 0.2 }],
  ["a number", { heldOut: 50 }],
  ["one in ten", {}],
])("rows with %s held out", (_, options) => {
  test("are the same in any thread, with the places of the first refused", async () => {
    const read: FilePart[][] = [[], []];
    const alone = await outcomeOf(options);
    const together = await outcomeOf(options, (all) => read.map((parts) => thread(all, parts)));
    expect(together.report).toEqual(alone.report);
    expect(together.held).toEqual(alone.held);
    expect(together.rows).toEqual(alone.rows);
    for (const parts of read) {
      expect(parts.length).toBeGreaterThan(2);
      expect(parts.at(-1)!.path).toBe("closed");
    }
  });
});

test("a part that a thread could not read is read here, and the thread is asked no more", async () => {
  const read: FilePart[] = [];
  const together = await outcomeOf({}, (all) => [thread(all, read, (n) => n > 2)]);
  expect(together).toEqual(await outcomeOf({}));
  expect(read.length).toBeLessThan(10);
});
