import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MemberLog } from "../../lib/suites/member-log.ts";
import {
  drawKey,
  EvaluationLog,
  expectManifest,
  isEvaluation,
  linesOfDraws,
  readManifest,
  readRecord,
} from "../../lib/suites/record.ts";
import { problemKey } from "../../lib/suites/suite.ts";
import { said, scratchFolder, sums } from "./scripted.ts";

const suite = sums(2);
const problem = suite.problem(1);
const key = problemKey(problem);

test("a text that several draws gave is there once", () => {
  const dir = scratchFolder();
  {
    using log = new EvaluationLog(dir);
    log.add([{ problem: key, as: problem }]);
    const draw = (seed: number, finish: "eos" | "length" = "eos") => {
      const answer = { ...said("\\boxed{2}"), finish };
      return { suite, problem, attempt: 0, seed, answer };
    };
    const together = linesOfDraws(log.record, [draw(1), draw(2)]);
    expect(together.keys[0]).toBe(together.keys[1]);
    expect(together.lines).toHaveLength(3);
    log.add(together.lines);
    const { lines } = linesOfDraws(log.record, [draw(3)]);
    expect(lines).toHaveLength(1);
    log.add(lines);
    log.add(linesOfDraws(log.record, [draw(4, "length")]).lines); // a truncated completion counts as a different one
  }
  const record = readRecord(dir);
  expect(record.completions.size).toBe(2);
  expect([...record.draws.keys()]).toEqual([1, 2, 3, 4].map((seed) => drawKey(key, 0, seed)));
  expect([...record.completions.values()][0]).toMatchObject({
    problem: key,
    answer: "2",
    tokens: 9,
    verdict: undefined,
  });
  expect(record.problems.get(key)).toEqual({ family: "odd", level: 1, verifier: "math" });
});

test("later verdicts replace earlier ones, texts are told line by line", () => {
  const dir = scratchFolder();
  using log = new EvaluationLog(dir);
  const { keys, lines } = linesOfDraws(log.record, [
    { suite, problem, attempt: 0, seed: 1, answer: said("x") },
  ]);
  const on = keys[0]!;
  log.add(lines);
  log.add([{ verdict: { status: "unscored", cause: "down" }, on, version: 1 }]);
  log.add([{ verdict: { status: "wrong", score: 0, reason: "no" }, on, version: 1 }]);
  const texts: string[] = [];
  const record = readRecord(dir, (line) => {
    if ("completion" in line) texts.push(line.text);
  });
  expect(record.completions.get(on)).toMatchObject({ verdict: { status: "wrong" }, version: 1 });
  expect(texts).toEqual(["x"]);
});

test("lines that are none of a record's are an error", () => {
  for (const line of ['{"verdict":{},"on":"nobody","version":1}', "[]", "{}", "no JSON"]) {
    const dir = scratchFolder();
    {
      using log = new MemberLog(join(dir, "completions.jsonl.gz"));
      log.append([line]);
    }
    const format = expect.objectContaining({ code: "HONE_ERR_FORMAT" }) as Error;
    expect(() => readRecord(dir), line).toThrow(format);
    expect(() => new EvaluationLog(dir), line).toThrow(format);
  }
});

test("a folder is of one model and one way of sampling", () => {
  const dir = join(scratchFolder(), "e");
  expect(isEvaluation(dir)).toBe(false);
  const identity = { weights: "w", temperature: 0.6 };
  expectManifest(dir, "m", identity);
  expectManifest(dir, "renamed", identity);
  expect(readManifest(dir)).toEqual({ schema: 1, model: "m", identity });
  expect(isEvaluation(dir)).toBe(true);
  expect(() => expectManifest(dir, "m", { ...identity, temperature: 1 })).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_USAGE",
      message: `${dir} has completions with other settings: temperature is 1, in the folder 0.6`,
    }) as Error,
  );
  expect(readFileSync(join(dir, "evaluation.json"), "utf8")).toContain('"m"');
});
