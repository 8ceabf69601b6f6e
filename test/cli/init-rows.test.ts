import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { lookAtRows } from "../../lib/cli/init-rows.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-init-rows-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function rows(name: string, row: (n: number) => object, count = 30): string {
  const path = join(dir, name);
  writeFileSync(path, Array.from({ length: count }, (_, n) => JSON.stringify(row(n))).join("\n"));
  return path;
}

test("rows with answers are mathematics, and the columns that were taken are named; 256 are looked at", async () => {
  const path = rows("sums.jsonl", (n) => ({ problem: `${n} + 1?`, ground_truth: `${n + 1}` }), 500);
  const found = await lookAtRows(path, undefined);
  const template = "{task}\n\nPut your final answer in \\boxed{}.";
  expect(found).toMatchObject({
    domain: "math",
    source: { kind: "jsonl", path, template },
    isAskedFor: true,
    columns: ["problem", "ground_truth"],
  });
  expect(found.kept).toHaveLength(256);
  expect(found.looked).toBe(256); // no row was read that is not judged
  expect(found.kept[0]!.question).toBe("0 + 1?\n\nPut your final answer in \\boxed{}.");
});

test("rows that ask for the form of the answer are asked as they stand", async () => {
  const path = rows("boxed.jsonl", (n) => ({ problem: `In \\boxed{}: ${n} + 1?`, answer: `${n + 1}` }));
  const found = await lookAtRows(path, undefined);
  expect(found).toMatchObject({ source: path, isAskedFor: false });
  expect(found.kept[0]!.question).toBe("In \\boxed{}: 0 + 1?");
});

test("rows whose answers no verifier reads are counted out", async () => {
  const path = rows("mixed.jsonl", (n) => ({ question: `${n}?`, ...(n % 3 > 0 && { answer: String(n) }) }));
  const { looked, kept, unused } = await lookAtRows(path, undefined);
  expect([looked, kept.length]).toEqual([30, 20]);
  expect(unused).toEqual([expect.stringMatching(/^10 bad \(.*: 10, first mixed\.jsonl:1\)$/)]);
});

test("of many rows those up to the last one that is kept are counted", async () => {
  const path = rows(
    "many.jsonl",
    (n) => ({ question: `${n}?`, ...(n % 3 > 0 && { answer: String(n) }) }),
    1000,
  );
  const { looked, kept, unused } = await lookAtRows(path, undefined);
  expect([looked, kept.length]).toEqual([384, 256]);
  expect(unused).toEqual([expect.stringMatching(/^128 bad /)]);
});

test("rows that ask the same thing are counted out as duplicates", async () => {
  const path = rows("same.jsonl", (n) => ({ question: "1 + 1?", answer: String(n) }));
  const { kept, unused } = await lookAtRows(path, undefined);
  expect(kept).toHaveLength(1);
  expect(unused).toEqual(["29 duplicates (another reference: 29, first same.jsonl:2)"]);
});

test("Countdown's rows are judged by their verifier, or by a reward of one's own", async () => {
  const path = rows("countdown.jsonl", (n) => ({ target: n + 3, nums: [n, 1, 2] }));
  const ours = await lookAtRows(path, undefined);
  expect(ours).toMatchObject({ domain: "countdown", source: path, isAskedFor: false, unused: [] });
  const theirs = await lookAtRows(path, { python: "rewards.py#f" });
  expect(theirs).toMatchObject({ domain: "mine", source: path });
  expect(theirs.kept[0]!.question).toBe(ours.kept[0]!.question);
});

test("rows that need a map are refused with the map", async () => {
  const row = { data_source: "logic__ordering", prompt: "Order.", reward_model: { ground_truth: ["a"] } };
  await expect(
    lookAtRows(
      rows("guru.jsonl", () => row),
      undefined,
    ),
  ).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    hint: expect.stringContaining("\nmap: ({ prompt, reward_model") as string,
  });
});

test("a published kind is judged by its own verifier, under its domain's name", async () => {
  const path = rows("orz.json", (n) => ({
    "0": { from: "human", value: `${n} + 1?` },
    "1": { from: "assistant", ground_truth: { value: String(n + 1) } },
  }));
  const found = await lookAtRows(path, undefined).catch((error: unknown) => error);
  expect(found).toMatchObject({ domain: "math" });
});

test("rows of prompts alone need a reward of one's own", async () => {
  const path = rows("prompts.jsonl", (n) => ({ prompt: `say ${n}` }));
  await expect(lookAtRows(path, undefined)).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    hint: expect.stringContaining("--reward rewards.py#name") as string,
  });
  const found = await lookAtRows(path, { python: "rewards.py#f" });
  expect(found).toMatchObject({ domain: "mine", source: path, columns: ["prompt"] });
});

test("data that is not there, or has nothing to ask, is said", async () => {
  await expect(lookAtRows(join(dir, "none.jsonl"), undefined)).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
  });
  const path = rows("nothing.jsonl", (n) => ({ text: n }));
  await expect(lookAtRows(path, { python: "rewards.py#f" })).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringMatching(/none of 30 rows can be used/) as string,
  });
});
