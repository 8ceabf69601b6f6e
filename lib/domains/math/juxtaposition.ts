import { mentionsUnit } from "./quantity.ts";
import { add, compare, isInteger, ONE, subtract, ZERO } from "./rational.ts";
import type { Expr, Value } from "./syntax.ts";
import * as s from "./syntax.ts";

// The meaning of expressions and units written next to each other.

/** The value of adjacent factors. Moves units to the end, so that they do not separate the parts of a mixed number. */
export function sideBySide(factors: readonly Expr[], strict: boolean): Expr {
  const numbers = factors.filter((factor) => !mentionsUnit(factor));
  if (numbers.length === factors.length)
    return numbers.reduceRight((rest, factor) => beside(factor, rest, strict));
  const number =
    numbers.length === 0 ? [] : [numbers.reduceRight((rest, factor) => beside(factor, rest, strict))];
  return s.product([...number, ...factors.filter(mentionsUnit)]);
}

/** 2 1/3 is a sum, everything else side by side is a product. */
function beside(left: Expr, right: Expr, strict: boolean): Expr {
  if (
    s.isWhole(left) &&
    right.kind === "number" &&
    right.form !== "decimal" &&
    compare(right.value, ZERO) > 0
  ) {
    const proper = !isInteger(right.value) && compare(right.value, ONE) < 0;
    if (proper || !strict) {
      const join = compare(left.value, ZERO) < 0 ? subtract : add;
      return s.exact(join(left.value, right.value));
    }
  }
  return s.product([left, right]);
}

/** A unit after a/b applies to the whole fraction: 5/8 cm is not five eighths of 1/cm. */
export function divided(a: Expr, b: Expr): Expr {
  const factors = b.kind === "product" && !mentionsUnit(a) ? b.factors : [b];
  const [units, others] = [factors.filter(mentionsUnit), factors.filter((factor) => !mentionsUnit(factor))];
  if (units.length === 0 || others.length === 0) return s.quotient(a, b);
  return s.product([s.quotient(a, s.product(others)), ...units]);
}

/** A unit after a tuple, an interval or a set applies to each of its items. */
export function each(list: Value, unit: Expr): Value {
  const times = (item: Value): Value => (s.isExpr(item) ? s.product([item, unit]) : item);
  if (list.kind === "tuple" || list.kind === "set") return { ...list, items: list.items.map(times) };
  if (list.kind !== "interval") return list;
  return { ...list, left: s.product([list.left, unit]), right: s.product([list.right, unit]) };
}
