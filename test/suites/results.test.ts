import { expect, test } from "vitest";
import { evaluateSuites } from "../../lib/suites/evaluate.ts";
import { readRecord } from "../../lib/suites/record.ts";
import { readResults, resultsOf } from "../../lib/suites/results.ts";
import { judgeHere, right, said, scratchFolder, scripted, sums } from "./scripted.ts";

test("an unfinished folder says what it has and what is missing", async () => {
  const dir = scratchFolder();
  const half = scripted((problem, seed) => (seed === 1 ? right(problem) : { outage: "down" }));
  const plan = { dir, model: "m", seeds: [1, 2], verifiers: judgeHere };
  const told = await evaluateSuites(half, [sums(3)], plan);
  const read = readResults(dir);
  expect(read).toEqual({ ...told, outages: {} });
  expect(read.suites[0]).toMatchObject({ answers: 3, absent: 3, accuracy: 1, deviation: undefined });
});

test("an answer is missing where the verifier says so, or the suite finds none in what is not right", async () => {
  const dir = scratchFolder();
  const texts = ["no box", "\\boxed{2}", "\\boxed{}"];
  const answerer = scripted(({ question }) => said(texts[Number(/\d/.exec(question)![0])]!));
  const { suites } = await evaluateSuites(answerer, [sums(3)], {
    dir,
    model: "m",
    seeds: [1],
    verifiers: judgeHere,
  });
  expect(suites[0]).toMatchObject({ missing: 2 / 3, accuracy: 1 / 3 });
});

test("levels and subjects are those of the problems", async () => {
  const dir = scratchFolder();
  const answerer = scripted((problem) => (problem.family === "even" ? right(problem) : said("\\boxed{1}")));
  const { suites } = await evaluateSuites(answerer, [sums(6)], {
    dir,
    model: "m",
    seeds: [1],
    verifiers: judgeHere,
  });
  const [{ subjects, levels }] = suites as [(typeof suites)[0]];
  expect([subjects["even"]!.accuracy, subjects["odd"]!.accuracy]).toEqual([1, 0]);
  expect(Object.keys(levels)).toEqual(["easy", "middle", "hard"]);
  expect(resultsOf(readRecord(dir), { model: "m" }).suites).toEqual(suites);
});
