import type { Budget } from "./budget.ts";
import { approximate } from "./evaluate.ts";
import type { Rational } from "./rational.ts";
import * as q from "./rational.ts";
import { constant, type Expr, type Interval, isExpr, negate, type Value } from "./syntax.ts";

/** An end of a piece of the real line; `at` is undefined at infinity. */
interface End {
  readonly at: Rational | undefined;
  readonly written: Expr;
  readonly open: boolean;
}
/** A non-empty interval; a point if its two ends are equal and closed. */
interface Span {
  readonly left: End;
  readonly right: End;
}

/** Sets with more pieces are not computed. */
const MAX_SPANS = 100;
const INFINITY = constant("infinity");

/**
 * A set of reals as its disjoint intervals and points from left to right, touching ones joined; computes unions,
 * intersections and differences of intervals, finite sets and R. Two sets of reals are equal exactly if these lists
 * are. Undefined if an end is symbolic or not real, or the set is of another kind.
 */
export function realIntervals(value: Value, budget: Budget): readonly Interval[] | undefined {
  return spansOf(value, budget)?.map(({ left, right }) => ({
    kind: "interval",
    left: left.written,
    right: right.written,
    leftOpen: left.open,
    rightOpen: right.open,
  }));
}

function spansOf(value: Value, budget: Budget): readonly Span[] | undefined {
  budget.spend(50);
  switch (value.kind) {
    case "interval": {
      const left = endOf(value.left, value.leftOpen, budget);
      const right = endOf(value.right, value.rightOpen, budget);
      return left && right && (isEmpty(left, right) ? [] : [{ left, right }]);
    }
    case "set":
      return merged(value.items.map((item) => pointOf(item, budget)));
    case "domain":
      if (value.name === "empty") return [];
      return value.name === "R" ? [everything()] : undefined;
    case "union":
    case "intersection":
    case "difference":
      return combined(value, budget);
    default:
      return undefined;
  }
}

function combined(value: Extract<Value, { left: Value }>, budget: Budget): readonly Span[] | undefined {
  const left = spansOf(value.left as Value, budget);
  const right = spansOf(value.right as Value, budget);
  if (!left || !right || left.length + right.length > MAX_SPANS) return undefined;
  budget.spend(20 * left.length * right.length);
  if (value.kind === "union") return merged([...left, ...right]);
  return merged(common(left, value.kind === "difference" ? complement(right) : right));
}

function endOf(written: Expr, open: boolean, budget: Budget): End | undefined {
  if (isInfinite(written)) return { at: undefined, written, open: true };
  const at = approximate(written, budget);
  return at && { at, written, open };
}

const isInfinite = (e: Expr): boolean =>
  (e.kind === "constant" && e.name === "infinity") ||
  (e.kind === "product" && e.factors.length === 2 && e.factors.some(isInfinite));

function pointOf(item: Value, budget: Budget): Span | undefined {
  const end = isExpr(item) ? endOf(item, false, budget) : undefined;
  return end?.at && { left: end, right: end };
}

const everything = (): Span => ({
  left: { at: undefined, written: negate(INFINITY), open: true },
  right: { at: undefined, written: INFINITY, open: true },
});

/** Order of left ends: at equal values a closed end comes first. */
function compareLeft(a: End, b: End): number {
  if (a.at === undefined || b.at === undefined) return (a.at ? 1 : 0) - (b.at ? 1 : 0);
  return q.compare(a.at, b.at) || Number(a.open) - Number(b.open);
}
/** Order of right ends: at equal values an open end comes first. */
function compareRight(a: End, b: End): number {
  if (a.at === undefined || b.at === undefined) return (b.at ? 1 : 0) - (a.at ? 1 : 0);
  return q.compare(a.at, b.at) || Number(b.open) - Number(a.open);
}
function isEmpty(left: End, right: End): boolean {
  if (left.at === undefined || right.at === undefined) return false;
  const order = q.compare(left.at, right.at);
  return order > 0 || (order === 0 && (left.open || right.open));
}
/** True if a span ending at `right` leaves a gap, even of one point, before one starting at `left`. */
function apart(right: End, left: End): boolean {
  if (left.at === undefined || right.at === undefined) return false;
  const order = q.compare(right.at, left.at);
  return order < 0 || (order === 0 && right.open && left.open);
}

function merged(spans: readonly (Span | undefined)[]): readonly Span[] | undefined {
  if (spans.length > MAX_SPANS || spans.some((span) => span === undefined)) return undefined;
  const sorted = (spans as readonly Span[]).toSorted((a, b) => compareLeft(a.left, b.left));
  const out: Span[] = [];
  for (const span of sorted) {
    const last = out.at(-1);
    if (last === undefined || apart(last.right, span.left)) out.push(span);
    else if (compareRight(span.right, last.right) > 0)
      out[out.length - 1] = { left: last.left, right: span.right };
  }
  return out;
}

function common(a: readonly Span[], b: readonly Span[]): readonly Span[] {
  return a.flatMap((x) =>
    b.flatMap((y) => {
      const left = compareLeft(x.left, y.left) >= 0 ? x.left : y.left;
      const right = compareRight(x.right, y.right) <= 0 ? x.right : y.right;
      return isEmpty(left, right) ? [] : [{ left, right }];
    }),
  );
}

/** The reals outside disjoint spans in order. */
function complement(spans: readonly Span[]): readonly Span[] {
  const out: Span[] = [];
  let left: End | undefined = everything().left;
  for (const span of spans) {
    const right: End = { ...span.left, open: !span.left.open };
    if (span.left.at !== undefined && !isEmpty(left, right)) out.push({ left, right });
    if (span.right.at === undefined) return out;
    left = { ...span.right, open: !span.right.open };
  }
  return [...out, { left, right: everything().right }];
}
