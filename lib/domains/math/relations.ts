import { canonical, NoCanonicalForm } from "./canonical.ts";
import type { Comparison as How, Match } from "./comparison.ts";
import { FractionField } from "./fraction-field.ts";
import { identical } from "./identity.ts";
import { PolynomialRing } from "./polynomial.ts";
import * as q from "./rational.ts";
import {
  type Comparison,
  constant,
  type Expr,
  fingerprint,
  freeSymbols,
  isExpr,
  type Link,
  negate,
  type Relation,
  sameExpr,
  sum,
  type Value,
} from "./syntax.ts";

const FLIPPED: Readonly<Record<Comparison, Comparison>> = {
  "=": "=",
  "!=": "!=",
  "<": ">",
  ">": "<",
  "<=": ">=",
  ">=": "<=",
};

/**
 * Compares chains link by link in order (strict: or all links reversed), and single links up to a constant
 * factor.
 */
export function relationsMatch(gold: Relation, answer: Relation, how: How, match: Match): boolean {
  if (gold.links.length !== answer.links.length) return false;
  const inOrder = (links: readonly Link[]) =>
    gold.links.every((link, i) => linksMatch(link, links[i]!, how, match));
  return (
    inOrder(answer.links) || (how.strict && answer.links.length > 1 && inOrder([...answer.links].reverse()))
  );
}

function linksMatch(gold: Link, answer: Link, how: How, match: Match): boolean {
  if (!(isExpr(gold.left) && isExpr(gold.right) && isExpr(answer.left) && isExpr(answer.right))) {
    return (
      gold.operator === answer.operator &&
      match(gold.left, answer.left, how) &&
      match(gold.right, answer.right, how)
    );
  }
  const same = gold.operator === answer.operator;
  if (same && sameExpr(gold.left, answer.left) && match(gold.right, answer.right, how)) return true;
  const g = sum([gold.left, negate(gold.right)]);
  const a = sum([answer.left, negate(answer.right)]);
  if (same && identical(g, a, how.budget)) return true;
  const flipped = FLIPPED[gold.operator] === answer.operator;
  if (flipped && identical(g, negate(a), how.budget)) return true;
  const ratio = constantRatio(g, a, how);
  return ratio !== undefined && (ratio.n > 0n ? same : flipped);
}

/** A rational constant c other than 0 with g = c a; undefined if there is none, or none is found. */
function constantRatio(g: Expr, a: Expr, how: How): q.Rational | undefined {
  const ring = new PolynomialRing(how.budget);
  const field = new FractionField(ring);
  try {
    const [x, y] = [canonical(g, field), canonical(a, field)];
    const left = ring.multiply(x.num, y.den);
    const right = ring.multiply(y.num, x.den);
    const [key, term] = [...right.entries()][0] ?? [];
    const other = key === undefined ? undefined : left.get(key);
    if (term === undefined || other === undefined || left.size !== right.size) return undefined;
    const ratio = q.divide(other.coefficient, term.coefficient);
    return ring.add(left, ring.scale(right, q.negate(ratio))).size === 0 ? ratio : undefined;
  } catch (error) {
    if (
      error instanceof q.Undefined ||
      error instanceof q.BudgetExceeded ||
      error instanceof NoCanonicalForm
    ) {
      return undefined;
    }
    throw error;
  }
}

interface Side {
  readonly symbol: string;
  readonly operator: Comparison;
  readonly end: Expr;
}

/** Reads a bound on a name as "x < 3", with the name on the left however it was written. */
function sideOf({ left, right, operator }: Link, applied: boolean): Side | undefined {
  if (!isExpr(left) || !isExpr(right)) return undefined;
  const [below, above] = [nameOf(left, applied), nameOf(right, applied)];
  if (below !== undefined && freeSymbols(right).size === 0) return { symbol: below, operator, end: right };
  if (above === undefined || freeSymbols(left).size > 0) return undefined;
  return { symbol: above, operator: FLIPPED[operator], end: left };
}

/** The name x; with `applied` also f(x). */
function nameOf(e: Expr, applied: boolean): string | undefined {
  if (e.kind === "symbol") return e.name;
  return applied && e.kind === "call" && e.name.length === 1 ? fingerprint(e) : undefined;
}

const INFINITY: Expr = constant("infinity");

/**
 * The reals that satisfy bounds on one symbol: 1 < x < 2 is (1, 2), x != 2 two rays; undefined for other forms.
 * @param applied true if 0 < f(x) < 1 bounds a name too; the reference accepts symbols alone
 */
export function relationAsSet(relation: Relation, applied: boolean): Value | undefined {
  const sides = relation.links.map((link) => sideOf(link, applied));
  const first = sides[0];
  if (first === undefined || sides.length > 2 || sides.some((s) => s?.symbol !== first.symbol))
    return undefined;
  if (sides.length === 1 && first.operator === "!=") {
    const below: Value = {
      kind: "interval",
      left: negate(INFINITY),
      right: first.end,
      leftOpen: true,
      rightOpen: true,
    };
    const above: Value = {
      kind: "interval",
      left: first.end,
      right: INFINITY,
      leftOpen: true,
      rightOpen: true,
    };
    return { kind: "union", left: below, right: above };
  }
  let [left, right, leftOpen, rightOpen] = [negate(INFINITY), INFINITY, true, true];
  const bounded = new Set<string>();
  for (const side of sides) {
    const { operator, end } = side!;
    const lower = operator === ">" || operator === ">=";
    if ((!lower && operator !== "<" && operator !== "<=") || bounded.has(`${lower}`)) return undefined;
    bounded.add(`${lower}`);
    if (lower) [left, leftOpen] = [end, operator === ">"];
    else [right, rightOpen] = [end, operator === "<"];
  }
  return { kind: "interval", left, right, leftOpen, rightOpen };
}
