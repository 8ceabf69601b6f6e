import { type PlainValue, type PythonValue, toPlain } from "../python/value.ts";
import { TOOL_CALL_FORMS, type ToolCallForm } from "../shared/models/tool-call-forms.ts";
import type { Call, Calls } from "./call.ts";
import { type BodyReading, readBody } from "./tool-call-bodies.ts";

export type CallReading = BodyReading;

/**
 * The calls of a text in one of the forms, from all of its blocks; for `<tool_calls>` the last non-blank block. Text
 * may surround blocks with marks; a form without marks is the whole text. Marks of a second form, or of an
 * unterminated block, make the text malformed. Time linear in the text, except for the blocks' own readers.
 */
export function readMarkedCalls(
  text: string,
  reading: CallReading,
  forms: readonly ToolCallForm[] = TOOL_CALL_FORMS,
): Calls {
  const first = firstMark(text, forms);
  if (first === undefined) return readWhole(text, reading, forms);
  const group = forms.filter(({ open }) => open?.source === first.source);
  const { blocks, outside } = cut(text, group[0]!);
  const filled = blocks.filter(({ text: block, closed }) => block.trim() !== "" || !closed);
  if (outside.some((part) => firstMark(part, forms) !== undefined || hasEnd(part, group[0]!)))
    return { kind: "malformed", reason: "marks of calls in more than one form" };
  if (filled.length === 0) return { kind: "none", reason: "empty block of calls" };
  return readBlocks(isListed(group[0]!) ? filled.slice(-1) : filled, reading, group);
}

/** True if a text has marks of a form, or begins like a form without marks. */
export const looksMarked = (text: string, forms: readonly ToolCallForm[] = TOOL_CALL_FORMS): boolean =>
  firstMark(text, forms) !== undefined ||
  forms.some(({ whole, body }) => body.kind !== "python" && whole?.test(text.trim()));

interface Block {
  readonly text: string;
  readonly closed: boolean;
}

/** True for forms where only the last list counts, because prompts request one list. */
const isListed = ({ open }: ToolCallForm): boolean => open?.source === "<tool_calls>";

/** The opening mark that occurs first in the text. */
function firstMark(text: string, forms: readonly ToolCallForm[]): RegExp | undefined {
  let [found, at] = [undefined as RegExp | undefined, Number.POSITIVE_INFINITY];
  const tried = new Set<string>();
  for (const { open } of forms) {
    if (open === undefined || tried.has(open.source)) continue;
    tried.add(open.source);
    const index = text.search(open);
    if (index >= 0 && index < at) [found, at] = [open, index];
  }
  return found;
}

/**
 * True if an end mark occurs without an open block. Code fences do not count: a fence may end something else.
 */
const hasEnd = (text: string, { close }: ToolCallForm): boolean =>
  close !== undefined && !close.source.includes("`") && close.test(text);

/** Cuts blocks, each up to its end mark, to the next block if the form has none, or to the end of the text. */
function cut(
  text: string,
  { open, close }: ToolCallForm,
): { readonly blocks: readonly Block[]; readonly outside: readonly string[] } {
  const find = (pattern: RegExp, from: number) => {
    const global = new RegExp(pattern.source, `${pattern.flags}g`);
    global.lastIndex = from;
    return global.exec(text);
  };
  const blocks: Block[] = [];
  const outside: string[] = [];
  let at = 0;
  for (let begin = find(open!, 0); begin !== null; begin = find(open!, at)) {
    outside.push(text.slice(at, begin.index));
    const start = begin.index + begin[0].length;
    const end = find(close ?? open!, start);
    blocks.push({ text: text.slice(start, end?.index), closed: close !== undefined && end !== null });
    if (end === null) return { blocks, outside };
    at = close === undefined ? end.index : end.index + end[0].length;
  }
  return { blocks, outside: [...outside, text.slice(at)] };
}

/** The calls by the first form that reads every block; otherwise the fault of the first form that may contain them. */
function readBlocks(blocks: readonly Block[], reading: CallReading, forms: readonly ToolCallForm[]): Calls {
  const faults: string[] = [];
  for (const form of forms) {
    const read = blocks.map(({ text, closed }) =>
      closed || form.close === undefined || form.closeMayLack || reading.forgiving
        ? readBody(form.body, text, reading)
        : "a block of calls that does not end",
    );
    const fault = read.find((one) => typeof one === "string");
    if (fault === undefined) return made(read.flat() as Call[], blocks);
    faults.push(fault as string);
  }
  return { kind: "malformed", reason: faults[0]! };
}

function made(calls: readonly Call[], blocks: readonly Block[]): Calls {
  if (calls.length === 0) return { kind: "none", reason: "no calls in the block" };
  return { kind: "calls", calls, ended: blocks.every(({ closed }) => closed) };
}

/** Reads a text that consists of calls only. A text that merely begins with one may be an answer in JSON. */
function readWhole(text: string, reading: CallReading, forms: readonly ToolCallForm[]): Calls {
  const trimmed = text.trim();
  for (const { whole, body } of forms) {
    if (!whole?.test(trimmed)) continue;
    const calls = readBody(body, trimmed, reading);
    if (typeof calls !== "string" && calls.length > 0) return { kind: "calls", calls, ended: false };
  }
  return { kind: "none", reason: "no calls" };
}

/** Arguments as JSON.parse would return them. */
export const plainArguments = (given: ReadonlyMap<string, PythonValue>): Record<string, unknown> =>
  Object.fromEntries([...given].map(([name, value]) => [name, plain(toPlain(value))]));

function plain(value: PlainValue): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, item]) => [String(key), plain(item)]));
  return Array.isArray(value) ? value.map(plain) : value;
}
