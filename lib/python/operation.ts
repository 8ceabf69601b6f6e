import { atomValue, elements, negated } from "./literal.ts";
import { bare, children, type Expression, MAX_DEPTH, type Node, textOf } from "./syntax.ts";
import { float, int, list, type PythonValue, str } from "./value.ts";

/** Largest results of an operation; larger ones are refused, since a few characters can ask for gigabytes. */
const MAX_BITS = 4096n;
const MAX_LENGTH = 10_000;

/**
 * The value of arithmetic on literals as Python computes it, or undefined: `2*3`, `10**2`, `7/2`, `7//-2`, `1<<3`,
 * `"a" + "b"`, `[0]*3`, and signs. Names, calls, comparisons, division by zero and huge results are refused.
 */
export function evaluateOperation(expression: Expression, node: Node, depth = 0): PythonValue | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const evaluate = (part: Node) => evaluateOperation(expression, bare(part), depth + 1);
  switch (node.name) {
    case "BinaryExpression": {
      const [left, operator, right] = children(node) as [Node, Node, Node];
      const a = evaluate(left);
      const b = a && evaluate(right);
      return a && b && operate(textOf(expression.source, operator), a, b);
    }
    case "UnaryExpression": {
      const [operator, operand] = children(node) as [Node, Node];
      const value = evaluate(operand);
      return value && signed(textOf(expression.source, operator), value);
    }
    case "ArrayExpression":
    case "TupleExpression": {
      const items = elements(node).map(evaluate);
      if (items.includes(undefined)) return undefined;
      return { type: node.name === "ArrayExpression" ? "list" : "tuple", items: items as PythonValue[] };
    }
    default:
      return atomValue(expression, node);
  }
}

function signed(operator: string, value: PythonValue): PythonValue | undefined {
  if (operator === "-") return negated(value);
  const number = asNumber(value);
  if (operator === "+") return number;
  return operator === "~" && number?.type === "int" ? int(~number.value) : undefined;
}

type Real = Extract<PythonValue, { type: "int" | "float" }>;

/** A bool as its int; undefined if the value is no real number. */
function asNumber(value: PythonValue): Real | undefined {
  if (value.type === "bool") return { type: "int", value: value.value ? 1n : 0n };
  return value.type === "int" || value.type === "float" ? value : undefined;
}

function operate(operator: string, a: PythonValue, b: PythonValue): PythonValue | undefined {
  const [x, y] = [asNumber(a), asNumber(b)];
  if (x && y) {
    if (x.type === "int" && y.type === "int" && operator !== "/")
      return onIntegers(operator, x.value, y.value);
    const result = onFloats(operator, Number(x.value), Number(y.value));
    return result === undefined || !Number.isFinite(result) ? undefined : float(result);
  }
  if (operator === "+") return joined(a, b);
  if (operator !== "*") return undefined;
  if (x?.type === "int") return repeated(b, x.value);
  return y?.type === "int" ? repeated(a, y.value) : undefined;
}

function onIntegers(operator: string, x: bigint, y: bigint): PythonValue | undefined {
  const size = (n: bigint) => BigInt(n.toString(2).length);
  switch (operator) {
    case "+":
      return int(x + y);
    case "-":
      return int(x - y);
    case "*":
      return size(x) + size(y) > MAX_BITS ? undefined : int(x * y);
    case "//":
      return y === 0n ? undefined : int((x - modulo(x, y)) / y);
    case "%":
      return y === 0n ? undefined : int(modulo(x, y));
    case "**":
      if (y < 0n) return x === 0n ? undefined : float(Number(x) ** Number(y));
      return y > MAX_BITS || size(x) * y > MAX_BITS ? undefined : int(x ** y);
    case "<<":
      return y < 0n || y > MAX_BITS ? undefined : int(x << y);
    case ">>":
      return y < 0n ? undefined : int(x >> (y > MAX_BITS ? MAX_BITS : y));
    case "&":
      return int(x & y);
    case "|":
      return int(x | y);
    case "^":
      return int(x ^ y);
    default:
      return undefined;
  }
}

/** Remainder with the sign of the divisor, as in Python. */
function modulo(x: bigint, y: bigint): bigint {
  const rest = x % y;
  return rest !== 0n && rest < 0n !== y < 0n ? rest + y : rest;
}

function onFloats(operator: string, x: number, y: number): number | undefined {
  switch (operator) {
    case "+":
      return x + y;
    case "-":
      return x - y;
    case "*":
      return x * y;
    case "/":
      return x / y;
    case "**":
      return x ** y;
    case "//":
      return Math.floor(x / y);
    case "%":
      return x - y * Math.floor(x / y);
    default:
      return undefined;
  }
}

function joined(a: PythonValue, b: PythonValue): PythonValue | undefined {
  if (a.type === "str" && b.type === "str") return str(a.value + b.value);
  if ((a.type === "list" || a.type === "tuple") && a.type === b.type)
    return { type: a.type, items: [...a.items, ...b.items] };
  return undefined;
}

function repeated(value: PythonValue, times: bigint): PythonValue | undefined {
  const count = times < 0n ? 0 : Number(times);
  if (value.type === "str")
    return value.value.length * count > MAX_LENGTH ? undefined : str(value.value.repeat(count));
  if (value.type !== "list" && value.type !== "tuple") return undefined;
  if (value.items.length * count > MAX_LENGTH) return undefined;
  const items = Array.from({ length: count }, () => value.items).flat();
  return value.type === "list" ? list(items) : { type: "tuple", items };
}
