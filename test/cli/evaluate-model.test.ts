import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { evaluate } from "../../lib/cli/evaluate-model.ts";
import { seedsOf } from "../../lib/cli/verbs/eval.ts";
import { tinyConfig, tinyModel } from "../fixtures/model-folder.ts";
import { scratchFolder } from "../suites/scripted.ts";

let model: string;
let rows: string;
beforeAll(async () => {
  const dir = scratchFolder();
  model = await tinyModel(dir, tinyConfig());
  rows = join(scratchFolder(), "rows.jsonl");
  writeFileSync(rows, '{"question":"1 + 1?","answer":"2"}\n{"question":"2 + 2?","answer":"4"}\n');
});

test("a folder, a file of rows and seeds: the same twice, to the byte", async () => {
  const texts = [];
  for (const batch of [1, 16]) {
    const out = scratchFolder();
    const { dir, results } = await evaluate({
      model,
      suites: [rows],
      seeds: [42, 43],
      maxTokens: 8,
      out,
      batch,
    });
    expect(dir).toBe(out);
    expect(results.suites[0]).toMatchObject({ suite: "rows.jsonl", problems: 2, answers: 4 });
    texts.push(readFileSync(join(out, "results.json"), "utf8"));
  }
  expect(texts[1]).toBe(texts[0]);
});

test("another sampling does not mix with what is there; two suites of one name are refused before anything runs", async () => {
  const out = join(scratchFolder(), "e");
  const asked = { model, suites: [rows], maxTokens: 4, out };
  await evaluate(asked);
  await expect(evaluate({ ...asked, temperature: 1 })).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
  const twice = join(scratchFolder(), "f");
  await expect(evaluate({ ...asked, suites: [rows, rows], out: twice })).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
  });
  expect(existsSync(twice)).toBe(false);
});

test("seeds as people write them", () => {
  expect([seedsOf("42"), seedsOf("42..45"), seedsOf("1,2,2,9..10")]).toEqual([
    [42],
    [42, 43, 44, 45],
    [1, 2, 9, 10],
  ]);
  for (const text of ["", "a", "3..1", "-1", "1.5", "0..99999999"])
    expect(() => seedsOf(text), text).toThrow();
});
