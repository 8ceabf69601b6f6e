/** Reads the contents of each tag and the bodies up to its end. Source: jinja2/parser.py of Jinja 3.1. */
import { expression, expressions, filters } from "./expressions.ts";
import type { Body, Expression, Statement, Target } from "./syntax.ts";
import { oneTarget, parameters, target } from "./targets.ts";
import type { TokenReader } from "./token-reader.ts";

/** Functions of the parser that a tag uses. */
export interface Blocks {
  readonly tokens: TokenReader;
  /** Number of loops around this place that `break` could leave. */
  readonly loops: number;
  /** Closes the tag in progress, reads a body and opens the tag that ends it. Returns the name of that tag. */
  inside(...ends: readonly string[]): readonly [Body, string];
  /** Like `inside`, for a body nested in this many loops. */
  insideLoops(loops: number, ...ends: readonly string[]): readonly [Body, string];
}

/** Parses a tag after its name; `line` is that of its opening. */
type TagReader = (blocks: Blocks, line: number) => Statement;

export const TAGS: Readonly<Record<string, TagReader>> = {
  if: readIf,
  for: readFor,
  set: readSet,
  with: readWith,
  macro: readMacro,
  call: readCall,
  filter: readFilter,
  print: ({ tokens }, line) => ({ type: "Output", line, value: tuple(tokens) }),
  generation: readGeneration,
  break: (blocks, line) => leaveLoop("Break", blocks, line),
  continue: (blocks, line) => leaveLoop("Continue", blocks, line),
};

/** One expression, or several separated by commas, up to the end of the tag or one of these names. */
export function tuple(tokens: TokenReader, condition = true, ...ends: readonly string[]): Expression {
  const closed = () => tokens.is("close-output") || tokens.is("close-block");
  return expressions(tokens, () => closed() || (ends.length > 0 && tokens.is("name", ...ends)), condition);
}

function readIf(blocks: Blocks, line: number): Statement {
  const { tokens } = blocks;
  const branches: { test: Expression; body: Body; line: number }[] = [];
  let word = "if";
  let otherwise: Body = [];
  let at = line;
  while (word !== "endif") {
    if (word === "else") [otherwise, word] = blocks.inside("endif");
    else {
      const test = tuple(tokens);
      const [body, next] = blocks.inside("elif", "else", "endif");
      branches.push({ test, body, line: at });
      word = next;
      at = tokens.line;
    }
  }
  return { type: "If", line, branches, otherwise };
}

function readFor(blocks: Blocks, line: number): Statement {
  const { tokens } = blocks;
  const to = target(tokens);
  tokens.expect("name", "in");
  const over = tuple(tokens, false, "recursive");
  const filter = tokens.take("name", "if") ? expression(tokens) : undefined;
  const recursive = tokens.take("name", "recursive");
  const [body, end] = blocks.insideLoops(blocks.loops + 1, "endfor", "else");
  const otherwise = end === "else" ? blocks.inside("endfor")[0] : [];
  return { type: "For", line, target: to, over, filter, recursive, body, otherwise };
}

function readSet(blocks: Blocks, line: number): Statement {
  const { tokens } = blocks;
  const to = target(tokens);
  if (tokens.take("operator", "=")) return { type: "Set", line, target: to, value: tuple(tokens) };
  const filter = tokens.is("operator", "|") ? blockFilters(tokens) : undefined;
  const [body] = blocks.inside("endset");
  return { type: "SetBlock", line, target: to, filter, body };
}

function readWith(blocks: Blocks, line: number): Statement {
  const { tokens } = blocks;
  const pairs: [Target, Expression][] = [];
  while (!tokens.is("close-block")) {
    if (pairs.length > 0) tokens.expect("operator", ",");
    const to = oneTarget(tokens);
    tokens.expect("operator", "=");
    pairs.push([to, expression(tokens)]);
  }
  return { type: "With", line, pairs, body: blocks.inside("endwith")[0] };
}

function readMacro(blocks: Blocks, line: number): Statement {
  const { tokens } = blocks;
  const name = tokens.expect("name").value;
  tokens.expect("operator", "(");
  const given = parameters(tokens);
  return { type: "Macro", line, name, parameters: given, body: blocks.insideLoops(0, "endmacro")[0] };
}

function readCall(blocks: Blocks, line: number): Statement {
  const { tokens } = blocks;
  const given = tokens.take("operator", "(") ? parameters(tokens) : [];
  const call = expression(tokens);
  if (call.type !== "Call") return tokens.fail("a call block needs a call", line);
  return { type: "CallBlock", line, call, parameters: given, body: blocks.insideLoops(0, "endcall")[0] };
}

function readFilter(blocks: Blocks, line: number): Statement {
  const { tokens } = blocks;
  const filter = filters(tokens, undefined);
  return { type: "FilterBlock", line, filter, body: blocks.inside("endfilter")[0] };
}

/** Reads `|name|name(...)` after the target of a set block. */
function blockFilters(tokens: TokenReader): Expression {
  tokens.next();
  return filters(tokens, undefined);
}

function readGeneration(blocks: Blocks, line: number): Statement {
  return { type: "Block", line, body: blocks.inside("endgeneration")[0] };
}

function leaveLoop(type: "Break" | "Continue", blocks: Blocks, line: number): Statement {
  if (blocks.loops === 0) blocks.tokens.fail(`${type.toLowerCase()} outside of a loop`, line);
  return { type, line };
}
