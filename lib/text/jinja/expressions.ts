/** Reads expressions, by Jinja's order of operators. Source: jinja2/parser.py of Jinja 3.1. */
import type { BinaryOperator, CompareOperator, Expression, Given } from "./syntax.ts";
import type { TokenReader } from "./token-reader.ts";

const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["none", null],
  ["None", null],
]);
const COMPARISONS = ["==", "!=", "<", ">", "<=", ">="] as const;
/**
 * Binary operators that are left-associative, the loosest first. "or", "and", "not" and the comparisons bind
 * looser still.
 */
const LEVELS: readonly (readonly BinaryOperator[])[] = [["+", "-"], ["~"], ["*", "/", "//", "%"], ["**"]];

/** An expression with "a if b else c"; without the conditional (in the head of a loop) if `condition` is false. */
export function expression(tokens: TokenReader, condition = true): Expression {
  if (!condition) return disjunction(tokens);
  const { line } = tokens;
  let value = disjunction(tokens);
  while (tokens.take("name", "if")) {
    const test = disjunction(tokens);
    const otherwise = tokens.take("name", "else") ? expression(tokens) : undefined;
    value = { type: "Condition", line, test, value, otherwise };
  }
  return value;
}

/** One expression, or several separated by commas as a tuple. `ends` tells where no further one can follow. */
export function expressions(tokens: TokenReader, ends: () => boolean, condition = true): Expression {
  const { line } = tokens;
  const items: Expression[] = [];
  let commas = false;
  while (!ends()) {
    items.push(expression(tokens, condition));
    if (!tokens.take("operator", ",")) break;
    commas = true;
  }
  if (items.length === 1 && !commas) return items[0]!;
  if (items.length === 0) return tokens.fail(`an expression is missing before ${tokens.described()}`);
  return { type: "Tuple", line, items };
}

function disjunction(tokens: TokenReader): Expression {
  return chain(tokens, "or", () => chain(tokens, "and", () => negation(tokens)));
}

function chain(tokens: TokenReader, word: "or" | "and", part: () => Expression): Expression {
  const { line } = tokens;
  let left = part();
  while (tokens.take("name", word)) left = { type: "Binary", line, operator: word, left, right: part() };
  return left;
}

function negation(tokens: TokenReader): Expression {
  const { line } = tokens;
  if (!tokens.take("name", "not")) return comparison(tokens);
  return { type: "Unary", line, operator: "not", node: negation(tokens) };
}

function comparison(tokens: TokenReader): Expression {
  const { line } = tokens;
  const first = level(tokens, 0);
  const rest: [CompareOperator, Expression][] = [];
  for (let operator = comparator(tokens); operator !== undefined; operator = comparator(tokens)) {
    rest.push([operator, level(tokens, 0)]);
  }
  return rest.length === 0 ? first : { type: "Compare", line, first, rest };
}

function comparator(tokens: TokenReader): CompareOperator | undefined {
  const sign = COMPARISONS.find((each) => tokens.take("operator", each));
  if (sign !== undefined) return sign;
  if (tokens.take("name", "in")) return "in";
  const { following } = tokens;
  if (!tokens.is("name", "not") || following.kind !== "name" || following.value !== "in") return undefined;
  tokens.next();
  tokens.next();
  return "not in";
}

function level(tokens: TokenReader, depth: number): Expression {
  const operators = LEVELS[depth];
  if (operators === undefined) return unary(tokens, true);
  const { line } = tokens;
  let left = level(tokens, depth + 1);
  for (;;) {
    const operator = operators.find((each) => tokens.take("operator", each));
    if (operator === undefined) return left;
    left = { type: "Binary", line, operator, left, right: level(tokens, depth + 1) };
  }
}

/** A sign binds tighter than filters: -1|abs is (-1)|abs. */
function unary(tokens: TokenReader, filters: boolean): Expression {
  const { line } = tokens;
  const operator = (["-", "+"] as const).find((each) => tokens.take("operator", each));
  let node: Expression =
    operator === undefined
      ? postfix(tokens, primary(tokens))
      : { type: "Unary", line, operator, node: unary(tokens, false) };
  if (operator !== undefined) node = postfix(tokens, node);
  return filters ? filtered(tokens, node) : node;
}

function primary(tokens: TokenReader): Expression {
  const { line } = tokens;
  const token = tokens.current;
  switch (token.kind) {
    case "name": {
      tokens.next();
      const constant = CONSTANTS.get(token.value);
      return constant === undefined
        ? { type: "Name", line, name: token.value }
        : { type: "Const", line, value: constant };
    }
    case "string": {
      let value = "";
      while (tokens.is("string")) value += tokens.next().value;
      return { type: "Const", line, value };
    }
    case "integer":
      return { type: "Const", line, value: Number(tokens.next().value) };
    case "float":
      return { type: "FloatConst", line, value: Number(tokens.next().value) };
    default:
      return bracketed(tokens);
  }
}

