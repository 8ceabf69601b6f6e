import { readCalls } from "../python/call.ts";
import { readJson } from "../python/json.ts";
import { readLiteral } from "../python/literal.ts";
import { type PythonValue, str } from "../python/value.ts";
import type { CallBody } from "../shared/models/tool-call-forms.ts";
import type { Call } from "./call.ts";
import { fieldsOf, type JsonCallReading, jsonCalls } from "./json-calls.ts";

/** Longer blocks are not read. */
const MAX_BLOCK_CHARS = 200_000;

export interface BodyReading extends JsonCallReading {
  /** True if the text between tags for this argument is a string; otherwise it is read as a JSON or Python literal. */
  isText(name: string, argument: string): boolean;
}

/** The calls of a block; none for an empty list. Returns a string with the reason if the block is not of this kind. */
export function readBody(body: CallBody, block: string, reading: BodyReading): readonly Call[] | string {
  if (block.length > MAX_BLOCK_CHARS) return `a block of over ${MAX_BLOCK_CHARS} characters`;
  switch (body.kind) {
    case "json":
      return readJsonBody(body, block, reading);
    case "named":
      return inTurn(block, body, (at) => namedCall(body, block, at));
    case "tagged":
      return inTurn(block, body, (at) => taggedCall(body, block, at, reading));
    case "python":
      return readPythonBody(body, block);
  }
}

type Body<Kind> = Extract<CallBody, { readonly kind: Kind }>;

function readJsonBody(
  { holds, keys, between }: Body<"json">,
  block: string,
  reading: JsonCallReading,
): readonly Call[] | string {
  const whole = readJson(block);
  const values = whole === undefined && between ? block.trim().split(between).map(readJson) : [whole];
  const calls: Call[] = [];
  for (const value of values) {
    if (value === undefined) return "not JSON";
    if (holds !== "either" && (value.type === "list") !== (holds === "list")) return `not JSON of ${holds}s`;
    for (const item of value.type === "list" ? value.items : [value]) {
      const found = jsonCalls(item, keys, reading);
      if (typeof found === "string") return found;
      calls.push(...found);
    }
  }
  return calls;
}

/** A call and the position of the next one, or the fault. */
type Next = { readonly call: Call; readonly end: number } | string;

/** Reads calls in sequence up to the end of the block; a single one if the form has no footer. */
function inTurn(block: string, { footer }: { footer: string }, next: (at: number) => Next): Call[] | string {
  const text = block.trimEnd();
  const calls: Call[] = [];
  let at = text.length - text.trimStart().length;
  do {
    const found = next(at);
    if (typeof found === "string") return found;
    calls.push(found.call);
    at = found.end;
    while (/\s/.test(text[at] ?? "")) at += 1;
  } while (at < text.length && footer !== "");
  return at < text.length ? "more behind a call" : calls;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function namedCall({ header, footer }: Body<"named">, block: string, at: number): Next {
  const head = matchAt(header, block, at);
  if (head === null) return "no name";
  const start = at + head[0].length;
  const end = footer === "" ? block.length : block.indexOf(footer, start);
  if (end < 0) return "a call that does not close";
  const given = readJson(block.slice(start, end));
  if (given?.type !== "dict") return "arguments that are not an object";
  const call = { name: head.groups!["name"]!, arguments: fieldsOf(given), positional: 0 };
  return { call, end: end + footer.length };
}

function taggedCall(
  { header, parameter, footer }: Body<"tagged">,
  block: string,
  at: number,
  reading: BodyReading,
): Next {
  const head = matchAt(header, block, at);
  if (head === null) return "no name";
  const name = head.groups!["name"]!;
  const given = new Map<string, PythonValue>();
  let end = at + head[0].length;
  for (let tag = matchAt(parameter, block, end); tag !== null; tag = matchAt(parameter, block, end)) {
    const { name: argument, value, text } = tag.groups as { name: string; value: string; text?: string };
    if (given.has(argument)) return "an argument given twice";
    const isText = text === undefined ? reading.isText(name, argument) : text === "true";
    given.set(argument, isText ? str(value) : untagged(value));
    end += tag[0].length;
  }
  if (!block.startsWith(footer, end)) return "a call that does not close";
  return { call: { name, arguments: given, positional: 0 }, end: end + footer.length };
}

/** Reads JSON, or a Python literal such as True, or else a text. */
function untagged(text: string): PythonValue {
  const value = readJson(text);
  if (value !== undefined) return value;
  const literal = readLiteral(text.trim());
  return "value" in literal ? literal.value : str(text);
}

function readPythonBody({ holds }: Body<"python">, block: string): readonly Call[] | string {
  const text = block.trim();
  if (holds === "list" && !text.startsWith("[")) return "no list of calls";
  const lines = holds === "list" ? [text] : text.split("\n").filter((line) => line.trim() !== "");
  const read = lines.map((line) => readCalls(line.trim()));
  if (read.includes(undefined)) return "no calls in Python";
  return read.flatMap((calls) =>
    calls!.map(({ name, keywords, positional }) => ({ name, arguments: keywords, positional })),
  );
}
