import { expect, test } from "vitest";
import { CounterRandom } from "../../lib/random.ts";
import { evaluateSuites } from "../../lib/suites/evaluate.ts";
import { summarizeModel } from "../../lib/suites/summary.ts";
import { judgeHere, right, said, scratchFolder, scripted, sums } from "./scripted.ts";

test("mean and spread are over all seed-level accuracies, not over folders", async () => {
  const random = new CounterRandom(7);
  const seeds = [0, 1, 2];
  const knows = Array.from({ length: 2 }, () =>
    seeds.map(() => Array.from({ length: 5 }, () => random.next() < 0.5)),
  );
  const dirs: string[] = [];
  for (const own of knows) {
    const dir = scratchFolder();
    const answerer = scripted((problem, seed) => {
      const n = Number(/\d+/.exec(problem.question)![0]);
      return { ...(own[seed]![n] ? right(problem) : said("\\boxed{-1}")), tokens: 100 * seed + n };
    });
    await evaluateSuites(answerer, [sums(5)], { dir, model: "m", seeds, verifiers: judgeHere });
    dirs.push(dir);
  }
  const accuracies = knows.flat().map((own) => own.filter(Boolean).length / 5);
  const mean = accuracies.reduce((sum, a) => sum + a, 0) / 6;
  const deviation = Math.sqrt(accuracies.reduce((sum, a) => sum + (a - mean) ** 2, 0) / 5);
  expect(deviation).toBeGreaterThan(0);
  const { name, folders, suites } = summarizeModel(`m=${dirs.join(",")}`);
  expect([name, folders, suites.length]).toEqual(["m", 2, 1]);
  expect(suites[0]).toMatchObject({ suite: "sums", problems: 5, seeds: 6, tokens: 102, partial: 0 });
  expect(suites[0]!.accuracy).toBeCloseTo(mean, 12);
  expect(suites[0]!.deviation).toBeCloseTo(deviation, 12);
});