function bracketed(tokens: TokenReader): Expression {
  const { line } = tokens;
  if (tokens.take("operator", "(")) {
    const close = () => tokens.is("operator", ")");
    const inside: Expression = close() ? { type: "Tuple", line, items: [] } : expressions(tokens, close);
    tokens.expect("operator", ")");
    return inside;
  }
  if (tokens.take("operator", "[")) {
    return { type: "List", line, items: separated(tokens, "]", () => expression(tokens)) };
  }
  if (tokens.take("operator", "{")) {
    const pairs = separated(tokens, "}", () => {
      const key = expression(tokens);
      tokens.expect("operator", ":");
      return [key, expression(tokens)] as const;
    });
    return { type: "Dict", line, pairs };
  }
  return tokens.fail(`unexpected ${tokens.described()}`);
}

/** Reads parts separated by commas, up to and including the closing bracket. */
function separated<T>(tokens: TokenReader, close: string, part: () => T): T[] {
  const parts: T[] = [];
  while (!tokens.take("operator", close)) {
    if (parts.length > 0) {
      tokens.expect("operator", ",");
      if (tokens.take("operator", close)) break;
    }
    parts.push(part());
  }
  return parts;
}

function postfix(tokens: TokenReader, start: Expression): Expression {
  let node = start;
  for (;;) {
    const { line } = tokens;
    if (tokens.take("operator", ".")) node = member(tokens, node, line);
    else if (tokens.take("operator", "[")) node = subscript(tokens, node, line);
    else if (tokens.take("operator", "(")) node = { type: "Call", line, callee: node, given: given(tokens) };
    else return node;
  }
}

function member(tokens: TokenReader, object: Expression, line: number): Expression {
  if (tokens.is("name")) return { type: "Attribute", line, object, name: tokens.next().value };
  const key = tokens.expect("integer");
  return { type: "Item", line, object, key: { type: "Const", line, value: Number(key.value) } };
}

function subscript(tokens: TokenReader, object: Expression, line: number): Expression {
  const ends = () => tokens.is("operator", "]", ":");
  const bounds: (Expression | undefined)[] = [ends() ? undefined : expressions(tokens, ends)];
  while (tokens.take("operator", ":")) bounds.push(ends() ? undefined : expression(tokens));
  tokens.expect("operator", "]");
  if (bounds.length > 3) tokens.fail("a slice has three parts at most", line);
  const [first, second, third] = bounds;
  if (bounds.length > 1) return { type: "Slice", line, object, bounds: [first, second, third] as never };
  return first === undefined
    ? tokens.fail("an index is missing", line)
    : { type: "Item", line, object, key: first };
}

function filtered(tokens: TokenReader, start: Expression): Expression {
  let node = start;
  for (;;) {
    if (tokens.is("operator", "|")) node = filters(tokens, node);
    else if (tokens.is("name", "is")) node = test(tokens, node);
    else if (tokens.is("operator", "(")) node = postfix(tokens, node);
    else return node;
  }
}

/** Reads filters `|name(...)|name`; without the first bar at the head of a filter block. */
export function filters(
  tokens: TokenReader,
  start: Expression | undefined,
  inline = start !== undefined,
): Expression {
  let node = start;
  let bar = !inline || tokens.take("operator", "|");
  while (bar) {
    const { line } = tokens;
    let name = tokens.expect("name").value;
    while (tokens.take("operator", ".")) name += `.${tokens.expect("name").value}`;
    const args = tokens.take("operator", "(") ? given(tokens) : NOTHING;
    node = { type: "Filter", line, operand: node, name, given: args };
    bar = tokens.take("operator", "|");
  }
  return node ?? tokens.fail("a filter is missing");
}

const NOTHING: Given = { positional: [], named: [] };

/** Reads a test: `is [not] name`, `is name(...)` or `is name argument`. */
function test(tokens: TokenReader, operand: Expression): Expression {
  const { line } = tokens.next();
  const negated = tokens.take("name", "not");
  let name = tokens.expect("name").value;
  while (tokens.take("operator", ".")) name += `.${tokens.expect("name").value}`;
  const node: Expression = { type: "Test", line, operand, name, given: testArguments(tokens) };
  return negated ? { type: "Unary", line, operator: "not", node } : node;
}

function testArguments(tokens: TokenReader): Given {
  if (tokens.take("operator", "(")) return given(tokens);
  const starts =
    tokens.is("string") || tokens.is("integer") || tokens.is("float") || tokens.is("operator", "[", "{");
  const word =
    tokens.is("name") && !tokens.is("name", "else", "or", "and", "is", "if", "in", "not", "recursive");
  return starts || word ? { positional: [postfix(tokens, primary(tokens))], named: [] } : NOTHING;
}

/** Reads the arguments of a call, from after its opening bracket up to and including the closing one. */
export function given(tokens: TokenReader): Given {
  const positional: Expression[] = [];
  const named: [string, Expression][] = [];
  const spreads: { spread?: Expression; spreadNamed?: Expression } = {};
  separated(tokens, ")", () => {
    if (tokens.take("operator", "**")) spreads.spreadNamed = expression(tokens);
    else if (tokens.take("operator", "*")) spreads.spread = expression(tokens);
    else if (tokens.is("name") && tokens.following.kind === "operator" && tokens.following.value === "=") {
      const name = tokens.next().value;
      tokens.next();
      named.push([name, expression(tokens)]);
    } else if (named.length > 0) tokens.fail("a positional argument follows a named one");
    else positional.push(expression(tokens));
  });
  return { positional, named, ...spreads };
}
