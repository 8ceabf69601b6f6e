/** Python's operators. Each operator throws TemplateFault with Python's message if the operands have the wrong types. */
import { formatPercent } from "./formatting.ts";
import { expectCharacters, expectItems } from "./limits.ts";
import type { BinaryOperator, CompareOperator } from "./syntax.ts";
import {
  compare,
  equals,
  floating,
  isFloat,
  isInteger,
  isNumber,
  iterate,
  numeric,
  str,
  TemplateFault,
  Tuple,
  tupleOf,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

/** Most characters or items that one operation may create. */
const MOST_REPEATED = 1 << 24;

/** All operators but `and` and `or`, which may skip their right side. */
export function binary(operator: Exclude<BinaryOperator, "and" | "or">, left: Value, right: Value): Value {
  if (operator === "~") return added(str(left), str(right));
  for (const side of [left, right]) if (side instanceof Undefined) throw new TemplateFault(side.why);
  if (operator === "%" && typeof left === "string") return formatPercent(left, right);
  if (operator === "*") {
    if (repeats(left, right)) return repeated(left, right);
    if (repeats(right, left)) return repeated(right, left);
  }
  if (operator === "+") {
    if (typeof left === "string" && typeof right === "string") return added(left, right);
    if (Array.isArray(left) && Array.isArray(right) && left instanceof Tuple === right instanceof Tuple) {
      expectItems(left.length + right.length);
      return left instanceof Tuple ? tupleOf([...left, ...right]) : [...left, ...right];
    }
  }
  if (isNumber(left) && isNumber(right)) return arithmetic(operator, left, right);
  throw new TemplateFault(mismatch(operator, left, right));
}

function added(left: string, right: string): string {
  expectCharacters(left.length + right.length);
  return left + right;
}

function mismatch(operator: string, left: Value, right: Value): string {
  if (operator === "+" && (typeof left === "string" || Array.isArray(left))) {
    const kind = typeName(left);
    return `can only concatenate ${kind} (not "${typeName(right)}") to ${kind}`;
  }
  const sign = operator === "**" ? "** or pow()" : operator;
  return `unsupported operand type(s) for ${sign}: '${typeName(left)}' and '${typeName(right)}'`;
}

type Numeric = Parameters<typeof numeric>[0];

function arithmetic(operator: string, left: Numeric, right: Numeric): Value {
  const [a, b] = [numeric(left), numeric(right)];
  const make = isFloat(left) || isFloat(right) ? floating : (n: number) => n;
  if (b === 0 && ["/", "//", "%"].includes(operator))
    throw new TemplateFault(zeroText(operator, make === floating));
  switch (operator) {
    case "+":
      return make(a + b);
    case "-":
      return make(a - b);
    case "*":
      return make(a * b);
    case "/":
      return floating(a / b);
    case "//":
      return make(Math.floor(a / b));
    case "%":
      return make(a - b * Math.floor(a / b));
    default:
      return b < 0 ? floating(a ** b) : make(a ** b);
  }
}

function zeroText(operator: string, isFloatOperation: boolean): string {
  if (operator === "/") return isFloatOperation ? "float division by zero" : "division by zero";
  return operator === "%"
    ? `${isFloatOperation ? "float" : "integer"} modulo by zero`
    : "integer division or modulo by zero";
}

const repeats = (what: Value, times: Value): what is string | Value[] =>
  (typeof what === "string" || Array.isArray(what)) && (isInteger(times) || typeof times === "boolean");

function repeated(what: string | Value[], times: Value): Value {
  const n = Math.max(0, Number(times));
  if (n * what.length > MOST_REPEATED)
    throw new TemplateFault(`a repetition of ${n * what.length} is too long`);
  if (typeof what === "string") return what.repeat(n);
  expectItems(n * what.length);
  const all = Array.from({ length: n }, () => [...what]).flat();
  return what instanceof Tuple ? tupleOf(all) : all;
}

export function compares(operator: CompareOperator, left: Value, right: Value): boolean {
  switch (operator) {
    case "==":
      return equals(left, right);
    case "!=":
      return !equals(left, right);
    case "in":
      return contains(right, left);
    case "not in":
      return !contains(right, left);
    default: {
      const order = compare(left, right, operator);
      return operator === "<"
        ? order < 0
        : operator === ">"
          ? order > 0
          : operator === "<="
            ? order <= 0
            : order >= 0;
    }
  }
}

function contains(container: Value, item: Value): boolean {
  if (typeof container === "string") {
    if (typeof item === "string") return container.includes(item);
    throw new TemplateFault(`'in <string>' requires string as left operand, not ${typeName(item)}`);
  }
  if (container instanceof Map || Array.isArray(container) || container instanceof Undefined) {
    return iterate(container).some((each) => equals(each, item));
  }
  throw new TemplateFault(`argument of type '${typeName(container)}' is not iterable`);
}

/** -x and +x. */
export function signed(operator: "-" | "+", v: Value): Value {
  if (v instanceof Undefined) throw new TemplateFault(v.why);
  if (!isNumber(v)) throw new TemplateFault(`bad operand type for unary ${operator}: '${typeName(v)}'`);
  const n = operator === "-" ? -numeric(v) : numeric(v);
  return isFloat(v) ? floating(n) : n + 0;
}

/** x[first:last:step] of a string (by code points), list or tuple. */
export function slice(v: Value, bounds: readonly (Value | undefined)[]): Value {
  if (v instanceof Undefined) throw new TemplateFault(v.why);
  if (typeof v !== "string" && !Array.isArray(v))
    throw new TemplateFault(`'${typeName(v)}' object is not subscriptable`);
  const [first, last, step = 1] = bounds.map((bound) => {
    if (bound === undefined || bound === null) return undefined;
    if (isInteger(bound) || typeof bound === "boolean") return Number(bound);
    throw new TemplateFault("slice indices must be integers or None or have an __index__ method");
  });
  if (step === 0) throw new TemplateFault("slice step cannot be zero");
  const all = iterate(v);
  const kept = sliceIndices(all.length, first, last, step).map((i) => all[i]!);
  return typeof v === "string" ? kept.join("") : v instanceof Tuple ? tupleOf(kept) : kept;
}

function sliceIndices(
  size: number,
  first: number | undefined,
  last: number | undefined,
  step: number,
): number[] {
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1];
  const bound = (at: number) => Math.min(high, Math.max(low, at < 0 ? at + size : at));
  const begin = first === undefined ? (step > 0 ? low : high) : bound(first);
  const end = last === undefined ? (step > 0 ? high : low) : bound(last);
  const count = Math.max(0, Math.ceil((end - begin) / step));
  return Array.from({ length: count }, (_, i) => begin + i * step);
}
