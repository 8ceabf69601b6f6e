import { type PlainValue, type PythonValue, toPlain } from "../python/value.ts";
import { TOOL_CALL_FORMS, type ToolCallForm } from "../shared/models/tool-call-forms.ts";
import type { Call, Calls } from "./call.ts";
import { type BodyReading, readBody } from "./tool-call-bodies.ts";

export type CallReading = BodyReading;

/**
 * The calls of a text in one of the forms, all of its blocks; of `<tool_calls>` the last block that is not blank. Text may
 * stand around blocks with marks; a form without marks is the whole text. Marks of a second form, or of a block that
 * does not end, make the text malformed. Time linear in the text, but for the blocks' own readers.
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

/** Whether a text has marks of a form, or begins as one of those that have none does. */
export const looksMarked = (text: string, forms: readonly ToolCallForm[] = TOOL_CALL_FORMS): boolean =>
  firstMark(text, forms) !== undefined ||
  forms.some(({ whole, body }) => body.kind !== "python" && whole?.test(text.trim()));

interface Block {
  readonly text: string;
  readonly closed: boolean;
}

/** Of several lists of calls only the last counts, as the prompts that ask for one have it. */
const isListed = ({ open }: ToolCallForm): boolean => open?.source === "<tool_calls>";

/** The mark that begins first. */
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

/** Whether the end of a block stands where none is open; a fence may end something else. */
const hasEnd = (text: string, { close }: ToolCallForm): boolean =>
  close !== undefined && !close.source.includes("`") && close.test(text);

/** Blocks, each up to its end, to the next block where the form has no end, or to the end of the text. */
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

/** The first form that reads every block; else what is wrong in the first form that may hold them. */
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

/** A text that is calls from end to end. One that only begins so is none: it may be an answer in JSON. */
function readWhole(text: string, reading: CallReading, forms: readonly ToolCallForm[]): Calls {
  const trimmed = text.trim();
  for (const { whole, body } of forms) {
    if (!whole?.test(trimmed)) continue;
    const calls = readBody(body, trimmed, reading);
    if (typeof calls !== "string" && calls.length > 0) return { kind: "calls", calls, ended: false };
  }
  return { kind: "none", reason: "no calls" };
}

/** Arguments as JSON.parse would give them. */
export const plainArguments = (given: ReadonlyMap<string, PythonValue>): Record<string, unknown> =>
  Object.fromEntries([...given].map(([name, value]) => [name, plain(toPlain(value))]));

function plain(value: PlainValue): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, item]) => [String(key), plain(item)]));
  return Array.isArray(value) ? value.map(plain) : value;
}
