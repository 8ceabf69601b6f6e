import { expect, test } from "vitest";
import { drawKey, EvaluationRecord } from "../../lib/suites/record.ts";
import { problemKey } from "../../lib/suites/suite.ts";
import { Wanted } from "../../lib/suites/wanted.ts";
import { sums } from "./scripted.ts";

const suite = sums(3);
const keyOf = (i: number) => problemKey(suite.problem(i));

test("every seed and attempt of every problem, less what is there and what cannot be asked", () => {
  const wanted = new Wanted([suite, sums(2, { name: "few" })], { seeds: [1, 2], attempts: 2, limit: 2 });
  expect([...wanted.problems()]).toHaveLength(4);
  expect(wanted.completions).toBe(8); // both suites share the problems of "few"
  wanted.refuse(new Map([[0, "too long"]]));
  expect(wanted.completions).toBe(8); // the suite "few" still asks this problem
  wanted.refuse(new Map([0, 2].map((place) => [place, "too long"])));
  expect(wanted.completions).toBe(4);
  const record = new EvaluationRecord();
  record.draws.set(drawKey(keyOf(1), 1, 2), "x");
  const missing = [...wanted.missing(record)].map(({ suite: { name }, draws }) => [
    name,
    draws.problem.question,
    draws.attempt,
    draws.seeds,
  ]);
  expect(missing).toEqual([
    ["sums", "What is 1 + 1?", 0, [1, 2]],
    ["sums", "What is 1 + 1?", 1, [1]],
  ]);
});

test("a record is told what it does not know", () => {
  const wanted = new Wanted([suite], { seeds: [7] });
  wanted.refuse(new Map([[2, "too long"]]));
  const record = new EvaluationRecord();
  const lines = [...wanted.lines(record, suite)];
  expect(lines.map((line) => Object.keys(line)[0])).toEqual(["problem", "problem", "suite"]);
  expect(lines[2]).toMatchObject({
    suite: "sums",
    problems: [keyOf(0), keyOf(1)],
    unasked: { "too long": 1 },
    seeds: [7],
    attempts: 1,
    tellsAnswers: true,
  });
  for (const line of lines) record.take(line);
  expect([...wanted.lines(record, suite)]).toEqual([]);
});
