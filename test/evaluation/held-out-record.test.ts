import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type HeldOutLine, HeldOutRecord, type JudgedAnswer } from "../../lib/evaluation/index.ts";
import type { Problem, Verdict } from "../../lib/records.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-held-out-"));
  path = join(dir, "held-out-completions.jsonl");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const problem = (id: number): Problem => ({
  id,
  domain: "math",
  family: "rows",
  level: 0,
  question: `${id} + 1?`,
  verifier: "math",
  reference: { answer: `${id + 1}` },
});
const RIGHT: Verdict = { status: "correct", score: 1, reason: "equal" };
const LOST: Verdict = { status: "unscored", cause: "worker lost" };
const answer = (attempt: number, text: string, verdict: Verdict = RIGHT): JudgedAnswer => ({
  attempt,
  text,
  finish: "eos",
  tokens: 3,
  verdict,
});
const lines = () =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as HeldOutLine);

test("a problem and a text are written once, however often they come; the last line says who answered what", () => {
  {
    using record = new HeldOutRecord(path);
    for (const step of [0, 5]) {
      const one = record.begin({ when: step === 0 ? "before" : "validation", step, version: step });
      one.note({ problem: problem(1) }, [answer(0, "same"), answer(1, "same", LOST)]);
      one.note({ problem: problem(2), set: "extra" }, [answer(0, `other ${step}`)]);
      one.end();
    }
  }
  const all = lines();
  expect(all.filter((line) => "problem" in line)).toHaveLength(2);
  const texts = all.flatMap((line) => ("text" in line ? [line.text] : []));
  expect(texts).toEqual(["same", "other 0", "other 5"]);
  const keys = new Map(all.flatMap((line) => ("text" in line ? [[line.text, line.completion]] : [])));
  const said = all.flatMap((line) => ("evaluation" in line ? [line] : []));
  expect(said.map(({ evaluation }) => [evaluation.when, evaluation.step])).toEqual([
    ["before", 0],
    ["validation", 5],
  ]);
  expect(said[1]!.answers.map(([, ...told]) => told)).toEqual([
    [keys.get("same"), 0, "correct", 1],
    [keys.get("same"), 1, "unscored"],
    [keys.get("other 5"), 0, "correct", 1],
  ]);
});

test("a run that goes on adds; one that begins anew does not keep another run's answers", () => {
  const write = (fresh: boolean) => {
    using record = new HeldOutRecord(path);
    const one = record.begin({ when: "before", step: 0, version: 0 }, { fresh });
    one.note({ problem: problem(1) }, [answer(0, "a")]);
    one.end();
  };
  write(false);
  write(false);
  expect(lines().filter((line) => "evaluation" in line)).toHaveLength(2);
  write(true);
  expect(lines().filter((line) => "evaluation" in line)).toHaveLength(1);
});

test("a folder that cannot be written is an error that names the file", () => {
  using record = new HeldOutRecord("/dev/null/held-out-completions.jsonl");
  expect(() => record.begin({ when: "before", step: 0, version: 0 })).toThrow(
    expect.objectContaining({ code: "HONE_ERR_IO", message: expect.stringContaining("/dev/null/held-out") }),
  );
});
