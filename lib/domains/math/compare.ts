import type { Comparison } from "./comparison.ts";
import { magnitude } from "./complex.ts";
import { decimalsMatch, isDecimal } from "./decimals.ts";
import { approximate, Evaluator, exactValue } from "./evaluate.ts";
import { identical } from "./identity.ts";
import { comparable } from "./quantity.ts";
import * as q from "./rational.ts";
import { relationAsSet, relationsMatch } from "./relations.ts";
import { setsMatch } from "./sets.ts";
import { type Expr, freeSymbols, isExpr, onlySymbols, type Relation, type Value } from "./syntax.ts";

/** Reference: decimals compare after rounding to this many places. */
const PLACES = 6;
/** Reference: constants that differ by less than 2^-49 are equal, whatever their size. */
const CHOPPED_BITS = 49;
const CHOPPING_BITS = 128;

/**
 * True if an answer equals the gold answer. Not symmetric: a gold relation accepts the set it describes, and a gold
 * tuple a set in the same written order, but not the reverse.
 * Source: Math-Verify 0.8 `verify` with strict set and relation comparison.
 */
export function matches(gold: Value, answer: Value, how: Comparison): boolean {
  how.budget.spend(20);
  const [g, a] = unassigned(gold, answer, how.strict);
  if (how.strict && sameShapeMatches(g, a, how)) return true;
  if (g.kind === "relation" && isSetLike(a)) {
    const set = relationAsSet(g, how.strict);
    return (set !== undefined && setsMatch(set, a, how, matches)) || setsMatch(g, a, how, matches);
  }
  if (g.kind === "relation" || a.kind === "relation") {
    if (g.kind === "relation" && a.kind === "relation") return relationsMatch(g, a, how, matches);
    return isSetLike(g) && setsMatch(g, a, how, matches);
  }
  if (isSetLike(g) || isSetLike(a)) return setsMatch(g, a, how, matches);
  return expressionsMatch(g as Expr, a as Expr, how);
}

/**
 * Strict: compares different notations of one object: a point and a column of numbers, a set of reals and bounds of
 * its numbers.
 */
function sameShapeMatches(gold: Value, answer: Value, how: Comparison): boolean {
  const [g, a] = [asPoint(gold), asPoint(answer)];
  if (isSetLike(gold) && a !== undefined) return setsMatch(gold, a, how, matches);
  if (isSetLike(answer) && g !== undefined) return setsMatch(g, answer, how, matches);
  const set = isSetLike(gold) && answer.kind === "relation" ? relationAsSet(answer, true) : undefined;
  return set !== undefined && setsMatch(gold, set, how, matches);
}

/** The entries of a matrix with one column or one row. */
function asPoint(value: Value): Value | undefined {
  if (value.kind !== "matrix" || (value.rows.length > 1 && value.rows[0]!.length > 1)) return undefined;
  return { kind: "tuple", items: value.rows.flat() };
}

const isSetLike = (v: Value): boolean => !isExpr(v) && v.kind !== "relation";

const isEquation = (v: Value): v is Relation =>
  v.kind === "relation" && v.links.every((l) => l.operator === "=");

/** "x = ... = 5": a chain of equations whose first side is only symbols; strict: or the value of a function, f(2). */
const isAssignment = (v: Value, strict: boolean): v is Relation =>
  isEquation(v) && (onlySymbols(v.links[0]!.left) || (strict && isApplied(v.links[0]!.left)));

const isApplied = (v: Value): boolean => v.kind === "call" && v.name.length === 1;

/** Shortens chains to "first = last". If only one side is an assignment, compares its value with the other side. */
function unassigned(gold: Value, answer: Value, strict: boolean): readonly [Value, Value] {
  const g = isAssignment(gold, strict) ? shortened(gold) : gold;
  const a = isAssignment(answer, strict) ? shortened(answer) : answer;
  if (isEquation(a) && !isEquation(g)) return [g, a.links.at(-1)!.right];
  if (isAssignment(g, strict) && !isEquation(a)) return [g.links.at(-1)!.right, a];
  return [g, a];
}

const shortened = (chain: Relation): Relation => ({
  kind: "relation",
  links: [{ operator: "=", left: chain.links[0]!.left, right: chain.links.at(-1)!.right }],
});

function expressionsMatch(gold: Expr, answer: Expr, how: Comparison): boolean {
  if (!how.strict) return valuesMatch(gold, answer, how);
  return comparable(gold, answer).some(([g, a]) => valuesMatch(g, a, how));
}

