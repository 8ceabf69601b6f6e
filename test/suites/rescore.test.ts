import { expect, test } from "vitest";
import { evaluateSuites } from "../../lib/suites/evaluate.ts";
import { rescoreEvaluation } from "../../lib/suites/rescore.ts";
import { readResults } from "../../lib/suites/results.ts";
import { judgeHere, right, said, scratchFolder, scripted, sums } from "./scripted.ts";

async function evaluated() {
  const dir = scratchFolder();
  const answerer = scripted((problem, seed) => (seed === 1 ? right(problem) : said("\\boxed{-1}")));
  await evaluateSuites(answerer, [sums(3)], { dir, model: "m", seeds: [1, 2], verifiers: judgeHere });
  return dir;
}

const allWrong = {
  verify: async (requests: readonly unknown[]) =>
    requests.map(() => ({ status: "wrong", score: 0, reason: "strict today" }) as const),
};

test("what has a verdict of the present version is judged only where all is asked for, and the new one counts", async () => {
  const dir = await evaluated();
  expect(await rescoreEvaluation(dir, { verifiers: allWrong })).toEqual({
    completions: 6,
    judged: 0,
    changes: [],
  });
  const { judged, changes } = await rescoreEvaluation(dir, { verifiers: allWrong, all: true });
  expect([judged, changes.length]).toEqual([6, 3]);
  expect(changes[0]).toMatchObject({
    domain: "math",
    before: { status: "correct" },
    after: { status: "wrong" },
  });
  expect(readResults(dir).suites[0]!.accuracy).toBe(0);
  const back = await rescoreEvaluation(dir, { verifiers: judgeHere, all: true });
  expect(back.changes).toHaveLength(3);
  expect(readResults(dir).suites[0]!.accuracy).toBe(0.5);
});

test("another domain's completions are left alone", async () => {
  const dir = await evaluated();
  expect((await rescoreEvaluation(dir, { verifiers: allWrong, all: true, domain: "code" })).judged).toBe(0);
});

test("an episode keeps the verdict of its environment, which cannot be asked again", async () => {
  const dir = scratchFolder();
  const environment = { reset: () => 0, step: () => ({ done: true }) as const, score: () => 1 };
  const play = { environment, maxTurns: 2, timeoutMs: 60_000 };
  const played = { ...sums(1).problem(0), verifier: "environment:sums, 2 turns" };
  const verdict = { status: "correct", score: 1, reason: "won" } as const;
  const answerer = scripted(() => ({ ...said("cat"), verdict }), { plays: true });
  const suite = sums(1, { play, problem: () => played });
  await evaluateSuites(answerer, [suite], { dir, model: "m", seeds: [1], verifiers: judgeHere });
  const { judged } = await rescoreEvaluation(dir, { verifiers: allWrong, all: true });
  expect([judged, readResults(dir).suites[0]!.accuracy]).toEqual([0, 1]);
});
