import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readAnswers, writeAnswers } from "../../lib/evaluation/index.ts";
import { resultOf } from "./results.ts";

let path: string;
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), "hone-answers-")), "a.jsonl");
});
afterEach(() => rmSync(join(path, ".."), { recursive: true, force: true }));

test("a line a problem, read as it was written", () => {
  writeAnswers(path, [resultOf(5, "math", [1, 0.5], [10, 90]), resultOf(6, "code", [0], [7])]);
  expect(readFileSync(path, "utf8").split("\n")).toHaveLength(3);
  expect(readAnswers(path)).toEqual([
    {
      id: "5",
      domain: "math",
      level: 1,
      scores: [1, 0.5],
      correct: [true, false],
      tokens: [10, 90],
      truncated: [false, true],
    },
    { id: "6", domain: "code", level: 0, scores: [0], correct: [false], tokens: [7], truncated: [false] },
  ]);
});

test.each([["{"], ['{"id":5}'], ["null"]])("a damaged line is named: %s", (line) => {
  writeAnswers(path, [resultOf(5, "math", [1], [10])]);
  writeFileSync(path, `${readFileSync(path, "utf8")}${line}\n`);
  expect(() => readAnswers(path)).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_FORMAT",
      message: expect.stringContaining(`${path}:2: not the answers`),
    }),
  );
});
