// Deliberate faults (mutants) that these tests detect: an outage is kept as an answer; a completion counts before it
// is on disk; a completion that the folder already has is requested again.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Verdict } from "../../lib/records.ts";
import type { VerificationRequest } from "../../lib/rewards/index.ts";
import { type EvaluationPlan, type EvaluationProgress, evaluateSuites } from "../../lib/suites/evaluate.ts";
import { readRecord } from "../../lib/suites/record.ts";
import type { Suite } from "../../lib/suites/suite.ts";
import { judgeHere, right, said, scratchFolder, scripted, sums } from "./scripted.ts";

const planOf = (change: Partial<EvaluationPlan> = {}): EvaluationPlan => ({
  dir: scratchFolder(),
  model: "m",
  seeds: [1, 2],
  verifiers: judgeHere,
  ...change,
});

test("every problem is asked once a seed and attempt, and judged", async () => {
  const answerer = scripted((problem, seed) => (seed === 1 ? right(problem) : said("\\boxed{-1}")));
  const plan = planOf({ attempts: 2 });
  const { suites } = await evaluateSuites(answerer, [sums(5)], plan);
  expect(answerer.asked).toHaveLength(20);
  expect(new Set(answerer.asked).size).toBe(20);
  expect(suites[0]).toMatchObject({
    suite: "sums",
    problems: 5,
    answers: 20,
    accuracy: 0.5,
    absent: 0,
    unscored: {},
  });
  expect(suites[0]!.seeds).toEqual([
    { seed: 1, accuracy: 1 },
    { seed: 2, accuracy: 0 },
  ]);
  expect(JSON.parse(readFileSync(join(plan.dir, "results.json"), "utf8")).suites[0].accuracy).toBe(0.5);
});

