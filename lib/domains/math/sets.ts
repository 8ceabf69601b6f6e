import type { Comparison, Match } from "./comparison.ts";
import { approximate } from "./evaluate.ts";
import * as q from "./rational.ts";
import { realIntervals } from "./real-set.ts";
import { type Interval, isExpr, sameExpr, type Value } from "./syntax.ts";

/** Larger sets are not compared item by item against each other. */
const MAX_ITEMS = 200;

/** Compares sets, tuples, intervals and their unions; a bare value counts as a set of one. */
export function setsMatch(gold: Value, answer: Value, how: Comparison, match: Match): boolean {
  const g = settled(gold, how);
  const a = settled(answer, how);
  if (g.kind === "interval" && a.kind === "interval") return intervalsMatch(g, a, how, match);
  if (g.kind === "domain" && a.kind === "domain") return g.name === a.name;
  if (isCompound(g) || isCompound(a)) return compoundsMatch(g, a, how, match);
  const [goldItems, answerItems] = [itemsOf(g), itemsOf(a)];
  if (goldItems === undefined || answerItems === undefined) return false;
  if (goldItems.length > MAX_ITEMS || answerItems.length > MAX_ITEMS) return false;
  const bare = g.kind !== "set" && g.kind !== "tuple" && g.kind !== "interval";
  const unordered = g.kind === "set" || bare;
  return unordered
    ? sameItems(goldItems, answerItems, g, a, how, match)
    : inOrder(goldItems, answerItems, how, match);
}

const COMPOUND: ReadonlySet<string> = new Set(["union", "intersection", "difference", "domain"]);
const isCompound = (v: Value): boolean => COMPOUND.has(v.kind);

/** Reads an empty interval as a pair; leaves {a} = [a, a] unchanged. */
function settled(v: Value, how: Comparison): Value {
  if (v.kind !== "interval") return v;
  const [left, right] = [approximate(v.left, how.budget), approximate(v.right, how.budget)];
  if (left === undefined || right === undefined) return v;
  const order = q.compare(right, left);
  const empty = (v.leftOpen && v.rightOpen && order <= 0) || (!v.leftOpen && !v.rightOpen && order < 0);
  return empty ? { kind: "tuple", items: [v.left, v.right] } : v;
}

function intervalsMatch(g: Interval, a: Interval, how: Comparison, match: Match): boolean {
  if (g.leftOpen !== a.leftOpen || g.rightOpen !== a.rightOpen) return false;
  return match(g.left, a.left, how) && match(g.right, a.right, how);
}

/** Elements of an open interval, a set or a tuple; an open interval may also be a pair. */
function itemsOf(v: Value): readonly Value[] | undefined {
  if (v.kind === "set" || v.kind === "tuple") return v.items;
  if (v.kind === "interval") return v.leftOpen && v.rightOpen ? [v.left, v.right] : undefined;
  return isExpr(v) || v.kind === "relation" ? [v] : undefined;
}

const inOrder = (gold: readonly Value[], answer: readonly Value[], how: Comparison, match: Match): boolean =>
  gold.length === answer.length && gold.every((item, i) => match(item, answer[i]!, how));

function sameItems(
  gold: readonly Value[],
  answer: readonly Value[],
  g: Value,
  a: Value,
  how: Comparison,
  match: Match,
): boolean {
  const expected = g.kind === "set" ? distinct(gold, how, match) : gold;
  const given = a.kind === "set" ? distinct(answer, how, match) : answer;
  return paired(expected, given, how, match);
}

/** True if each gold item has its own answer item. Equality is transitive except for rounding, so greedy matching suffices. */
function paired(gold: readonly Value[], answer: readonly Value[], how: Comparison, match: Match): boolean {
  if (gold.length !== answer.length) return false;
  const left = [...answer];
  return gold.every((item) => {
    const at = left.findIndex((candidate) => match(item, candidate, how));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

function distinct(items: readonly Value[], how: Comparison, match: Match): readonly Value[] {
  const kept: Value[] = [];
  for (const item of items) {
    const same = (other: Value) =>
      isExpr(item) && isExpr(other) ? sameExpr(item, other) || match(item, other, how) : false;
    const sameRelation = (other: Value) =>
      (item.kind === "relation" || (how.strict && !isExpr(item))) &&
      other.kind === item.kind &&
      match(item, other, how);
    if (!kept.some((other) => same(other) || sameRelation(other))) kept.push(item);
  }
  return kept;
}

/** Compares sets of reals as sets; other compounds part by part, the parts of a union in any order. */
function compoundsMatch(g: Value, a: Value, how: Comparison, match: Match): boolean {
  const gold = realIntervals(g, how.budget);
  const answer = gold && realIntervals(a, how.budget);
  if (gold && answer) {
    return (
      gold.length === answer.length && gold.every((piece, i) => intervalsMatch(piece, answer[i]!, how, match))
    );
  }
  if (g.kind !== a.kind) return false;
  if (g.kind === "union") return paired(unionParts(g), unionParts(a), how, match);
  if (g.kind !== "intersection" && g.kind !== "difference") return false;
  const other = a as typeof g;
  return match(g.left, other.left, how) && match(g.right, other.right, how);
}

const unionParts = (v: Value): readonly Value[] =>
  v.kind === "union" ? [...unionParts(v.left), ...unionParts(v.right)] : [v];
