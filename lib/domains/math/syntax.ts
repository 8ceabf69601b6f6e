import type { Rational } from "./rational.ts";
import { divide, integer, isInteger, negate as negateRational, ONE } from "./rational.ts";

/** Notation of a number; decimals are compared after rounding, other notations exactly. */
export type NumberForm = "integer" | "rational" | "decimal";
export type ConstantName = "pi" | "e" | "i" | "infinity" | "gamma";
export type BoundOperator = "integral" | "sum" | "product" | "limit";

/** An expression as written: simplifies only integer fractions, mixed numbers and signs of numbers. */
export type Expr =
  | { readonly kind: "number"; readonly value: Rational; readonly form: NumberForm }
  | { readonly kind: "percent"; readonly of: Expr }
  | { readonly kind: "symbol"; readonly name: string }
  | { readonly kind: "constant"; readonly name: ConstantName }
  | { readonly kind: "sum"; readonly terms: readonly Expr[] }
  | { readonly kind: "product"; readonly factors: readonly Expr[] }
  | { readonly kind: "power"; readonly base: Expr; readonly exponent: Expr }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Expr[] }
  | { readonly kind: "matrix"; readonly rows: readonly (readonly Expr[])[] }
  | {
      readonly kind: "bound";
      readonly operator: BoundOperator;
      readonly variable: string;
      readonly body: Expr;
      readonly from: Expr | undefined;
      readonly to: Expr | undefined;
    };

export type Comparison = "=" | "<" | "<=" | ">" | ">=" | "!=";
export interface Link {
  readonly operator: Comparison;
  readonly left: Value;
  readonly right: Value;
}
export type SetName = "N" | "Z" | "Q" | "R" | "C" | "P" | "empty";

/** Anything an answer can be. */
export type Value =
  | Expr
  | { readonly kind: "relation"; readonly links: readonly Link[] }
  | { readonly kind: "set"; readonly items: readonly Value[] }
  | { readonly kind: "tuple"; readonly items: readonly Value[] }
  | Interval
  | { readonly kind: "domain"; readonly name: SetName }
  | { readonly kind: "union" | "intersection" | "difference"; readonly left: Value; readonly right: Value };

export interface Interval {
  readonly kind: "interval";
  readonly left: Expr;
  readonly right: Expr;
  readonly leftOpen: boolean;
  readonly rightOpen: boolean;
}
export type Relation = Extract<Value, { kind: "relation" }>;

const EXPRESSION_KINDS = new Set([
  "number",
  "percent",
  "symbol",
  "constant",
  "sum",
  "product",
  "power",
  "call",
  "matrix",
  "bound",
]);
export const isExpr = (value: Value): value is Expr => EXPRESSION_KINDS.has(value.kind);

export const number = (value: Rational, form: NumberForm): Expr => ({ kind: "number", value, form });
export const whole = (value: number | bigint): Expr => number(integer(value), "integer");
export const exact = (value: Rational): Expr => number(value, isInteger(value) ? "integer" : "rational");
export const symbol = (name: string): Expr => ({ kind: "symbol", name });
export const constant = (name: ConstantName): Expr => ({ kind: "constant", name });
export const call = (name: string, ...args: Expr[]): Expr => ({ kind: "call", name, args });
export const power = (base: Expr, exponent: Expr): Expr => ({ kind: "power", base, exponent });

export const isWhole = (e: Expr): e is Extract<Expr, { kind: "number" }> =>
  e.kind === "number" && e.form === "integer";

export function negate(e: Expr): Expr {
  if (e.kind === "number") return number(negateRational(e.value), e.form);
  return product([whole(-1), e]);
}

export function sum(terms: readonly Expr[]): Expr {
  const flat = terms.flatMap((t) => (t.kind === "sum" ? t.terms : [t]));
  const first = flat[0]!;
  if (flat.length === 1) return first;
  if (first.kind === "matrix" && flat.every((t) => t.kind === "matrix" && sameShape(t.rows, first.rows))) {
    const matrices = flat as Extract<Expr, { kind: "matrix" }>[];
    return mapMatrix(first, (_, i, j) => sum(matrices.map((m) => m.rows[i]![j]!)));
  }
  return { kind: "sum", terms: flat };
}

/**
 * A matrix absorbs adjacent scalars, and two matrices multiply; more matrices stay unmultiplied, since the result
 * could explode.
 */
export function product(factors: readonly Expr[]): Expr {
  const flat = factors.flatMap((f) => (f.kind === "product" ? f.factors : [f]));
  if (flat.length === 1) return flat[0]!;
  const matrices = flat.filter((f) => f.kind === "matrix");
  const only = matrices[0];
  if (only !== undefined && matrices.length === 1 && flat.length > 1) {
    const scalars = flat.filter((f) => f !== only);
    return mapMatrix(only, (entry) => product([...scalars, entry]));
  }
  const [left, right] = matrices;
  if (matrices.length === 2 && left!.rows[0]!.length === right!.rows.length) {
    const entry = (row: readonly Expr[], j: number) =>
      sum(row.map((e, k) => product([e, right!.rows[k]![j]!])));
    const rows = left!.rows.map((row) => right!.rows[0]!.map((_, j) => entry(row, j)));
    return product([...flat.filter((f) => f.kind !== "matrix"), { kind: "matrix", rows }]);
  }
  return { kind: "product", factors: flat };
}

