/** Reads the names that a statement assigns to. Source: jinja2/parser.py of Jinja 3.1. */
import { expression } from "./expressions.ts";
import type { Parameter, Target } from "./syntax.ts";
import type { TokenReader } from "./token-reader.ts";

/** Assignment target before "=" or "in": one, or several separated by commas, with or without brackets. */
export function target(tokens: TokenReader): Target {
  const targets = [oneTarget(tokens)];
  let several = false;
  while (tokens.take("operator", ",")) {
    several = true;
    if (tokens.is("name", "in") || tokens.is("operator", "=", ")")) break;
    targets.push(oneTarget(tokens));
  }
  return several ? { type: "Tuple", targets } : targets[0]!;
}

export function oneTarget(tokens: TokenReader): Target {
  if (tokens.take("operator", "(")) {
    const inner = target(tokens);
    tokens.expect("operator", ")");
    return inner;
  }
  const { value: name, line } = tokens.expect("name");
  if (["true", "True", "false", "False", "none", "None"].includes(name))
    tokens.fail(`cannot assign to ${name}`, line);
  return tokens.take("operator", ".")
    ? { type: "Attribute", object: name, name: tokens.expect("name").value }
    : { type: "Name", name };
}

/** The parameters of a macro, from after the opening bracket up to and including the closing one. */
export function parameters(tokens: TokenReader): Parameter[] {
  const found: Parameter[] = [];
  while (!tokens.take("operator", ")")) {
    if (found.length > 0) tokens.expect("operator", ",");
    const name = tokens.expect("name").value;
    const otherwise = tokens.take("operator", "=") ? expression(tokens) : undefined;
    if (otherwise === undefined && found.at(-1)?.otherwise !== undefined) {
      tokens.fail("a parameter without a default follows one with a default");
    }
    found.push({ name, otherwise });
  }
  return found;
}
