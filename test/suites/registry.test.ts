// Reads, asks and judges every published suite with ten rows made here in its published format: from parquet if it is
// published so, and always from JSONL. The right answers must count as right, and a model with random weights must
// complete.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { type DatasetSpec, filterDataset } from "../../lib/domains/index.ts";
import type { Problem } from "../../lib/records.ts";
import { EngineAnswerer } from "../../lib/suites/engine-answerer.ts";
import { evaluateSuites } from "../../lib/suites/evaluate.ts";
import { openSuite } from "../../lib/suites/open-suite.ts";
import { SUITES } from "../../lib/suites/registry.ts";
import type { Suite } from "../../lib/suites/suite.ts";
import { tinyConfig, tinyModel } from "../fixtures/model-folder.ts";
import * as rows from "../fixtures/suites/rows.mjs";
import { judgeHere, said, scratchFolder, scripted } from "./scripted.ts";

const FIXTURES = resolve(import.meta.dirname, "../fixtures/suites");
const csv = (all: readonly Readonly<Record<string, unknown>>[]): string =>
  [Object.keys(all[0]!), ...all.map(Object.values)]
    .map((cells) => cells.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(","))
    .join("\r\n");
const lines = (all: readonly unknown[]): string => all.map((row) => JSON.stringify(row)).join("\n");

/** The files of suites that are not published as parquet. */
const FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "gpqa-diamond": { "gpqa_diamond.csv": csv(rows.gpqaDiamond) },
  livecodebench: { "test5.jsonl": lines(rows.livecodebench) },
  math500: { "test.jsonl": lines(rows.math500) },
  ifeval: { "ifeval_input_data.jsonl": lines(rows.ifeval) },
  "bfcl-v4": {
    "BFCL_v4_simple_python.json": lines(rows.bfclV4),
    "possible_answer/BFCL_v4_simple_python.json": lines(rows.bfclV4Answers),
  },
};
const PARQUET = {
  aime25: rows.aime25,
  "mmlu-pro": rows.mmluPro,
  humaneval: rows.humaneval,
  mbpp: rows.mbpp,
  gsm8k: rows.gsm8k,
  ifbench: rows.ifbench,
};

/** A folder with every set. @param asRows writes sets published as parquet as JSONL too */
function published(asRows: boolean): string {
  const data = scratchFolder();
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(data, path)), { recursive: true });
    writeFileSync(join(data, path), text);
  };
  for (const [suite, files] of Object.entries(FILES))
    for (const [name, text] of Object.entries(files)) write(`${suite}/${name}`, text);
  if (asRows) for (const [suite, all] of Object.entries(PARQUET)) write(`${suite}/test.jsonl`, lines(all));
  return data;
}

const open = (name: string, data: string): Promise<Suite> =>
  openSuite(name in FILES ? name : `${name}=${join(FIXTURES, name)}`, { data });
const problemsOf = (suite: Suite): Problem[] =>
  Array.from({ length: suite.count }, (_, i) => suite.problem(i));

test("each has its rows here, and none is forgotten", () => {
  expect(Object.keys(SUITES).sort()).toEqual([...Object.keys(FILES), ...Object.keys(PARQUET)].sort());
});

describe.each(Object.keys(SUITES))("%s", (name) => {
  test("is read from its published shape, and as JSONL the same", async () => {
    const [as, also] = [await open(name, published(false)), await openSuite(name, { data: published(true) })];
    expect(as.report!.bad).toEqual([]);
    expect([as.count, as.report!.rows]).toEqual([10, 10]);
    expect(
      problemsOf(as)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(
      problemsOf(also)
        .map(({ id }) => id)
        .sort(),
    );
    for (const { question } of problemsOf(as)) expect(question).not.toMatch(/undefined|\{task\}|\{tests\}/);
  });

  test("counts right answers as right, and others not", async () => {
    const suite = await open(name, published(false));
    const right = await rightAnswers(name, published(false));
    const answerer = scripted((problem, seed) =>
      said(
        seed === 1
          ? right(problem)
          : "I do not know, and would rather not say anything about that, which is a pity for all",
      ),
    );
    const plan = { dir: scratchFolder(), model: "m", seeds: [1, 2], verifiers: judgeHere };
    const { suites } = await evaluateSuites(answerer, [suite], plan);
    expect(suites[0]!.unscored).toEqual({});
    const [good, bad] = suites[0]!.seeds;
    expect(good).toEqual({ seed: 1, accuracy: 1 });
    expect(bad!.accuracy).toBeLessThan(1);
  });
});

/** Returns the row's own gold answer, or one written by hand for a set without gold answers. */
async function rightAnswers(name: string, data: string): Promise<(problem: Problem) => string> {
  const { dataset: kind, split } = SUITES[name]!;
  const path = name in FILES ? join(data, name) : join(FIXTURES, name);
  const golds = new Map<string, string>();
  for await (const row of filterDataset({ kind, path, ...(split && { split }) } as DatasetSpec).rows())
    golds.set(row.question, row.gold?.()[0] ?? "");
  return (problem) => {
    if (name === "livecodebench") return solution(problem.question);
    if (name === "ifeval") return "word ".repeat(12);
    if (name === "ifbench") return "Rimac";
    return golds.get(problem.question)!;
  };
}

function solution(question: string): string {
  const factor = /(\d+)(?: times)?/.exec(question.replace(/[\s\S]*?(?:times|print) (?=\d)/, ""))![1];
  const code = question.includes("Return")
    ? `class Solution:\n    def times(self, x: int) -> int:\n        return x * ${factor}`
    : `print(int(input()) * ${factor})`;
  return `\`\`\`python\n${code}\n\`\`\``;
}

test("random weights get through all of them, end to end", async () => {
  const model = await tinyModel(scratchFolder(), tinyConfig({ max_position_embeddings: 4096 }));
  const data = published(true);
  const suites = await Promise.all(Object.keys(SUITES).map((name) => openSuite(name, { data })));
  await using answerer = new EngineAnswerer(model, {
    temperature: 0.6,
    topP: 0.95,
    maxTokens: 12,
    maxRunning: 64,
  });
  const plan = { dir: scratchFolder(), model: "random", seeds: [42, 43], verifiers: judgeHere };
  const results = await evaluateSuites(answerer, suites, plan);
  expect(results.empty).toEqual([]);
  for (const suite of results.suites) {
    expect(suite, suite.suite).toMatchObject({
      problems: 10,
      answers: 20,
      absent: 0,
      unscored: {},
      unasked: {},
    });
    expect(suite.meanTokens).toBeLessThanOrEqual(12);
  }
});