test("an episode is kept with its verdict; nobody is asked for another, and one turn is no episode", async () => {
  const environment = { reset: () => 0, step: () => ({ done: true }) as const, score: () => 1 };
  const play = { environment, maxTurns: 2, timeoutMs: 60_000 };
  const first = sums(1).problem(0);
  const problem = () => ({ ...first, verifier: "environment:sums, 2 turns" });
  const suite = sums(1, { play, problem });
  const verdict = { status: "correct", score: 1, reason: "won" } as const;
  const judged: string[] = [];
  const refuse = {
    verify: async (requests: readonly VerificationRequest[]): Promise<Verdict[]> => {
      judged.push(...requests.map(({ text }) => text));
      return requests.map(() => ({ status: "wrong", score: 0, reason: "asked again" }));
    },
  };
  const answerer = scripted((_, seed) => ({ ...said(`cat_a_ map${seed}`), given: [3, 7], verdict }), {
    plays: true,
  });
  const plan = planOf({ verifiers: refuse });
  const { suites } = await evaluateSuites(answerer, [suite], plan);
  expect(suites[0]).toMatchObject({ answers: 2, accuracy: 1, unscored: {} });
  expect(judged).toEqual([]);
  const given: unknown[] = [];
  readRecord(plan.dir, (line) => "completion" in line && given.push(line.given));
  expect(given).toEqual([
    [3, 7],
    [3, 7],
  ]);
  const oneTurn = evaluateSuites(scripted(right), [suite], planOf());
  await expect(oneTurn).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

test("a folder goes on: with more seeds, with more problems, with another suite, and asks nothing twice", async () => {
  const plan = planOf({ limit: 3 });
  const first = scripted(right);
  await evaluateSuites(first, [sums(6)], plan);
  const second = scripted(right);
  const told: EvaluationProgress[] = [];
  const more = await evaluateSuites(second, [sums(6), sums(2, { name: "few" })], {
    ...plan,
    onProgress: (progress) => told.push(progress),
    limit: 4,
    seeds: [2, 3],
  });
  expect(first.asked).toHaveLength(6);
  // the problems of "few" are a part of those of "sums"
  expect(told.at(-1)).toMatchObject({ wanted: 8, there: 8 });
  // problems 0 to 2 with seed 3, problem 3 with both seeds; "few" needs no further completion
  expect(second.asked.sort()).toEqual(
    ["0 + 0 0 3", "1 + 1 0 3", "2 + 2 0 3", "3 + 3 0 2", "3 + 3 0 3"].map(
      (a) => `What is ${a.replace(/ 0 (\d)$/, "? 0 $1")}`,
    ),
  );
  expect(more.suites.map(({ suite, answers }) => [suite, answers])).toEqual([
    ["sums", 8],
    ["few", 4],
  ]);
});

test("a completion is on the disk before it is counted", async () => {
  const plan = planOf();
  const seen: [EvaluationProgress, number][] = [];
  await evaluateSuites(scripted(right), [sums(8)], {
    ...plan,
    onProgress: (progress) => {
      const path = join(plan.dir, "completions.jsonl.gz");
      const there = existsSync(path) ? readRecord(plan.dir).draws.size : 0;
      seen.push([progress, there]);
    },
  });
  for (const [progress, there] of seen) expect(there).toBeGreaterThanOrEqual(progress.there);
  expect(seen.at(-1)![0]).toMatchObject({ wanted: 16, there: 16, waiting: 0, outages: 0 });
});

test("an outage is no answer: it is counted, in no number, and asked again at the next start", async () => {
  const plan = planOf({ seeds: [1] });
  let down = true;
  const answerer = scripted((problem) =>
    down && problem.question.includes("3") ? { outage: "down" } : right(problem),
  );
  const { suites, outages } = await evaluateSuites(answerer, [sums(4)], plan);
  expect(suites[0]).toMatchObject({ accuracy: 1, answers: 3, problems: 3, absent: 1 });
  expect(outages).toEqual({ down: 1 });
  down = false;
  const again = await evaluateSuites(answerer, [sums(4)], plan);
  expect(again.suites[0]).toMatchObject({ accuracy: 1, answers: 4, absent: 0 });
  expect(answerer.asked).toHaveLength(5);
});

/** A suite whose verifier throws until a file exists. */
function flaky(): Suite {
  const url = new URL("./flaky-verifier.mjs", import.meta.url).href;
  const suite = sums(3, { name: "flaky", modules: { flaky: url }, env: ["HONE_TEST_FLAKY"] });
  return { ...suite, problem: (index) => ({ ...suite.problem(index), verifier: "flaky" }) };
}

test("a verifier's outage is unscored, and judged at the next start without asking again", async () => {
  const plan = planOf({ seeds: [1], verifiers: undefined });
  const flag = join(scratchFolder(), "mended");
  process.env["HONE_TEST_FLAKY"] = flag;
  const answerer = scripted(right);
  const broken = await evaluateSuites(answerer, [flaky()], plan);
  expect(broken).toMatchObject({ suites: [], empty: [{ suite: "flaky" }] });
  const { writeFileSync } = await import("node:fs");
  writeFileSync(flag, "");
  const mended = await evaluateSuites(answerer, [flaky()], plan);
  expect(mended.suites[0]).toMatchObject({ accuracy: 1, answers: 3, unscored: {} });
  expect(answerer.asked).toHaveLength(3);
});

test("problems that cannot be asked are told with the reason and leave the others alone", async () => {
  const answerer = scripted(right, { prepare: async () => new Map([[1, "too long"]]) });
  const { suites } = await evaluateSuites(answerer, [sums(3)], planOf({ seeds: [1] }));
  expect(suites[0]).toMatchObject({ problems: 2, unasked: { "too long": 1 }, accuracy: 1 });
});

test("what the answerer throws ends it, and what came before is kept", async () => {
  const plan = planOf({ seeds: [1] });
  let asked = 0;
  const broken = scripted((problem) => {
    if (++asked > 2) throw new Error("the engine died");
    return right(problem);
  });
  await expect(evaluateSuites(broken, [sums(5)], plan)).rejects.toThrow("the engine died");
  expect(readRecord(plan.dir).draws.size).toBe(2);
});

test("an abort ends it with its reason, though an answer never comes", async () => {
  const controller = new AbortController();
  const never = scripted(() => new Promise(() => {}));
  const evaluation = evaluateSuites(never, [sums(2)], planOf({ signal: controller.signal }));
  setTimeout(() => controller.abort(new Error("enough")), 20);
  await expect(evaluation).rejects.toThrow("enough");
});

test("never more draws are in hand than the answerer wants", async () => {
  let [now, most] = [0, 0];
  const answerer = scripted(
    async (problem) => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return right(problem);
    },
    { width: 3 },
  );
  await evaluateSuites(answerer, [sums(20)], planOf({ seeds: [1] }));
  expect(most).toBe(3);
});

test("one process has a folder", async () => {
  const plan = planOf();
  const never = scripted(() => new Promise(() => {}));
  const controller = new AbortController();
  const first = evaluateSuites(never, [sums(1)], { ...plan, signal: controller.signal });
  first.catch(() => {});
  while (never.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await expect(evaluateSuites(scripted(right), [sums(1)], plan)).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: expect.stringContaining("belongs to an evaluation"),
  });
  controller.abort(new Error("enough"));
  await expect(first).rejects.toThrow("enough");
});