/** a/b; two integers become one rational number. Throws Undefined for an integer divided by 0. */
export function quotient(a: Expr, b: Expr): Expr {
  if (isWhole(a) && isWhole(b)) return exact(divide(a.value, b.value));
  return product([a, power(b, whole(-1))]);
}

type Matrix = Extract<Expr, { kind: "matrix" }>;
const mapMatrix = (m: Matrix, f: (entry: Expr, i: number, j: number) => Expr): Expr => ({
  kind: "matrix",
  rows: m.rows.map((row, i) => row.map((entry, j) => f(entry, i, j))),
});
const sameShape = (a: Matrix["rows"], b: Matrix["rows"]) =>
  a.length === b.length && a.every((row, i) => row.length === b[i]!.length);

/** Structural equality; numbers by value and by whether they are decimals. */
export function sameExpr(a: Expr, b: Expr): boolean {
  return a === b || fingerprint(a) === fingerprint(b);
}

const FINGERPRINTS = new WeakMap<Expr, string>();

/** A key that two expressions share exactly if they are written alike. */
export function fingerprint(e: Expr): string {
  let text = FINGERPRINTS.get(e);
  if (text === undefined) {
    text = describe(e);
    FINGERPRINTS.set(e, text);
  }
  return text;
}

function describe(e: Expr): string {
  switch (e.kind) {
    case "number":
      return `${e.form === "decimal" ? "." : ""}${e.value.n}/${e.value.d}`;
    case "percent":
      return `%(${fingerprint(e.of)})`;
    case "symbol":
      return `'${e.name}'`;
    case "constant":
      return `#${e.name}`;
    case "sum":
      return `+(${e.terms.map(fingerprint).sort().join()})`;
    case "product":
      return `*(${e.factors.map(fingerprint).sort().join()})`;
    case "power":
      return `^(${fingerprint(e.base)},${fingerprint(e.exponent)})`;
    case "call":
      return `${e.name}(${e.args.map(fingerprint).join()})`;
    case "matrix":
      return `[${e.rows.map((row) => row.map(fingerprint).join()).join(";")}]`;
    case "bound":
      return `${e.operator}(${e.variable},${[e.body, e.from, e.to].map((x) => (x ? fingerprint(x) : "")).join()})`;
  }
}

/** Direct parts of an expression. */
function parts(e: Expr): readonly Expr[] {
  switch (e.kind) {
    case "percent":
      return [e.of];
    case "sum":
      return e.terms;
    case "product":
      return e.factors;
    case "power":
      return [e.base, e.exponent];
    case "call":
      return e.args;
    case "matrix":
      return e.rows.flat();
    case "bound":
      return [e.body, e.from, e.to].filter((x) => x !== undefined);
    default:
      return [];
  }
}

export function contains(e: Expr, test: (part: Expr) => boolean): boolean {
  return test(e) || parts(e).some((part) => contains(part, test));
}

/** Names of the free symbols; a bound variable is not free in its body. */
export function freeSymbols(
  e: Expr,
  into: Set<string> = new Set(),
  bound: readonly string[] = [],
): Set<string> {
  if (e.kind === "symbol" && !bound.includes(e.name)) into.add(e.name);
  const inner = e.kind === "bound" ? [...bound, e.variable] : bound;
  for (const part of parts(e)) freeSymbols(part, into, inner);
  return into;
}

/** The expression with a free symbol replaced. */
export function substitute(e: Expr, name: string, by: Expr): Expr {
  const inside = (part: Expr) => substitute(part, name, by);
  switch (e.kind) {
    case "symbol":
      return e.name === name ? by : e;
    case "percent":
      return { kind: "percent", of: inside(e.of) };
    case "sum":
      return sum(e.terms.map(inside));
    case "product":
      return product(e.factors.map(inside));
    case "power":
      return power(inside(e.base), inside(e.exponent));
    case "call":
      return { ...e, args: e.args.map(inside) };
    case "matrix":
      return { kind: "matrix", rows: e.rows.map((row) => row.map(inside)) };
    case "bound": {
      const [from, to] = [e.from && inside(e.from), e.to && inside(e.to)];
      return { ...e, from, to, body: e.variable === name ? e.body : inside(e.body) };
    }
    default:
      return e;
  }
}

/** True for x, xy, x/2, f(x): forms allowed left of "=" in "answer = value". Numbers count only as bare denominators. */
export function onlySymbols(value: Value): boolean {
  if (!isExpr(value)) {
    if (value.kind === "relation")
      return value.links.every((l) => onlySymbols(l.left) && onlySymbols(l.right));
    return value.kind === "tuple" && value.items.every(onlySymbols);
  }
  if (value.kind === "symbol") return true;
  if (value.kind === "power" && value.exponent.kind === "number" && value.exponent.value.n === -1n) {
    return value.base.kind === "symbol" || parts(value.base).every(onlySymbols);
  }
  const inner = parts(value);
  return inner.length > 0 && inner.every(onlySymbols);
}

export const HALF: Expr = number(divide(ONE, integer(2)), "rational");
