import { expect, test } from "vitest";
import { FACTS } from "../../lib/domains/math/facts.ts";
import type { Verdict } from "../../lib/records.ts";
import type { VerificationRequest } from "../../lib/rewards/index.ts";
import { JudgingQueue } from "../../lib/suites/judging-queue.ts";
import { EvaluationLog, linesOfDraws } from "../../lib/suites/record.ts";
import { problemKey } from "../../lib/suites/suite.ts";
import { judgeHere, said, scratchFolder, sums } from "./scripted.ts";

const suite = sums(3);

/** A log with a completion of each problem, which an earlier session wrote but did not judge. */
function logWith(texts: readonly string[]) {
  const log = new EvaluationLog(scratchFolder());
  const keys = texts.map((text, i) => {
    const problem = suite.problem(i);
    log.add([{ problem: problemKey(problem), as: problem }]);
    const draw = { suite, problem, attempt: 0, seed: 1, answer: said(text) };
    const { keys, lines } = linesOfDraws(log.record, [draw]);
    log.add(lines);
    return keys[0]!;
  });
  return { log, keys };
}

function counting() {
  const sizes: number[] = [];
  const verify = (requests: readonly VerificationRequest[]): Promise<Verdict[]> => {
    sizes.push(requests.length);
    return judgeHere.verify(requests);
  };
  return { sizes, verify };
}

test("completions are judged together, and once", async () => {
  const { log, keys } = logWith(["\\boxed{0}", "\\boxed{3}"]);
  const pool = counting();
  const queue = new JudgingQueue(pool, log);
  for (const [i, key] of [...keys, ...keys].entries())
    queue.add(key, suite.problem(i % 2), { text: ["\\boxed{0}", "\\boxed{3}"][i % 2]!, finish: "eos" });
  expect(queue.waiting).toBe(2);
  await queue.drained();
  expect(pool.sizes).toEqual([2]);
  expect(keys.map((key) => log.record.completions.get(key)!.verdict!.status)).toEqual(["correct", "wrong"]);
  queue.add(keys[0]!, suite.problem(0), said("\\boxed{0}"));
  expect(queue.waiting).toBe(0);
  log[Symbol.dispose]();
});

test("verdicts are on the disk soon, though others are still to come", async () => {
  const { log, keys } = logWith(["\\boxed{0}", "\\boxed{2}"]);
  const [quick, never] = [judgeHere.verify, () => new Promise<Verdict[]>(() => {})];
  const verify = (requests: readonly VerificationRequest[]) =>
    requests[0]!.text === "\\boxed{0}" ? quick(requests) : never();
  const queue = new JudgingQueue({ verify }, log);
  const written = new Promise<void>((resolve) => {
    queue.onJudged = resolve;
  });
  const other = { ...suite.problem(1), verifier: "another" };
  queue.add(keys[0]!, suite.problem(0), said("\\boxed{0}"));
  queue.add(keys[1]!, other, said("\\boxed{2}"));
  await written;
  expect([...log.lines()].filter((line) => "verdict" in line)).toMatchObject([
    { on: keys[0], verdict: { status: "correct" } },
  ]);
  expect(queue.waiting).toBe(1);
  log[Symbol.dispose]();
});

test("what an earlier session left is judged, whatever its problem's place; an old version's verdict again", async () => {
  const { version } = FACTS.math;
  const { log, keys } = logWith(["\\boxed{0}", "\\boxed{2}", "\\boxed{9}"]);
  log.add([
    { verdict: { status: "correct", score: 1, reason: "then" }, on: keys[0]!, version },
    { verdict: { status: "unscored", cause: "down" }, on: keys[1]!, version },
    { verdict: { status: "correct", score: 1, reason: "then" }, on: keys[2]!, version: version - 1 },
  ]);
  const pool = counting();
  const queue = new JudgingQueue(pool, log);
  await queue.resume([suite]);
  await queue.drained();
  expect(pool.sizes).toEqual([2]);
  expect(keys.map((key) => log.record.completions.get(key)!.verdict!.status)).toEqual([
    "correct",
    "correct",
    "wrong",
  ]);
  log[Symbol.dispose]();
});

test("a verdict that is none is counted; what the pool throws is told", async () => {
  const { log, keys } = logWith(["\\boxed{0}"]);
  const outage = new JudgingQueue({ verify: async () => [{ status: "unscored", cause: "down" }] }, log);
  outage.add(keys[0]!, suite.problem(0), said("\\boxed{0}"));
  await outage.drained();
  expect(outage.unscored).toBe(1);
  const broken = new JudgingQueue({ verify: () => Promise.reject(new Error("no such verifier")) }, log);
  const told: unknown[] = [];
  broken.onFailure = (error) => told.push(error);
  broken.add(keys[0]!, suite.problem(0), said("\\boxed{0}"));
  await broken.drained();
  expect(told).toEqual([new Error("no such verifier")]);
  log[Symbol.dispose]();
});
