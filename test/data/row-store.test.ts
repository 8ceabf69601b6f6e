// A reader reads rows of a large file again from disk, but keeps the rows of a packed file in memory. Both must give
// the same set.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import type { ProblemSource } from "../../lib/data/index.ts";
import type { RowMap } from "../../lib/data/row-map.ts";
import { openProblemSource } from "../../lib/domains/index.ts";
import { scratch } from "./filtered.ts";

const FILLER = "How many are left at the end of the day? ".repeat(12);
const ROWS = 24_000;

/**
 * About 13 MB with everything that shifts byte offsets: a byte order mark, line ends of two bytes, blank and bad
 * lines, non-ASCII text.
 */
function lines(): string {
  const all = Array.from({ length: ROWS }, (_, i) => {
    if (i % 1000 === 7) return i % 2000 === 7 ? "" : "  \t";
    if (i % 1000 === 8) return "{broken";
    if (i % 1000 === 9) return JSON.stringify({ question: `no answer ${i}` });
    const name = i % 5 === 0 ? `Zoë ☂ ${i} 𝔸` : `Ann ${i}`;
    const question = i % 1000 === 10 ? "The same question again" : `${name}: ${FILLER}`;
    return JSON.stringify({ question, answer: `she had ${i}\n#### ${i}` });
  });
  return `\uFEFF${all.join("\r\n")}`;
}

const plain = scratch("large.jsonl");
const open = (path: string) => openProblemSource(`jsonl:${path}`, { seed: 5, ordinal: 2, domain: "math" });
let [onDisk, inMemory]: ProblemSource[] = [];

beforeAll(async () => {
  const text = lines();
  writeFileSync(plain, text);
  writeFileSync(scratch("large.jsonl.gz"), gzipSync(text, { level: 1 }));
  [onDisk, inMemory] = [await open(plain), await open(scratch("large.jsonl.gz"))];
}, 60_000);

describe("a large file of lines", () => {
  test("gives the same problems in the same order as rows in memory, and the same counts", () => {
    const { training, heldOut } = onDisk!.report!;
    expect(training + heldOut).toBe(ROWS - 3 * (ROWS / 1000) - (ROWS / 1000 - 1));
    const counts = ({ bad, duplicates, ...rest }: NonNullable<ProblemSource["report"]>) => ({
      ...rest,
      bad: bad.map(({ reason, rows }) => [reason, rows]),
      duplicates: duplicates.map(({ reason, rows }) => [reason, rows]),
      answers: 0,
      questions: 0,
    });
    expect(counts(onDisk!.report!)).toEqual(counts(inMemory!.report!));
    expect(onDisk!.heldOutKeys).toEqual(inMemory!.heldOutKeys);
    for (let i = 0; i < training + 50; i += 7) expect(onDisk!.problem(i)).toEqual(inMemory!.problem(i));
    for (let i = 0; i < heldOut; i += 3) expect(onDisk!.heldOut(i)).toEqual(inMemory!.heldOut(i));
  });

  test("names the line of each problem", () => {
    const text = readFileSync(plain, "utf8").split("\r\n");
    for (let i = 0; i < 400; i++) {
      const { id, question } = onDisk!.problem(i);
      const line = Number(onDisk!.placeOf!(id)!.slice(plain.length + 1));
      expect(
        (JSON.parse(text[line - 1]!.replace("\uFEFF", "")) as { question: string }).question.trim(),
      ).toBe(question);
    }
  });

  test("that is changed or gone while it is asked is an error with file and line, never another row", () => {
    const text = readFileSync(plain, "utf8");
    const asked = () => Array.from({ length: 300 }, (_, i) => onDisk!.problem(i).question);
    const before = asked();
    const refusal = expect.objectContaining({
      code: "HONE_ERR_DATA",
      message: expect.stringMatching(/large\.jsonl:\d+: its row has changed/),
    });
    writeFileSync(plain, text.replaceAll("Ann", "Bob"));
    expect(asked).toThrowError(refusal);
    // the questions are unchanged, only one answer differs
    writeFileSync(plain, text.replaceAll("#### 2", "#### 3"));
    expect(asked).toThrowError(refusal);
    writeFileSync(plain, text.slice(0, text.length / 2));
    expect(asked).toThrowError(refusal);
    writeFileSync(plain, text);
    renameSync(plain, `${plain}.away`);
    expect(asked).toThrowError(refusal);
    renameSync(`${plain}.away`, plain);
    expect(asked()).toEqual(before);
  });
});

test("a map that depends on more than its row is an error that says so, never another problem", async () => {
  let calls = 0;
  const drifting = (row: { question: string; answer: string }) => {
    calls += 1;
    return calls > 2 * ROWS ? { ...row, question: `${row.question} (${calls})` } : row;
  };
  const steady = ({ question, answer }: { question?: string; answer?: string }) =>
    answer === undefined ? null : { prompt: question, ground_truth: answer };
  const openMapped = (map: RowMap) =>
    openProblemSource({ kind: "jsonl", path: plain, map }, { seed: 5, ordinal: 2, domain: "math" });
  const source = await openMapped(steady);
  expect(source.report).toMatchObject({ questions: [{ reason: "prompt" }] });
  for (let i = 0; i < 100; i++) expect(source.problem(i)).toEqual(onDisk!.problem(i));
  const changing = await openMapped(drifting);
  calls = 3 * ROWS;
  expect(() => Array.from({ length: 300 }, (_, i) => changing.problem(i))).toThrow(
    /large\.jsonl:\d+: the source.s map gives another question for this row/,
  );
});
