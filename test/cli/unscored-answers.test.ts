import { expect, test } from "vitest";
import { UnscoredAnswers } from "../../lib/cli/unscored-answers.ts";
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

test("a domain with answers and no verdict at all is an error; one that was asked nothing is not", () => {
  const unscored = new UnscoredAnswers();
  unscored.note(problem(3, "math"), ["down"]);
  expect(() => unscored.expectEach(["math", "logic"], ["math"])).not.toThrow();
  expect(() => unscored.expectEach(["math", "logic"], ["logic"])).toThrow(
    expect.objectContaining({ code: "HONE_ERR_VERIFIER", message: expect.stringContaining("of math") }),
  );
});
