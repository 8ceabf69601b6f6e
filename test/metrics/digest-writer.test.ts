import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DIGEST_STEPS, DigestWriter } from "../../lib/metrics/digest-writer.ts";

test("one line for every 16 steps; a step taken again begins anew, and what has no line yet is in none", () => {
  const folder = mkdtempSync(join(tmpdir(), "hone-digest-writer-"));
  const path = join(folder, "steps.digest.jsonl");
  const writer = new DigestWriter(path);
  const add = (step: number) =>
    writer.add({ step, version: step, metrics: { a: step } }, step * 10, step * 10 + 10);
  for (let step = 1; step <= DIGEST_STEPS + 3; step++) add(step);
  for (let step = 5; step < 5 + DIGEST_STEPS + 2; step++) add(step);
  writer.close();
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  rmSync(folder, { recursive: true });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      first: 1,
      step: 16,
      steps: 16,
      start: 10,
      last: 160,
      end: 170,
      version: 16,
      metrics: { a: 8.5 },
    },
    {
      first: 5,
      step: 20,
      steps: 16,
      start: 50,
      last: 200,
      end: 210,
      version: 20,
      metrics: { a: 12.5 },
    },
  ]);
});
