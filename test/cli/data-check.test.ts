// Deliberate faults (mutants) that these tests detect: a row counts as rejected if any of its forms is rejected;
// drops are also written for accepted rows.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkDataset, dataCheckText, datasetsOf, writeDrops } from "../../lib/cli/data-check.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-data-check-"));
afterAll(() => rmSync(folder, { recursive: true }));

function rows(name: string, all: readonly unknown[]): string {
  const path = join(folder, name);
  writeFileSync(path, all.map((row) => JSON.stringify(row)).join("\n"));
  return path;
}
const puzzle = (question: string, answer: string) => ({
  task: "object_counting",
  game_data: { question, answer, difficulty: 1, metadata: {} },
});

test("a gold answer is accepted in one of its forms or rejected in all; rejected rows can be dropped", async () => {
  const path = rows("puzzles.jsonl", [
    puzzle("Three and four?", "7"),
    puzzle("No number at all?", "many"),
    puzzle("No answer?", ""),
    { task: "object_counting" },
    { task: "dyck_language", game_data: { question: "q", answer: "" } },
    puzzle("Three and four?", "7"),
  ]);
  const spec = { kind: "i3-logic", path } as const;
  const found = await checkDataset("logic", spec, { workers: 1 });
  expect(found.gold!.accepted).toBe(1);
  const refused = found.gold!.rejected.reduce((n, tally) => n + tally.rows, 0);
  const leftOut = found.report.leftOut.filter(({ reason }) => reason.startsWith("reference refused"));
  expect(refused + leftOut.reduce((n, tally) => n + tally.rows, 0)).toBeGreaterThanOrEqual(1);
  expect(found.drops.map(({ place }) => place)).toEqual(found.gold!.rejected.flatMap(({ first }) => first));
  expect(found.report.rows).toBe(6);
  const text = dataCheckText([found]);
  for (const part of [
    "logic: i3-logic: 6 rows",
    "1 accepted by the verifier",
    "1 bad",
    "task dyck_language",
    "1 duplicates",
  ]) {
    expect(text).toContain(part);
  }

  const drops = join(folder, "drops.json");
  writeDrops(drops, [found]);
  expect(JSON.parse(readFileSync(drops, "utf8"))).toEqual(found.drops);
  const again = await checkDataset("logic", { ...spec, drops }, { workers: 1 });
  expect(again.gold!.rejected).toEqual([]);
});

test("lengths are of the questions, in characters", async () => {
  const questions = ["a", "bb", "ccc😀", "d".repeat(50)];
  const path = rows(
    "lengths.jsonl",
    questions.map((value) => [{ value }, { ground_truth: { value: "1" } }]),
  );
  const spec = { kind: "open-reasoner-zero", path, template: "{task}" } as const;
  const { characters, gold } = await checkDataset("math", spec, { gold: false });
  expect(characters).toEqual({ shortest: 1, p50: 2, p90: 50, p99: 50, longest: 50 });
  expect(gold).toBeUndefined();
});

test("a boxed gold answer of mathematics is judged by the verifier of mathematics", async () => {
  const path = rows("math.jsonl", [
    [{ value: "One half?" }, { ground_truth: { value: "\\frac12" } }],
    [{ value: "Nothing?" }, { ground_truth: { value: "{" } }],
  ]);
  const found = await checkDataset("math", { kind: "open-reasoner-zero", path }, { workers: 1 });
  expect(found.gold!.accepted + found.drops.length + found.report.leftOut.length).toBe(2);
  expect(found.gold!.accepted).toBeGreaterThanOrEqual(1);
});

test("the data sets of a recipe are its sources that are no made-up ones", async () => {
  const domains = {
    math: { weight: 1, source: "orz:a.json" },
    logic: { weight: 1, source: "procedural/logic" },
    code: { weight: 1, source: { kind: "taco" as const, path: "b" } },
  };
  expect([...(await datasetsOf(smallRecipe({}, { domains })))]).toEqual([
    ["math", { kind: "open-reasoner-zero", path: "a.json" }],
    ["code", { kind: "taco", path: "b" }],
  ]);
});
