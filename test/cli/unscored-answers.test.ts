import { expect, test } from "vitest";
import { UnscoredAnswers } from "../../lib/cli/unscored-answers.ts";
import type { ProblemSource } from "../../lib/data/index.ts";
import type { Scoreboard } from "../../lib/evaluation/index.ts";
import type { Problem } from "../../lib/records.ts";

const problem = (id: number, domain: string) => ({ id, domain }) as unknown as Problem;

const policy = (domains: readonly string[], sets: readonly string[] = []) => ({
  sources: new Map(domains.map((name) => [name, {} as ProblemSource])),
  sets: new Map(sets.map((name) => [name, { source: {} as ProblemSource }])),
});

test("answers without a verdict are counted by domain, with the first cause", () => {
  const unscored = new UnscoredAnswers(policy(["math"]));
  unscored.note(problem(3, "math"), ["down", "still down"]);
  unscored.note(problem(4, "math"), ["gone"]);
  expect(unscored.told).toEqual([
    "warning: 3 held-out answer(s) of math got no verdict and are in no score; the first, to problem 3: down",
  ]);
});

const board = (domains: object, sets?: object) =>
  ({ domains, ...(sets && { sets }) }) as unknown as Scoreboard;

test("a row of a data set is named by file and line, of a validation set by its own", () => {
  const from = (file: string) => ({ placeOf: (id: number) => `${file}:${id}` }) as unknown as ProblemSource;
  const unscored = new UnscoredAnswers({
    sources: new Map([["math", from("a.jsonl")]]),
    sets: new Map([["aime", { source: from("b.jsonl") }]]),
  });
  unscored.note(problem(3, "math"), ["down"]);
  unscored.note(problem(4, "math"), ["down"], "aime");
  expect(unscored.told.map((line) => line.split("the first, to ")[1])).toEqual([
    "a.jsonl:3: down",
    "b.jsonl:4: down",
  ]);
});

test("a domain with answers and no verdict at all is an error; one that was asked nothing is not", () => {
  const unscored = new UnscoredAnswers(policy(["math", "logic"]));
  unscored.note(problem(3, "math"), ["down"]);
  expect(() => unscored.expectEach(board({ math: {} }))).not.toThrow();
  expect(() => unscored.expectEach(board({ logic: {} }))).toThrow(
    expect.objectContaining({ code: "HONE_ERR_VERIFIER", message: expect.stringContaining("of math") }),
  );
});

test("so is a validation set, whose answers are not those of its domain", () => {
  const unscored = new UnscoredAnswers(policy(["math"], ["aime"]));
  unscored.note(problem(3, "math"), ["down"], "aime");
  expect(unscored.told[0]).toMatch(/^warning: 1 held-out answer\(s\) of aime got no verdict/);
  expect(() => unscored.expectEach(board({}, { aime: {} }))).not.toThrow();
  expect(() => unscored.expectEach(board({ math: {} }))).toThrow(/no held-out answer of aime/);
});