function valuesMatch(gold: Expr, answer: Expr, how: Comparison): boolean {
  if (gold.kind === "matrix" || answer.kind === "matrix") return matricesMatch(gold, answer, how);
  if (gold.kind === "symbol" || answer.kind === "symbol") {
    return namesMatch(gold, answer, how.strict) || (how.strict && identical(gold, answer, how.budget));
  }
  const decimal = isDecimal(gold) || isDecimal(answer);
  const constant = freeSymbols(answer, freeSymbols(gold)).size === 0;
  if ((isNumber(gold) || isNumber(answer)) && decimal && constant) {
    const rounded = how.strict ? decimalsMatch(gold, answer, how.budget) : roundedMatch(gold, answer, how);
    if (rounded !== undefined) return rounded;
  } else if (
    !how.strict &&
    constant &&
    !isNumber(gold) &&
    !isNumber(answer) &&
    chopsAway(gold, answer, how)
  ) {
    return true;
  }
  return identical(gold, answer, how.budget);
}

function matricesMatch(gold: Expr, answer: Expr, how: Comparison): boolean {
  if (gold.kind !== "matrix" || answer.kind !== "matrix" || gold.rows.length !== answer.rows.length)
    return false;
  return gold.rows.every((row, i) => {
    const other = answer.rows[i]!;
    return row.length === other.length && row.every((entry, j) => expressionsMatch(entry, other[j]!, how));
  });
}

/**
 * Compares words letter by letter: the symbol "no" equals the product n o, in the reference also o n; "5" in
 * text equals the number.
 */
function namesMatch(gold: Expr, answer: Expr, strict: boolean): boolean {
  const [a, b] = [letters(gold), letters(answer)];
  if (a === undefined || b === undefined) return false;
  if (a.join("").toLowerCase() === b.join("").toLowerCase()) return true;
  return !strict && sortedWord(gold, a) === sortedWord(answer, b);
}

const sortedWord = (e: Expr, names: readonly string[]): string =>
  e.kind === "product" ? [...names].sort().join("") : names.join("");

function letters(e: Expr): readonly string[] | undefined {
  if (e.kind === "symbol") return [e.name];
  if (e.kind === "constant") return [e.name];
  if (e.kind === "number") return e.form === "decimal" ? undefined : [q.toText(e.value)];
  if (e.kind !== "product") return undefined;
  const parts = e.factors.map(letters);
  return parts.every((p) => p?.length === 1) ? parts.map((p) => p![0]!) : undefined;
}

/** A bare number, with or without percent. */
const isNumber = (e: Expr): boolean =>
  e.kind === "number" || (e.kind === "percent" && e.of.kind === "number");

/** Compares constants as the reference does if one of them is a decimal; undefined if one of them has no real value. */
function roundedMatch(gold: Expr, answer: Expr, how: Comparison): boolean | undefined {
  const a = exactValue(gold, how.budget);
  const b = exactValue(answer, how.budget);
  const wholeA = a !== undefined && q.isInteger(a) && !isDecimal(gold);
  const wholeB = b !== undefined && q.isInteger(b) && !isDecimal(answer);
  if (wholeA || wholeB) return a !== undefined && b !== undefined && q.equals(a, b);
  const x = a ?? approximate(gold, how.budget);
  const y = b ?? approximate(answer, how.budget);
  if (x === undefined || y === undefined) return undefined;
  return q.roundScaled(x, PLACES) === q.roundScaled(y, PLACES);
}

/** True if the reference would take the two as equal: it drops differences below about 2e-15. */
function chopsAway(gold: Expr, answer: Expr, how: Comparison): boolean {
  try {
    const rough = new Evaluator(CHOPPING_BITS, how.budget, new Map());
    const gap = magnitude(rough.subtract(rough.value(gold), rough.value(answer)));
    if (gap >= rough.peak - CHOPPING_BITS / 2) return gap < -CHOPPED_BITS;
    if (rough.peak + CHOPPED_BITS < CHOPPING_BITS / 2) return true;
    if (rough.peak > q.MAX_BITS) return false;
    const fine = new Evaluator(rough.peak + CHOPPING_BITS, how.budget, new Map());
    return magnitude(fine.subtract(fine.value(gold), fine.value(answer))) < -CHOPPED_BITS;
  } catch (error) {
    if (error instanceof q.Undefined || error instanceof q.BudgetExceeded) return false;
    throw error;
  }
}
