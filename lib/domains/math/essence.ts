import type { Qualifier, Range } from "./qualifier.ts";
import type { Reading } from "./reading.ts";
import { type Expr, freeSymbols, isExpr, type Relation, type Value } from "./syntax.ts";

/**
 * Returns both answers without qualifiers that do not change their meaning; undefined if a qualifier may change the
 * meaning.
 */
export function withoutHarmless(gold: Reading, answer: Reading): readonly [Reading, Reading] | undefined {
  const [g, a] = [gold.parts, answer.parts];
  if (g === undefined && a === undefined) return undefined;
  if (
    ![g, a].every(
      (parts) => parts === undefined || parts.qualifiers.every((one) => isHarmless(one, parts.core)),
    )
  )
    return undefined;
  if (!agree(g?.qualifiers ?? [], a?.qualifiers ?? [])) return undefined;
  return [g?.core ?? gold, a?.core ?? answer];
}

/** True if both sides say the same about every name that both mention. */
const agree = (gold: readonly Qualifier[], answer: readonly Qualifier[]): boolean =>
  gold.every((one) =>
    answer.every(
      (other) => !one.names.some((name) => other.names.includes(name)) || isSameRange(one.range, other.range),
    ),
  );

const ALSO: Readonly<Partial<Record<Range, readonly Range[]>>> = {
  natural: ["positive", "nonnegative"],
  constant: ["real", "complex", "any"],
  any: ["real", "complex"],
};
const isSameRange = (left: Range, right: Range): boolean =>
  left === right || (ALSO[left]?.includes(right) ?? false) || (ALSO[right]?.includes(left) ?? false);

/** Ranges of numbers that count something: usual for an index, a condition on any other name. */
const WHOLE: ReadonlySet<Range> = new Set(["integer", "rational", "natural", "positive", "nonnegative"]);
const INDEX = /^[i-np-tN]$/;
/**
 * Ranges counted from a first element. For a family unbounded in both directions this is half of the family; for a
 * sequence, all of it.
 */
const COUNTING: ReadonlySet<Range> = new Set(["natural", "positive", "nonnegative"]);
/** Families of angles are unbounded in both directions. */
const PERIODIC = /\\pi|π|°|\\circ/;

/**
 * True if a qualifier only describes a name used in the answer. A qualifier of the unknown itself ("x = 2, x
 * > 0", "x \in \mathbb{R}"), of an inequality or of a set says more.
 */
function isHarmless({ names, range }: Qualifier, { value, text }: Reading): boolean {
  if (value === undefined) return false;
  if (WHOLE.has(range) && !names.every((name) => INDEX.test(name))) return false;
  if (range !== "integer" && PERIODIC.test(text) && names.some((name) => INDEX.test(name))) return false;
  if (COUNTING.has(range) && (PERIODIC.test(text) || !isSequence(value))) return false;
  const items = value.kind === "set" || value.kind === "tuple" ? value.items : [value];
  if (!items.every(isPlain)) return false;
  const written = items.flatMap(namesWithin);
  return names.every((name) => isIn(written, name) && !items.some((item) => isAbout(item, name)));
}

/** True for an expression, or one equation. */
const isPlain = (value: Value): boolean => isExpr(value) || isEquation(value);
const isEquation = (value: Value): value is Relation =>
  value.kind === "relation" &&
  value.links.every(({ operator, left, right }) => operator === "=" && isExpr(left) && isExpr(right));

/** True for a formula that stands alone, or one that defines a_n or f(n). */
function isSequence(value: Value): boolean {
  if (isExpr(value)) return true;
  if (!isEquation(value)) return false;
  const { left } = value.links[0]!;
  return isExpr(left) && (left.kind === "call" || (left.kind === "symbol" && left.name.includes("_")));
}

const sidesOf = (value: Value): readonly Expr[] => {
  if (isExpr(value)) return [value];
  return isEquation(value) ? value.links.flatMap(({ left, right }) => [left, right] as Expr[]) : [];
};

const namesWithin = (value: Value): readonly string[] =>
  sidesOf(value).flatMap((side) => [...freeSymbols(side), ...subscripts(side)]);
/** The n of a_n. */
const subscripts = (e: Expr): readonly string[] =>
  e.kind === "symbol" ? (/_\{?([A-Za-z])\}?$/.exec(e.name)?.slice(1) ?? []) : [];

/** Compares names in lower case if no letter is used in both cases. */
const isIn = (written: readonly string[], name: string): boolean =>
  written.includes(name) || written.includes(name.toLowerCase());

/** True if the answer is about the name: the name alone, or an equation for it. */
const isAbout = (value: Value, name: string): boolean =>
  sidesOf(value).some((side) => side.kind === "symbol" && isIn([side.name], name));

/** Pairs of readings equivalent to two options: their letters, their values, or both. */
export function asOptions(gold: Reading, answer: Reading): readonly (readonly [Reading, Reading])[] {
  const [g, a] = [gold.option, answer.option];
  if (a === undefined) return g?.rest && g.isSure ? [[g.rest, answer]] : [];
  if (g === undefined) return a.rest && a.isSure ? [[gold, a.rest]] : [];
  if (g.letter !== a.letter || a.rest?.parsed === false) return [];
  if (g.rest && a.rest) return [[g.rest, a.rest]];
  // One side is only the letter. "(C)" must be an option, but "C" compared with "(C) 12" may be a product.
  return g.isSure || a.isSure ? [[gold, gold]] : [];
}
