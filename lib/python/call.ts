import { atomValue, dictItems, elements, negated } from "./literal.ts";
import { evaluateOperation } from "./operation.ts";
import { bare, children, type Expression, MAX_DEPTH, type Node, readExpression, textOf } from "./syntax.ts";
import { sourceText } from "./unparse.ts";
import { dict, type PythonValue, str } from "./value.ts";

/** One parsed call. */
export interface PythonCall {
  /** Dotted, "g.h". */
  readonly name: string;
  /** Keyword arguments, the last of equal ones; `**x` has the keyword "**". */
  readonly keywords: ReadonlyMap<string, PythonValue>;
  /** Arguments without a keyword; they are not read. */
  readonly positional: number;
}

/**
 * The calls of a text that is one call, or a list or tuple of calls: `[f(a=1), g.h(b=[1, 2])]`; undefined for
 * anything else. Values are literals; besides, a name is its text, `-x` and arithmetic of literals are evaluated, a
 * call without keywords and a subscript are their source text, a call with keywords is {name: {keyword: value}},
 * `...` is "...". Lambdas, comprehensions, comparisons, attributes, f-strings, sets and unpackings are refused.
 * Source: BFCL v4, decoding of prompted models (language Python).
 */
export function readCalls(text: string): readonly PythonCall[] | undefined {
  const expression = readExpression(text);
  if ("fault" in expression) return undefined;
  const { node } = expression;
  const isList = ["ArrayExpression", "TupleExpression", "ExpressionStatement"].includes(node.name);
  const calls: PythonCall[] = [];
  for (const item of isList ? elements(node) : [node]) {
    const call = item.name === "CallExpression" ? readCall(expression, item, 0) : undefined;
    if (call === undefined) return undefined;
    calls.push(call);
  }
  return calls;
}

interface Argument {
  readonly keyword: string | undefined;
  readonly value: Node;
}

function readCall(expression: Expression, node: Node, depth: number): PythonCall | undefined {
  const [callee, argumentList] = children(node) as [Node, Node];
  const given = readArguments(expression, argumentList);
  if (given === undefined) return undefined;
  const keywords = new Map<string, PythonValue>();
  for (const { keyword, value } of given) {
    if (keyword === undefined) continue;
    const resolved = resolve(expression, value, depth + 1);
    if (resolved === undefined) return undefined;
    keywords.set(keyword, resolved);
  }
  const positional = given.filter(({ keyword }) => keyword === undefined).length;
  return { name: calleeName(expression, callee), keywords, positional };
}

/** The dotted name of a callee, "a.b.c"; parts that are not names, such as the call in `f()()`, are left out. */
function calleeName({ source }: Expression, callee: Node): string {
  const parts: string[] = [];
  let node = bare(callee);
  for (; node.name === "MemberExpression"; node = bare(node.firstChild!)) {
    if (node.lastChild!.name !== "PropertyName") break;
    parts.unshift(textOf(source, node.lastChild!));
  }
  if (node.name === "VariableName") parts.unshift(textOf(source, node));
  return parts.join(".").normalize("NFKC");
}

/** Undefined for syntax errors of Python that the grammar accepts: `f(a=1, 2)`, `f(x for x in y, 1)`. */
function readArguments({ source }: Expression, argumentList: Node): Argument[] | undefined {
  const found: Argument[] = [];
  let part: Node[] = [];
  let lastKeyword = "";
  for (const child of children(argumentList).slice(1)) {
    if (child.name !== "," && child.name !== ")") {
      part.push(child);
      continue;
    }
    if (part.length === 0) continue;
    const value = part.at(-1)!;
    const [first, second] = part as [Node, Node?];
    const keyword =
      second?.name === "AssignOp" ? textOf(source, first) : first.name === "**" ? "**" : undefined;
    const starred = first.name === "*";
    if (keyword === undefined && (starred ? lastKeyword === "**" : lastKeyword !== "")) return undefined;
    if (part.length > 3 && child.name === ",") return undefined;
    lastKeyword = keyword === "**" || lastKeyword === "**" ? "**" : (keyword ?? lastKeyword);
    found.push({ keyword, value: bare(value) });
    part = [];
  }
  return found;
}

function resolve(expression: Expression, node: Node, depth: number): PythonValue | undefined {
  if (depth > MAX_DEPTH) return undefined;
  switch (node.name) {
    case "ArrayExpression":
    case "TupleExpression": {
      const items = resolveAll(expression, elements(node), depth);
      return items && { type: node.name === "ArrayExpression" ? "list" : "tuple", items };
    }
    case "DictionaryExpression":
      return resolveDict(expression, node, depth);
    case "UnaryExpression":
      return negatedAtom(expression, node);
    case "BinaryExpression":
      return evaluateOperation(expression, node);
    case "VariableName":
      return str(textOf(expression.source, node).normalize("NFKC"));
    case "CallExpression":
      return resolveCall(expression, node, depth);
    case "MemberExpression":
      return node.lastChild!.name === "PropertyName" ? undefined : str(sourceText(expression, node));
    default: {
      const value = atomValue(expression, node);
      return value?.type === "ellipsis" ? str("...") : value;
    }
  }
}

function resolveAll(
  expression: Expression,
  nodes: readonly Node[],
  depth: number,
): PythonValue[] | undefined {
  const items: PythonValue[] = [];
  for (const node of nodes) {
    const item = resolve(expression, node, depth + 1);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

function resolveDict(expression: Expression, node: Node, depth: number): PythonValue | undefined {
  const entries: [PythonValue, PythonValue][] = [];
  for (const pair of dictItems(node)) {
    const [key, value] = resolveAll(expression, pair, depth) ?? [];
    if (key === undefined || value === undefined) return undefined;
    entries.push([key, value]);
  }
  return dict(entries);
}

/** Any operator before an atom negates it: the reference looks at the operand alone. */
function negatedAtom(expression: Expression, node: Node): PythonValue | undefined {
  const operand = atomValue(expression, bare(children(node)[1]!));
  return operand && negated(operand);
}

function resolveCall(expression: Expression, node: Node, depth: number): PythonValue | undefined {
  const given = readArguments(expression, children(node)[1]!);
  if (given === undefined) return undefined;
  if (given.every(({ keyword }) => keyword === undefined)) return str(sourceText(expression, node));
  const call = readCall(expression, node, depth);
  if (call === undefined) return undefined;
  const keywords = [...call.keywords].map(([keyword, value]) => [str(keyword), value] as const);
  return dict([[str(call.name), dict(keywords)!]]);
}
