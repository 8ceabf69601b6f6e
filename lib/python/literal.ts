import {
  bare,
  children,
  type Expression,
  type Fault,
  MAX_DEPTH,
  type Node,
  readExpression,
  textOf,
} from "./syntax.ts";
import { readNumber, readString } from "./tokens.ts";
import { bool, dict, NONE, type PythonValue, set } from "./value.ts";

/**
 * The value of a text that is one Python literal, or why it is not one: accepts the same as `ast.literal_eval`,
 * without evaluation. Numbers with at most one sign, `1+2j`, strings (also adjacent ones), bytes, None, True, False,
 * `...`, lists, tuples with or without parentheses, dicts, sets, `set()`; trailing commas and comments. Refuses
 * names, calls, f-strings, `*x`, unhashable dict keys, `\N{...}` escapes.
 * Bounded: 100,000 characters, 200 levels; never throws for a text.
 */
export function readLiteral(text: string): { readonly value: PythonValue } | Fault {
  const expression = readExpression(text.replace(/^[ \t]+/, ""));
  if ("fault" in expression) return expression;
  const value = literalValue(expression, expression.node);
  return value === undefined ? { fault: "not a literal" } : { value };
}

/** Value of one atom (number, string, constant, without sign), or undefined for any other node. */
export function atomValue({ source }: Expression, node: Node): PythonValue | undefined {
  const text = textOf(source, node);
  switch (node.name) {
    case "Number":
      return readNumber(text);
    case "String":
      return readString(text);
    case "ContinuedString":
      return concatenated(source, node);
    case "Boolean":
      return bool(text === "True");
    case "None":
      return NONE;
    case "Ellipsis":
      return { type: "ellipsis" };
    default:
      return undefined;
  }
}

function concatenated(source: string, node: Node): PythonValue | undefined {
  const parts = children(node).map((part) => readString(textOf(source, part)));
  const type = parts[0]?.type;
  if (type !== "str" && type !== "bytes") return undefined;
  let value = "";
  for (const part of parts) {
    if (part?.type !== type) return undefined;
    value += part.value;
  }
  return { type, value };
}

/** The elements of a display, without brackets and commas; the star of an unpacking counts as one. */
export function elements(node: Node): Node[] {
  return children(node)
    .filter(({ name }) => !/^[()[\]{},:]$/.test(name))
    .map(bare);
}

/** Key and value nodes of a dict display; of an unpacking (`**x`) the key is its stars. */
export function dictItems(node: Node): [key: Node, value: Node][] {
  const nodes = elements(node);
  return Array.from({ length: nodes.length / 2 }, (_, i) => [nodes[2 * i]!, nodes[2 * i + 1]!]);
}

function literalValue(expression: Expression, node: Node, depth = 0): PythonValue | undefined {
  if (depth > MAX_DEPTH) return undefined;
  switch (node.name) {
    case "ExpressionStatement":
    case "TupleExpression":
    case "ArrayExpression":
    case "SetExpression":
      return sequence(expression, node, depth);
    case "DictionaryExpression":
      return dictionary(expression, node, depth);
    case "UnaryExpression":
      return signed(expression, node);
    case "BinaryExpression":
      return complexSum(expression, node);
    case "CallExpression":
      return isEmptySet(expression, node) ? set([]) : undefined;
    default:
      return atomValue(expression, node);
  }
}

function isEmptySet({ source }: Expression, node: Node): boolean {
  const [name, argumentList] = children(node);
  return textOf(source, name!) === "set" && children(argumentList!).length === 2;
}

function sequence(expression: Expression, node: Node, depth: number): PythonValue | undefined {
  const items: PythonValue[] = [];
  for (const element of elements(node)) {
    const item = literalValue(expression, element, depth + 1);
    if (item === undefined) return undefined;
    items.push(item);
  }
  if (node.name === "SetExpression") return set(items);
  return { type: node.name === "ArrayExpression" ? "list" : "tuple", items };
}

function dictionary(expression: Expression, node: Node, depth: number): PythonValue | undefined {
  const entries: [PythonValue, PythonValue][] = [];
  for (const [keyNode, valueNode] of dictItems(node)) {
    const key = literalValue(expression, keyNode, depth + 1);
    const value = key && literalValue(expression, valueNode, depth + 1);
    if (key === undefined || value === undefined) return undefined;
    entries.push([key, value]);
  }
  return dict(entries);
}

/** `-1`, `+1.5`: one sign and a number. */
function signed(expression: Expression, node: Node): PythonValue | undefined {
  const [operator, operand] = children(node);
  const sign = textOf(expression.source, operator!);
  const value = atomValue(expression, bare(operand!));
  return value && (sign === "-" || sign === "+") ? withSign(value, sign) : undefined;
}

function withSign(value: PythonValue, sign: "+" | "-"): PythonValue | undefined {
  if (value.type !== "int" && value.type !== "float" && value.type !== "complex") return undefined;
  return sign === "+" ? value : negated(value);
}

/** Python's unary minus on a number; undefined for anything else. True is 1. */
export function negated(value: PythonValue): PythonValue | undefined {
  switch (value.type) {
    case "bool":
      return { type: "int", value: value.value ? -1n : 0n };
    case "int":
      return { type: "int", value: -value.value };
    case "float":
      return { type: "float", value: -value.value };
    case "complex":
      return { type: "complex", real: -value.real, imaginary: -value.imaginary };
    default:
      return undefined;
  }
}

/** `1+2j`, `-1.5-2j`: a real number with or without sign, plus or minus an imaginary one. */
function complexSum(expression: Expression, node: Node): PythonValue | undefined {
  const [left, operator, right] = children(node).map(bare) as [Node, Node, Node];
  const sign = textOf(expression.source, operator);
  const real = left.name === "UnaryExpression" ? signed(expression, left) : atomValue(expression, left);
  const imaginary = atomValue(expression, right);
  if (imaginary?.type !== "complex" || (sign !== "+" && sign !== "-")) return undefined;
  if (real?.type !== "int" && real?.type !== "float") return undefined;
  const part = sign === "+" ? imaginary.imaginary : -imaginary.imaginary;
  return { type: "complex", real: Number(real.value), imaginary: part };
}
