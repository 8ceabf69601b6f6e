import { expect, test } from "vitest";
import { UnscoredAnswers } from "../../lib/cli/unscored-answers.ts";
import type { ProblemSource } from "../../lib/data/index.ts";
import type { Scoreboard } from "../../lib/evaluation/index.ts";
import type { Problem } from "../../lib/records.ts";

const problem = (id: number, domain: string) => ({ id, domain }) as unknown as Problem;

test("answers without a verdict are counted by domain, with the first cause", () => {
  const unscored = new UnscoredAnswers();
  unscored.note(problem(3, "math"), ["down", "still down"]);
  unscored.note(problem(4, "math"), ["gone"]);
  expect(unscored.told).toEqual([
    "warning: 3 held-out answer(s) of math got no verdict and are in no score; the first, to problem 3: down",
  ]);
});

const policy = (domains: readonly string[], sets: readonly string[] = []) => ({
  sources: new Map(domains.map((name) => [name, {} as ProblemSource])),
  sets: new Map(sets.map((name) => [name, { source: {} as ProblemSource }])),
});
const board = (domains: object, sets?: object) =>
  ({ domains, ...(sets && { sets }) }) as unknown as Scoreboard;

test("a domain with answers and no verdict at all is an error; one that was asked nothing is not", () => {
  const unscored = new UnscoredAnswers();
  unscored.note(problem(3, "math"), ["down"]);
  expect(() => unscored.expectEach(policy(["math", "logic"]), board({ math: {} }))).not.toThrow();
  expect(() => unscored.expectEach(policy(["math", "logic"]), board({ logic: {} }))).toThrow(
    expect.objectContaining({ code: "HONE_ERR_VERIFIER", message: expect.stringContaining("of math") }),
  );
});

test("so is a validation set, whose answers are not those of its domain", () => {
  const unscored = new UnscoredAnswers();
  unscored.note(problem(3, "math"), ["down"], "aime");
  expect(unscored.told[0]).toMatch(/^warning: 1 held-out answer\(s\) of aime got no verdict/);
  const asked = policy(["math"], ["aime"]);
  expect(() => unscored.expectEach(asked, board({}, { aime: {} }))).not.toThrow();
  expect(() => unscored.expectEach(asked, board({ math: {} }))).toThrow(/no held-out answer of aime/);
});
