import { describe, expect, test } from "vitest";
import { Undefined } from "../../../lib/domains/math/rational.ts";
import * as s from "../../../lib/domains/math/syntax.ts";
import { expression, show, value } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: fingerprints of sums and products are not sorted, decimals are
// like integers, bound variables are free, bare denominators are not symbols, substitution enters the body of a sum
// over the same variable, scalars stand beside a matrix.

test("sums and products flatten, one alone is itself, order does not matter to sameness", () => {
  expect(show(s.sum([s.sum([s.whole(1), s.symbol("x")]), s.whole(2)]))).toBe("(+ 1 x 2)");
  expect(s.sum([s.whole(1)])).toEqual(s.whole(1));
  expect(s.product([s.symbol("x")])).toEqual(s.symbol("x"));
  expect(s.sameExpr(expression("a+2b"), expression("2b+a"))).toBe(true);
  expect(s.sameExpr(expression("ab^2"), expression("b^2a"))).toBe(true);
  expect(s.sameExpr(expression("a-b"), expression("b-a"))).toBe(false);
  expect(s.sameExpr(expression("1"), expression("1.0"))).toBe(false);
});

test("quotients of integers are numbers, by zero undefined", () => {
  expect(show(s.quotient(s.whole(6), s.whole(-4)))).toBe("-3/2");
  expect(() => s.quotient(s.whole(1), s.whole(0))).toThrow(Undefined);
});

test("matrices add entry by entry and scale", () => {
  const m = expression("\\begin{pmatrix}1&2\\end{pmatrix}");
  expect(show(s.sum([m, m]))).toBe("[(+ 1 1), (+ 2 2)]");
  expect(show(s.product([s.symbol("k"), m]))).toBe("[(* k 1), (* k 2)]");
});

test("free symbols are those no sum binds", () => {
  expect([...s.freeSymbols(expression("\\sum_{k=1}^{n} k x"))].sort()).toEqual(["n", "x"]);
});

test("substitution stops at a rebinding", () => {
  const e = expression("k+\\sum_{k=1}^{k} k");
  expect(show(s.substitute(e, "k", s.whole(3)))).toBe("(+ 3 sum(k: 1, 3, k))");
});

describe("only symbols", () => {
  test.each([
    ["x", true],
    ["xy", true],
    ["f(x)", true],
    ["\\frac{n}{2}", true],
    ["\\lceil\\frac{k}{2}\\rceil", true],
    ["-n", false],
    ["2x", false],
    ["\\frac{1}{x}", false],
    ["x+1", false],
    ["\\pi", false],
    ["5", false],
    ["c=n", true],
    ["c=1", false],
  ])("%s: %s", (text, expected) => expect(s.onlySymbols(value(text))).toBe(expected));
});
