import { readJson } from "../../python/json.ts";
import type { PythonDict, PythonValue } from "../../python/value.ts";
import type { Call, Calls } from "./call.ts";

/** Longer blocks are not read. */
const MAX_BLOCK_CHARS = 200_000;
const LIST_TAG = /<(\/?)tool_calls>/gi;
const CALL_TAG = /<(\/?)tool_call>/gi;

/** Where strict and reference judging read differently. */
export interface TagReading {
  /** Whether each call may stand in a `<tool_call>` of its own, as the chat templates of Qwen and Hermes have it. */
  readonly takesSingleTags: boolean;
  /** Whether unreadable parts are ignored: JSON and items of the list count as no call, arguments as none. */
  readonly passesOverUnreadable: boolean;
}

/** Whether a text is in this dialect. */
export const hasToolCalls = (text: string, { takesSingleTags }: TagReading): boolean =>
  (takesSingleTags ? /<tool_calls?>/i : /<tool_calls>/i).test(text);

/**
 * The calls in the last `<tool_calls>` block that is not blank: JSON, a list of calls or one call, each as
 * {name, arguments}, as {function: {name, arguments}} or as {name: arguments}; `arguments` may be JSON in a string.
 * Where there is no such tag, every `<tool_call>` block is read, if the reading takes them.
 */
export function readToolCalls(text: string, reading: TagReading): Calls {
  const lists = blocksOf(text, LIST_TAG);
  const single = lists.length === 0 && reading.takesSingleTags ? blocksOf(text, CALL_TAG) : [];
  const tag = single.length > 0 ? "<tool_call>" : "<tool_calls>";
  const filled = (single.length > 0 ? single : lists).filter((block) => block !== "");
  if (lists.length + single.length === 0) return { kind: "none", reason: "no <tool_calls>" };
  if (filled.length === 0) return { kind: "none", reason: `empty ${tag}` };
  const read = (single.length > 0 ? filled : filled.slice(-1)).map((block) =>
    block.length > MAX_BLOCK_CHARS ? undefined : readJson(block),
  );
  if (read.includes(undefined)) {
    return { kind: reading.passesOverUnreadable ? "none" : "malformed", reason: `not JSON in ${tag}` };
  }
  const calls: Call[] = [];
  for (const item of read.flatMap((one) => (one!.type === "list" ? one!.items : [one!]))) {
    const found = callsOf(item, reading);
    if (typeof found === "string") return { kind: "malformed", reason: found };
    calls.push(...found);
  }
  return calls.length === 0 ? { kind: "none", reason: `no calls in ${tag}` } : { kind: "calls", calls };
}

/** What stands between opening and closing tags, trimmed; a tag opened twice begins where it first was. */
function blocksOf(text: string, tags: RegExp): string[] {
  const found: string[] = [];
  let start: number | undefined;
  for (const tag of text.matchAll(tags)) {
    if (tag[1] === "") start ??= tag.index + tag[0].length;
    else if (start !== undefined) {
      found.push(text.slice(start, tag.index).trim());
      start = undefined;
    }
  }
  return found;
}

/** Calls of one item of the list, or what is wrong with it. */
function callsOf(item: PythonValue, reading: TagReading): Call[] | string {
  if (item.type !== "dict") return reading.passesOverUnreadable ? [] : "a call that is no object";
  const fields = fieldsOf(item);
  const inner = fields.get("function");
  if (inner !== undefined) {
    if (inner.type !== "dict") return "a call whose function is no object";
    const { name, arguments: given } = Object.fromEntries(
      ["name", "arguments"].map((field) => [field, fieldsOf(inner).get(field)]),
    );
    return oneCall(name ?? { type: "str", value: "" }, given, reading, false);
  }
  const [name, given] = [fields.get("name"), fields.get("arguments")];
  if (name !== undefined && given !== undefined) return oneCall(name, given, reading, true);
  const calls: Call[] = [];
  for (const [key, value] of item.entries) {
    const call = oneCall(key, value, reading, true);
    if (typeof call === "string") return call;
    calls.push(...call);
  }
  return calls;
}

const fieldsOf = ({ entries }: PythonDict): Map<string, PythonValue> =>
  new Map(entries.map(([key, value]) => [key.type === "str" ? key.value : "", value]));

function oneCall(
  name: PythonValue,
  given: PythonValue | undefined,
  reading: TagReading,
  spelled: boolean,
): Call[] | string {
  if (name.type === "list" || name.type === "dict") return "a call whose name is no text";
  const read = readArguments(given, reading, spelled);
  if (typeof read === "string") return read;
  return [{ name: name.type === "str" ? name.value : undefined, arguments: read, positional: 0 }];
}

/**
 * Arguments by name. Where unreadable parts are ignored, this imitates Python: with `spelled`, anything but an object
 * is printed as Python would and read as JSON again: a list of numbers stays a list, which is no call; anything else
 * becomes no arguments.
 */
function readArguments(
  given: PythonValue | undefined,
  reading: TagReading,
  spelled: boolean,
): ReadonlyMap<string, PythonValue> | string {
  if (given === undefined) return new Map();
  const read = given.type === "str" ? readJson(given.value) : given;
  if (read?.type === "dict") return fieldsOf(read);
  const survives =
    given.type === "str" ? read !== undefined : spelled && (isNumber(given) || isListOfNumbers(given));
  return !reading.passesOverUnreadable || survives ? "arguments that are no object" : new Map();
}

const isNumber = ({ type }: PythonValue): boolean => type === "int" || type === "float";

const isListOfNumbers = (value: PythonValue): boolean =>
  value.type === "list" && value.items.every((item) => isNumber(item) || isListOfNumbers(item));
