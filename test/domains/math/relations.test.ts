import { describe, expect, test } from "vitest";
import { Budget } from "../../../lib/domains/math/budget.ts";
import { matches } from "../../../lib/domains/math/compare.ts";
import { relationAsSet, relationsMatch } from "../../../lib/domains/math/relations.ts";
import type { Relation } from "../../../lib/domains/math/syntax.ts";
import { show, value } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: negative factors keep the direction of an inequality, "<"
// bounds from below, strict inequalities have closed ends, chains may differ in length.

const same = (gold: string, answer: string, strict = true) =>
  relationsMatch(
    value(gold) as Relation,
    value(answer) as Relation,
    { budget: new Budget(), strict },
    matches,
  );

describe("relations are the same", () => {
  test.each([
    ["x>3", "3<x"],
    ["x^2+1=0", "x^2=-1"],
    ["y=2x", "2x=y"],
    ["y=x+1", "x-y+1=0"],
    ["\\frac{x}{2}+\\frac{y}{3}=1", "3x+2y=6"],
    ["2x<4", "-x>-2"],
    ["k\\neq 2", "2\\neq k"],
    ["x=0.333333", "x=\\frac{1}{3}"],
    ["1<x<2", "1<x<2"],
    ["(x,y)=(1,2)", "(x,y)=(1,2)"],
    ["\\sin 2x=1", "2\\sin x\\cos x=1"],
  ])("%s and %s", (a, b) => expect(same(a, b)).toBe(true));
});

describe("relations differ", () => {
  test.each([
    ["x>3", "x<3"],
    ["x>3", "x\\ge 3"],
    ["x>3", "-x>-3"],
    ["x=5", "y=5"],
    ["y=2x", "y=-2x"],
    ["1<x<2", "1<x<3"],
    ["1<x<2", "x<2"],
    ["x<2", "x<2<3"],
    ["x=1", "x^2=1"],
    ["p=q", "-p=q"],
  ])("%s and %s", (a, b) => expect(same(a, b)).toBe(false));
});

test("a chain written backwards is the same in strict only", () => {
  expect([same("1<x<2", "2>x>1"), same("1<x<2", "2>x>1", false)]).toEqual([true, false]);
});

test.each([
  ["1<x<2", "(1, 2)"],
  ["2\\ge x>1", "(1, 2]"],
  ["x\\ge 3", "[3, infinity)"],
  ["3>x", "((* -1 infinity), 3)"],
  ["x\\neq 2", "(union ((* -1 infinity), 2) (2, infinity))"],
  ["x<y", undefined],
  ["1<x<y", undefined],
  ["x<1<2", undefined],
  ["x^2<4", undefined],
  ["x=2", undefined],
])("%s describes %s", (text, expected) => {
  const set = relationAsSet(value(text) as Relation, false);
  expect(set && show(set)).toBe(expected);
});

test("f(x) is a name where the reference knows only symbols", () => {
  const relation = value("0<f(x)<1") as Relation;
  expect([relationAsSet(relation, false), show(relationAsSet(relation, true)!)]).toEqual([
    undefined,
    "(0, 1)",
  ]);
  expect(relationAsSet(value("0<|x|<1") as Relation, true)).toBeUndefined();
});
