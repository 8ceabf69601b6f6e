import { expect, test } from "vitest";
import { lackOf, resultsText, warningsOf } from "../../lib/cli/evaluation-tables.ts";
import { evaluateSuites } from "../../lib/suites/evaluate.ts";
import { judgeHere, right, said, scratchFolder, scripted, sums } from "../suites/scripted.ts";

const evaluated = async (knows: (n: number) => boolean, model: string) => {
  const dir = scratchFolder();
  const answerer = scripted((problem, seed) => {
    const n = Number(/\d+/.exec(problem.question)![0]);
    return knows(n + seed) ? right(problem) : said("a guess:\n\x1b[31m\\boxed{-1}");
  });
  const results = await evaluateSuites(answerer, [sums(8)], {
    dir,
    model,
    seeds: [0, 1],
    verifiers: judgeHere,
  });
  return { dir, results };
};

test("80 columns are enough, and every format has every number", async () => {
  const { results } = await evaluated((n) => n < 4, "old");
  const text = resultsText(results, ["subject", "level"], "text", 80);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(text).toContain("sums          8      43.8      8.8   12.5 to 75.0  50.0 @2  43.8 @2");
  expect(text).toContain("sums, by subject");
  expect(text).toMatch(/^easy +3 .*\nmiddle +3 .*\nhard +2 /m);
  expect(resultsText(results, [], "csv", 80).split("\n")[1]).toMatch(/^sums,8,43.8,8.8,/);
});

test("what is in no number is said", () => {
  const suite = { suite: "s", absent: 2, unscored: { down: 3 }, unasked: { long: 1 } };
  const none = { suite: "e", absent: 0, unscored: {}, unasked: { "in no token": 4 } };
  const results = { suites: [suite], empty: [none], outages: { gone: 2 } } as unknown as Parameters<
    typeof warningsOf
  >[0];
  expect(warningsOf(results)).toEqual([
    "1 problem(s) of s could not be prompted: long",
    "3 completion(s) of s got no verdict: down",
    "2 completion(s) of s are missing",
    "4 problem(s) of e could not be prompted: in no token",
    "e: no completion has a verdict",
    "2 request(s) got no answer: gone",
  ]);
  expect(lackOf(results, "evals/m")).toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: "the evaluation in evals/m is incomplete: answers or verdicts are missing",
  });
  const [whole, mute] = [
    { ...suite, absent: 0, unscored: {} },
    { ...results, suites: [] },
  ];
  expect(lackOf(mute, "evals/m")).toMatchObject({
    code: "HONE_ERR_DATA",
    message: "no problem of e fits this model",
  });
  expect(lackOf({ ...mute, empty: [whole] } as unknown as typeof results, "evals/m")?.code).toBe(
    "HONE_ERR_DATA",
  );
  expect(lackOf({ ...mute, empty: [] }, "evals/m")).toBeUndefined();
});
