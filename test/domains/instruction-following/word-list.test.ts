import { expect, test } from "vitest";
import { wordList } from "../../../lib/domains/instruction-following/word-list.ts";
import { judgeOf } from "../../fixtures/judge.ts";

// Deliberate faults (mutants) that these tests detect: avoid and case skip the lexicon test (random letters are
// rewarded), count counts characters, end means "includes", the fraction covers all six kinds.

const lexicon = ["cat", "dog", "fox", "map", "sun"];
const judge = (constraints: object) => judgeOf(wordList, { constraints, lexicon });

test("all constraints met is correct", async () => {
  const constraints = { count: 4, include: "fox", start: "sun", end: "map", avoid: "cat", case: "uppercase" };
  expect(await judge(constraints)("SUN FOX DOG MAP")).toEqual({
    status: "correct",
    score: 1,
    reason: "all constraints met",
  });
});

test.each([
  [{ count: 3 }, "cat dog", 0, "breaks count"],
  [{ include: "fox" }, "foxes cat", 0, "breaks include"],
  [{ start: "fox" }, "cat fox", 0, "breaks start"],
  [{ end: "fox" }, "fox cat", 0, "breaks end"],
  [{ avoid: "fox" }, "cat FOX", 0, "breaks avoid"],
  [{ avoid: "fox" }, "cat zebra", 0, "breaks avoid"],
  [{ case: "uppercase" }, "CAT dog", 0, "breaks case"],
  [{ case: "lowercase" }, "123", 0, "breaks case"],
  [{ count: 2, end: "fox" }, "cat dog", 0.5, "breaks end"],
  [{ count: 2, start: "cat", end: "fox", avoid: "sun" }, "cat sun", 0.5, "breaks end, avoid"],
])("%j given %j scores %d: %s", async (constraints, answer, score, reason) => {
  const status = score > 0 ? "partial" : "wrong";
  expect(await judge(constraints)(answer)).toEqual({ status, score, reason });
});

test.each([
  { constraints: {}, lexicon },
  { constraints: { count: 0 }, lexicon },
  { constraints: { rhyme: "cat" }, lexicon },
  { constraints: { count: 1 }, lexicon: [] },
])("reference %j is refused", (reference) => {
  expect(() => wordList.parseReference(reference)).toThrow();
});
