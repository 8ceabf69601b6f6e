import { expect, test } from "vitest";
import { evaluateSuites } from "../../lib/suites/evaluate.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { judgeHere, right, said, scratchFolder, scripted, sums } from "../suites/scripted.ts";

test("hone data useful says which share of groups teaches something, and what it estimated", async () => {
  const dir = scratchFolder();
  // Answers eight problems twice each: problems 0 to 3 always wrong, 4 and 5 right once, 6 and 7 always right.
  const answerer = scripted((problem, seed) => {
    const n = Number(/\d+/.exec(problem.question)![0]);
    return n >= 6 || (n >= 4 && seed === 0) ? right(problem) : said("\\boxed{-1}");
  });
  await evaluateSuites(answerer, [sums(8)], { dir, model: "m", seeds: [0, 1], verifiers: judgeHere });
  const pairs = await honeHere(["data", "useful", dir, "--group", "2"]);
  expect(pairs.stdout).toMatch(/^sums +8 +2 +50\.0 % +25\.0 % +25\.0 %$/m);
  expect(pairs.stdout).not.toContain("estimated");
  // Under a uniform prior 1 - E[s^4] - E[(1 - s)^4] is 5/7 after one right answer of two, 19/35 after none or two.
  const fours = await honeHere(["data", "useful", dir, "--group", "4"]);
  expect(fours.stdout).toMatch(/^sums .* 58\.6 %$/m);
  expect(fours.stdout).toContain("8 problems have fewer than 4 answers");
  const refused = await honeHere(["data", "useful", dir, "--group", "1"]);
  expect(refused.status).toBe(2);
  const other = scratchFolder();
  await evaluateSuites(answerer, [sums(8)], { dir: other, model: "n", seeds: [0], verifiers: judgeHere });
  const pooled = await honeHere(["data", "useful", `both=${dir},${other}`]);
  expect([pooled.status, pooled.stderr]).toEqual([2, expect.stringContaining("names 2 evaluations")]);
});
