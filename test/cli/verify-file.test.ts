// Deliberate faults (mutants) that these tests detect: batches are awaited out of order, blank lines count as cases,
// line numbers skip blank lines.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { verifyFile } from "../../lib/cli/verify-file.ts";
import type { HoneError } from "../../lib/errors.ts";
import type { Verdict } from "../../lib/records.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-verify-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(name: string, lines: readonly string[]): string {
  const path = join(dir, name);
  writeFileSync(path, lines.join("\n"));
  return path;
}

async function verdictsOf(path: string, workers = 1) {
  const verdicts: Verdict[] = [];
  const faults: HoneError[] = [];
  const options = { domain: "math", file: path, workers };
  for await (const verdict of verifyFile(options, (fault) => faults.push(fault))) verdicts.push(verdict);
  return { verdicts, faults };
}

const row = (answer: number | string, gold = "7") => JSON.stringify({ response: `\\boxed{${answer}}`, gold });
const CORRECT: Verdict = { status: "correct", score: 1, reason: "same text" };
const WRONG: Verdict = { status: "wrong", score: 0, reason: "not equal" };

test("there is a verdict a line, in the order of the lines, over batches and workers", async () => {
  const answers = Array.from({ length: 200 }, (_, i) => (i * 7919) % 3);
  const path = file(
    "many.jsonl",
    answers.map((k) => row(k === 0 ? 7 : k)),
  );
  const { verdicts, faults } = await verdictsOf(path, 2);
  expect(verdicts).toEqual(answers.map((k) => (k === 0 ? CORRECT : WRONG)));
  expect(faults).toEqual([]);
});

test("a line that is no case is unscored in its place, named by its number, and blank lines are none", async () => {
  const path = file("bad.jsonl", [row(7), "", "{oops", row(8), "[1]", '{"gold":"7"}', row(7), ""]);
  const { verdicts, faults } = await verdictsOf(path);
  const messages = [
    "bad.jsonl:3: not JSON: {oops",
    "bad.jsonl:5: not a JSON object: [1]",
    'bad.jsonl:6: math case: needs texts "gold" and "response" (or "pred"), has gold: string',
  ];
  const unscored = messages.map((cause): Verdict => ({ status: "unscored", cause }));
  expect(verdicts).toEqual([CORRECT, unscored[0], WRONG, unscored[1], unscored[2], CORRECT]);
  expect(faults.map(({ code, message, details }) => [code, message, details])).toEqual(
    [3, 5, 6].map((line, i) => ["HONE_ERR_DATA", messages[i], { file: path, line }]),
  );
});

test("a reference that its verifier refuses is unscored, not wrong", async () => {
  const { verdicts } = await verdictsOf(file("empty-gold.jsonl", [row(7, ""), row(7)]));
  expect(verdicts).toEqual([
    { status: "unscored", cause: expect.stringContaining("nothing to compare with") },
    CORRECT,
  ]);
});

test("an empty file has no verdicts", async () => {
  expect(await verdictsOf(file("empty.jsonl", []))).toEqual({ verdicts: [], faults: [] });
});

test("a reader that stops early stops the reading", async () => {
  const path = file("long.jsonl", Array<string>(500).fill(row(7)));
  const seen: Verdict[] = [];
  for await (const verdict of verifyFile({ domain: "math", file: path, workers: 1 })) {
    seen.push(verdict);
    if (seen.length === 3) break;
  }
  expect(seen).toEqual([CORRECT, CORRECT, CORRECT]);
});

test.each([
  ["an unknown domain", "maths", "bad.jsonl", "HONE_ERR_USAGE", 'domain "maths"'],
  ["no such file", "math", "nowhere.jsonl", "HONE_ERR_IO", "nowhere.jsonl"],
])("%s is refused", async (_, domain, name, code, message) => {
  const first = verifyFile({ domain, file: join(dir, name), workers: 1 }).next();
  await expect(first).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
});
