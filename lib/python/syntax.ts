import { createRequire } from "node:module";
import type { parser as pythonParser } from "@lezer/python";

/** Brackets nest at most this deep, as in CPython's tokenizer. */
export const MAX_DEPTH = 200;
/** Longer texts are not read. Parsing takes about 0.3 ms per 1,000 characters. */
export const MAX_CHARS = 100_000;

export type Tree = ReturnType<typeof pythonParser.parse>;
export type Node = Tree["topNode"];

/** One expression and the text that its nodes refer to (which may differ from the input: see `readExpression`). */
export interface Expression {
  readonly source: string;
  /** The expression itself, without enclosing parentheses; a tuple without parentheses is the statement node. */
  readonly node: Node;
}

export interface Fault {
  /** A short description of the fault, for a verdict's reason. */
  readonly fault: string;
}

let strictParser: typeof pythonParser | undefined;

/** Loads the grammar, which the first expression would do otherwise. A few milliseconds. */
export function loadGrammar(): typeof pythonParser {
  if (strictParser === undefined) {
    const { parser } = createRequire(import.meta.url)("@lezer/python") as { parser: typeof pythonParser };
    strictParser = parser.configure({ strict: true });
  }
  return strictParser;
}

/**
 * The single expression of a text, as in `ast.parse(text, mode="eval")`, or why there is none. Any error recovery of
 * the grammar counts as a fault. Bounds length, bracket depth and the grammar's own stack.
 */
export function readExpression(text: string): Expression | Fault {
  if (text.length > MAX_CHARS) return { fault: `longer than ${MAX_CHARS} characters` };
  if (text.includes("\0")) return { fault: "null character" };
  const source = text.replace(/\r\n?/g, "\n");
  if (source.endsWith("\\\n")) return { fault: "unexpected end" };
  if (/^[\s#]/.test(source) && isIndented(source)) return { fault: "unexpected indent" };
  return (
    parse(/\d\.(?!\d)/.test(source) ? completeFloats(source) : source) ?? { fault: "not a Python expression" }
  );
}

/** True if the first non-blank line is indented; the grammar would treat that as a margin. */
function isIndented(source: string): boolean {
  const first = source.split("\n").find((line) => !/^\s*(?:#|$)/.test(line));
  return first !== undefined && /^[ \t]/.test(first);
}

function parse(source: string): Expression | undefined {
  let tree: Tree;
  try {
    tree = loadGrammar().parse(source);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const statements = children(tree.topNode);
  const only = statements[0];
  if (statements.length !== 1 || only?.name !== "ExpressionStatement") return undefined;
  const parts = children(only);
  return { source, node: parts.length === 1 ? bare(parts[0]!) : only };
}

/** Child nodes, comments left out. */
export function children(node: Node): Node[] {
  const found: Node[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.name !== "Comment") found.push(child);
  }
  return found;
}

/** The node inside any number of parentheses that only group. */
export function bare(node: Node): Node {
  let inner = node;
  while (inner.name === "ParenthesizedExpression") inner = children(inner)[1]!;
  return inner;
}

export const textOf = (source: string, node: Node): string => source.slice(node.from, node.to);

/** Every alternative of a string ends at the end of the text at the latest, so that no start is scanned twice. */
const STRINGS_AND_POINTS =
  /#[^\n]*|'''(?:[^\\]|\\[\s\S]?)*?(?:'''|$)|"""(?:[^\\]|\\[\s\S]?)*?(?:"""|$)|'(?:[^\\'\n]|\\[\s\S]?)*'?|"(?:[^\\"\n]|\\[\s\S]?)*"?|[\p{L}_][\p{L}\p{N}_]*|\d[\d_]*((?:\.(?![\d._]))?)/gu;

/** `1.` as `1.0` outside strings and comments: the grammar knows no float that ends with its point. */
function completeFloats(source: string): string {
  return source.replace(STRINGS_AND_POINTS, (found, point?: string) => (point ? `${found}0` : found));
}
