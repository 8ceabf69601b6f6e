import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Budget } from "../../../lib/domains/math/budget.ts";
import { realIntervals } from "../../../lib/domains/math/real-set.ts";
import type { Interval, Value } from "../../../lib/domains/math/syntax.ts";
import { show, value } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: touching open ends are joined, the complement keeps the
// closedness of ends, points are dropped, right ends are compared as left ends.

const worked = (text: string) => realIntervals(value(text), new Budget(1e9))?.map(show).join(" ");

describe("sets of reals are worked out", () => {
  test.each([
    ["(1,2)\\cup(2,3)", "(1, 2) (2, 3)"],
    ["(1,2]\\cup(2,3)", "(1, 3)"],
    ["[2,3]\\cup[0,1]", "[0, 1] [2, 3]"],
    ["[0,1)\\cup\\{1\\}", "[0, 1]"],
    ["[1,3]\\cap(2,4)", "(2, 3]"],
    ["(1,2)\\cap(3,4)", ""],
    ["\\mathbb{R}\\setminus\\{1,0\\}", "((* -1 infinity), 0) (0, 1) (1, infinity)"],
    ["\\mathbb{R}\\setminus(0,1]", "((* -1 infinity), 0] (1, infinity)"],
    ["[0,\\pi]\\setminus\\{\\frac{\\pi}{2}\\}", "[0, (* pi (^ 2 -1))) ((* pi (^ 2 -1)), pi]"],
    ["(-\\infty,0)\\cup[0,\\infty)", "((* -1 infinity), infinity)"],
    ["\\emptyset\\cup(1,2)", "(1, 2)"],
    ["[1,2]\\cup[1,2)", "[1, 2]"],
  ])("%s", (text, expected) => expect(worked(text)).toBe(expected));

  test.each(["(a,b)\\cup(1,2)", "\\mathbb{Z}\\cup(1,2)", "A\\cup B", "(1,2)\\cup\\{i\\}"])(
    "%s is not",
    (text) => expect(worked(text)).toBeUndefined(),
  );
});

/** The definition of membership, for small integers and half-integers. */
function holds(v: Value, at: number): boolean {
  if (v.kind === "interval") {
    const number = (side: Interval["left"]) => (side.kind === "number" ? Number(side.value.n) : Number.NaN);
    const [l, r] = [number(v.left), number(v.right)];
    return (v.leftOpen ? at > l : at >= l) && (v.rightOpen ? at < r : at <= r);
  }
  if (v.kind === "set") return v.items.some((item) => item.kind === "number" && Number(item.value.n) === at);
  if (v.kind === "union") return holds(v.left, at) || holds(v.right, at);
  if (v.kind === "intersection") return holds(v.left, at) && holds(v.right, at);
  if (v.kind === "difference") return holds(v.left, at) && !holds(v.right, at);
  throw new Error(v.kind);
}

test("membership is what the operations say, at every end and between", () => {
  const leaf = fc
    .tuple(
      fc.constantFrom("(", "["),
      fc.integer({ min: 0, max: 7 }),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(")", "]"),
    )
    .map(([open, left, length, close]) => `${open}${left},${left + length}${close}`);
  const point = fc.integer({ min: 0, max: 9 }).map((n) => `\\{${n},${n + 2}\\}`);
  const operator = fc.constantFrom("\\cup", "\\cap", "\\setminus");
  const set = fc.tuple(fc.oneof(leaf, point), operator, fc.oneof(leaf, point), operator, leaf);
  fc.assert(
    fc.property(set, (parts) => {
      const v = value(parts.join(" "));
      const pieces = realIntervals(v, new Budget(1e9))!;
      for (let at = -1; at <= 12; at += 0.5) {
        expect([at, pieces.some((piece) => holds(piece, at))]).toEqual([at, holds(v, at)]);
      }
    }),
  );
});
