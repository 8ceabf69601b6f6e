/** Where in its source a template is: the parser underneath keeps no positions. */
import { type Program, parse, type Statement, type Token, tokenize } from "./jinja.ts";

/** A fault of a template's text. `line` counts from 1. */
export class TemplateSyntaxError extends Error {
  readonly line: number | undefined;
  constructor(message: string, line: number | undefined) {
    super(message);
    this.line = line;
  }
}

export interface Located {
  readonly program: Program;
  /** Line of each statement and output. */
  readonly lines: ReadonlyMap<Statement, number>;
}

const OPTIONS = { lstrip_blocks: true, trim_blocks: true };
/** Name of the variable that marks a line in the token stream; no template can spell it. */
const MARK = "\u0000line";

/** Parses with Jinja's trim_blocks and lstrip_blocks. Throws TemplateSyntaxError. */
export function parseLocated(source: string): Located {
  const tags = tagsOf(source);
  const tokens = tokensOf(source, tags);
  const marked = withMarks(tokens, tags);
  const reach = { index: 0 };
  let program: Program;
  try {
    program = parse(watched(marked, reach));
  } catch (cause) {
    const before = marked.slice(0, reach.index + 1).filter((token) => token.value === MARK);
    const line = lineAfter(marked, before.at(-1));
    const ended = reach.index >= marked.length;
    throw new TemplateSyntaxError(ended ? "the template ends inside a block" : messageOf(cause), line);
  }
  const lines = new Map<Statement, number>();
  collect(program.body, lines);
  return { program, lines };
}

interface Tag {
  readonly line: number;
  readonly end: number;
}

/** {{ }} and {% %} of a source, in order; comments and the `generation` marks of transformers are none. */
function tagsOf(source: string): Tag[] {
  const tags: Tag[] = [];
  let line = 1;
  let counted = 0;
  const opening = /\{[{%#]/g;
  for (let found = opening.exec(source); found !== null; found = opening.exec(source)) {
    for (; counted < found.index; counted++) if (source[counted] === "\n") line += 1;
    const kind = found[0];
    const end =
      kind === "{#" ? source.indexOf("#}", opening.lastIndex) + 2 : tagEnd(source, found.index + 2, kind);
    if (end < found.index + 2) break;
    const generation = /^\{%-?\s*(?:end)?generation\s*-?%\}$/.test(source.slice(found.index, end));
    if (kind !== "{#" && !generation) tags.push({ line, end });
    opening.lastIndex = end;
  }
  return tags;
}

/** Behind the closing of a tag, strings passed over; the source's end if it is open. */
function tagEnd(source: string, from: number, kind: string): number {
  const inside =
    kind === "{{"
      ? /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\{|\}\}?/gs
      : /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|%\}/gs;
  inside.lastIndex = from;
  let depth = 0;
  for (let found = inside.exec(source); found !== null; found = inside.exec(source)) {
    const text = found[0];
    if (text === "{") depth += 1;
    else if (text.startsWith("}") && depth > 0) {
      depth -= 1;
      inside.lastIndex = found.index + 1;
    } else if (text === "}}" || text === "%}") return inside.lastIndex;
  }
  return source.length;
}

function tokensOf(source: string, tags: readonly Tag[]): Token[] {
  try {
    return tokenize(source, OPTIONS);
  } catch (cause) {
    // The first tag with which the source so far cannot be read.
    const bad = tags.find(({ end }) => !readable(source.slice(0, end)));
    throw new TemplateSyntaxError(messageOf(cause), bad?.line);
  }
}

function readable(source: string): boolean {
  try {
    tokenize(source, OPTIONS);
    return true;
  } catch {
    return false;
  }
}

/** Before each tag a {% set <mark> = line %}. */
function withMarks(tokens: readonly Token[], tags: readonly Tag[]): Token[] {
  const opens = (token: Token) => token.type === "OpenStatement" || token.type === "OpenExpression";
  if (tokens.filter(opens).length !== tags.length) return [...tokens];
  let next = 0;
  return tokens.flatMap((token) => {
    if (!opens(token)) return [token];
    const { line } = tags[next]!;
    next += 1;
    return [
      { type: "OpenStatement", value: "{%" },
      { type: "Identifier", value: "set" },
      { type: "Identifier", value: MARK },
      { type: "Equals", value: "=" },
      { type: "NumericLiteral", value: String(line) },
      { type: "CloseStatement", value: "%}" },
      token,
    ];
  });
}

/** The tokens, noting how far they have been looked at. */
function watched(tokens: Token[], reach: { index: number }): Token[] {
  return new Proxy(tokens, {
    get(target, key, receiver) {
      const index = typeof key === "string" && /^\d+$/.test(key) ? Number(key) : -1;
      if (index > reach.index) reach.index = index;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
}

function lineAfter(tokens: readonly Token[], mark: Token | undefined): number | undefined {
  return mark === undefined ? undefined : Number(tokens[tokens.indexOf(mark) + 2]!.value);
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** The lists of statements that a statement holds. */
export function bodiesOf(statement: Statement): Statement[][] {
  const { type } = statement;
  const fields = statement as unknown as Record<string, Statement[]>;
  if (type === "If") return [fields["body"]!, fields["alternate"]!];
  if (type === "For") return [fields["body"]!, fields["defaultBlock"]!];
  return ["Set", "Macro", "CallStatement", "FilterStatement"].includes(type) ? [fields["body"]!] : [];
}

function markedLine(statement: Statement): number | undefined {
  const { type, assignee, value } = statement as unknown as {
    type: string;
    assignee?: { value?: unknown };
    value?: { value: number };
  };
  return type === "Set" && assignee?.value === MARK ? value!.value : undefined;
}

/** Takes the marks out and notes each for what follows it. Returns the mark that nothing followed. */
function collect(body: Statement[], lines: Map<Statement, number>, before?: number): number | undefined {
  let pending = before;
  let kept = 0;
  for (const statement of body) {
    const line = markedLine(statement);
    if (line !== undefined) {
      pending = line;
      continue;
    }
    if (pending !== undefined) lines.set(statement, pending);
    // A mark left at the end of one body is that of the elif, else or end behind it.
    let left: number | undefined;
    for (const inner of bodiesOf(statement)) left = collect(inner, lines, left);
    pending = undefined;
    body[kept++] = statement;
  }
  body.length = kept;
  return pending;
}
