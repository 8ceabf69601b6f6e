import { describe, expect, test } from "vitest";
import { Budget } from "../../../lib/domains/math/budget.ts";
import { matches } from "../../../lib/domains/math/compare.ts";
import { setsMatch } from "../../../lib/domains/math/sets.ts";
import { value } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: tuples match in any order, repeats are counted, the openness
// of both ends or of right ends is ignored, empty intervals are kept, closed intervals are pairs, lists may have any
// length.

const same = (gold: string, answer: string) =>
  setsMatch(value(gold), value(answer), { budget: new Budget(1e9), strict: true }, matches);

describe("sets are the same", () => {
  test.each([
    ["1,2,3", "3,1,2"],
    ["1,1,2", "2,1"],
    ["\\{1,2\\}", "(2,1)"],
    ["1,2", "(1,2)"],
    ["(1,2)", "1,2"],
    ["(1,2)", "\\{1,2\\}"],
    ["(2,1)", "(2,1)"],
    ["[2,1]", "(2,1)"],
    ["(0.5,\\infty)", "(\\frac{1}{2},\\infty)"],
    ["(1,2),(3,4)", "(3,4),(1,2)"],
    ["(a,b,c)", "(a,b,c)"],
    ["5", "\\{5,5\\}"],
    ["\\mathbb{Z}", "\\mathbb{Z}"],
    ["\\emptyset", "\\{\\}"],
    ["\\mathbb{R}", "(-\\infty,\\infty)"],
    ["(-\\infty,3)\\cup(5,\\infty)", "(5,\\infty)\\cup(-\\infty,3)"],
    ["A\\cup B", "B\\cup A"],
    ["(a,b)\\cup(c,d)", "(c,d)\\cup(a,b)"],
    ["A\\cap\\mathbb{Z}", "A\\cap\\mathbb{Z}"],
  ])("%s and %s", (a, b) => expect(same(a, b)).toBe(true));
});

describe("sets differ", () => {
  test.each([
    ["(1,2)", "(2,1)"],
    ["(1,2)", "2,1"],
    ["[1,2]", "(1,2)"],
    ["[1,2]", "[1,2)"],
    ["[1,2]", "1,2"],
    ["1,2", "1,2,3"],
    ["1,2,3", "1,2"],
    ["(1,2,3)", "\\{(1,2,3)\\}"],
    ["5", "(5,6)"],
    ["\\mathbb{Z}", "\\mathbb{R}"],
    ["(1,2)\\cup(3,4)", "(1,4)"],
    ["A\\cap B", "A\\cup B"],
    ["\\pm 3", "3,4"],
  ])("%s and %s", (a, b) => expect(same(a, b)).toBe(false));
});

test("lists longer than two hundred are not compared", () => {
  const list = (n: number) => Array.from({ length: n }, (_, i) => i);
  const reversed = (n: number) => same(list(n).join(","), list(n).reverse().join(","));
  expect([reversed(200), reversed(201)]).toEqual([true, false]);
});
