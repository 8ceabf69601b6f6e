import { textRepr } from "./spelling.ts";
import { children, type Expression, type Node, textOf } from "./syntax.ts";
import { readString } from "./tokens.ts";

/** Longer source texts are cut: they are compared with short gold texts only. */
const MAX_TEXT = 10_000;
/** Nodes copied verbatim, without visiting their children. */
const WHOLE = new Set([
  "Number",
  "VariableName",
  "PropertyName",
  "Boolean",
  "None",
  "Ellipsis",
  "FormatString",
]);

/**
 * The canonical spelling of an expression, regardless of line breaks, spaces and quotes: `f( 1,2 )` as `f(1, 2)`,
 * strings with single quotes. Similar to `ast.unparse`, but keeps redundant parentheses.
 */
export function sourceText(expression: Expression, node: Node): string {
  const parts: string[] = [];
  write(expression, node, parts);
  return parts.join("").slice(0, MAX_TEXT);
}

function write(expression: Expression, root: Node, parts: string[]): void {
  const stack: Node[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const inner = WHOLE.has(node.name) ? [] : children(node);
    if (node.name === "String" || inner.length === 0) parts.push(leaf(expression, node));
    else stack.push(...inner.reverse());
  }
}

function leaf({ source }: Expression, node: Node): string {
  const text = textOf(source, node);
  switch (node.name) {
    case ",":
      return comma(node);
    case ":":
      return node.parent?.name === "DictionaryExpression" ? ": " : ":";
    case "String":
      return stringText(text);
    case "AssignOp":
      return "=";
    case "ArithOp":
    case "BitOp":
    case "CompareOp":
    case "and":
    case "or":
    case "in":
      return node.parent?.name === "UnaryExpression" ? text : ` ${text} `;
    default:
      return text;
  }
}

/** The text of a comma: `[1, 2,]` becomes `[1, 2]`, but a one-element tuple keeps its comma. */
function comma(node: Node): string {
  if (!/^[\])}]$/.test(node.nextSibling?.name ?? "")) return ", ";
  const isOne = node.parent?.name === "TupleExpression" && node.prevSibling?.prevSibling?.name === "(";
  return isOne ? "," : "";
}

/** A string literal as repr() writes it; bytes and other texts unchanged. */
function stringText(text: string): string {
  const value = readString(text);
  return value?.type === "str" ? textRepr(value.value) : text;
}
