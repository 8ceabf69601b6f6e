import { readJson } from "../python/json.ts";
import type { PythonDict, PythonValue } from "../python/value.ts";
import type { Call } from "./call.ts";

/** Options that say which parts of a call in JSON may be unreadable or missing. */
export interface JsonCallReading {
  /** Ignores items that are not objects, and treats unreadable arguments as no arguments. */
  readonly passesOverUnreadable?: boolean;
  /**
   * Allows missing arguments, and `parameters` in place of `arguments` or the reverse; a call still needs a
   * key for its name.
   */
  readonly forgiving?: boolean;
}

type Fields = ReadonlyMap<string, PythonValue>;

/**
 * The calls of one JSON item, or its fault. An object with the two given keys is a call; where these are name
 * and arguments it may also be {function: {name, arguments}} or {name: arguments, ...}. Arguments may be JSON
 * in a string.
 */
export function jsonCalls(
  item: PythonValue,
  [nameKey, givenKey]: readonly [name: string, given: string],
  reading: JsonCallReading,
): Call[] | string {
  if (item.type !== "dict") return reading.passesOverUnreadable ? [] : "a call that is not an object";
  const fields = fieldsOf(item);
  if (!reading.passesOverUnreadable && isDouble(fields)) return "more than one call in an object";
  if (givenKey === "arguments" && fields.has("function"))
    return wrappedCall(fields.get("function")!, reading);
  const name = fields.get(nameKey);
  const given = fields.get(givenKey) ?? (reading.forgiving ? otherwise(fields, givenKey) : undefined);
  if (name !== undefined && given !== undefined) return oneCall(name, given, reading, true);
  if (givenKey === "arguments" && !reading.forgiving) return callsByName(item, reading);
  return `a call without ${nameKey} and ${givenKey}`;
}

/** True if an object is ambiguous: arguments under two names, or a call beside a function. */
function isDouble(fields: Fields): boolean {
  const isObject = (value: PythonValue) => value.type === "dict";
  if (fields.has("arguments") && fields.has("parameters")) return true;
  return fields.has("function") && [...fields].some(([key, value]) => key !== "function" && isObject(value));
}

export const fieldsOf = ({ entries }: PythonDict): Fields =>
  new Map(entries.map(([key, value]) => [key.type === "str" ? key.value : "", value]));

/** The arguments under the key that the form does not use (`arguments` or `parameters`), for a lenient reading. */
const otherwise = (fields: Fields, key: string): PythonValue =>
  fields.get(key === "arguments" ? "parameters" : "arguments") ?? { type: "dict", entries: [] };

function wrappedCall(inner: PythonValue, reading: JsonCallReading): Call[] | string {
  if (inner.type !== "dict") return "a call whose function is not an object";
  const fields = fieldsOf(inner);
  return oneCall(fields.get("name") ?? { type: "str", value: "" }, fields.get("arguments"), reading, false);
}

function callsByName({ entries }: PythonDict, reading: JsonCallReading): Call[] | string {
  const calls: Call[] = [];
  for (const [key, value] of entries) {
    const call = oneCall(key, value, reading, true);
    if (typeof call === "string") return call;
    calls.push(...call);
  }
  return calls;
}

function oneCall(
  name: PythonValue,
  given: PythonValue | undefined,
  reading: JsonCallReading,
  spelled: boolean,
): Call[] | string {
  if (name.type === "list" || name.type === "dict") return "a call whose name is not a text";
  const read = readArguments(given, reading, spelled);
  if (typeof read === "string") return read;
  return [{ name: name.type === "str" ? name.value : undefined, arguments: read, positional: 0 }];
}

/**
 * Arguments by name. If unreadable parts are ignored, this imitates Python: with `spelled`, anything except an object
 * is printed as Python would and read as JSON again: a list of numbers stays a list, which is not a call; anything
 * else becomes no arguments.
 */
function readArguments(
  given: PythonValue | undefined,
  reading: JsonCallReading,
  spelled: boolean,
): ReadonlyMap<string, PythonValue> | string {
  if (given === undefined) return new Map();
  const read = given.type === "str" ? readJson(given.value) : given;
  if (read?.type === "dict") return fieldsOf(read);
  const survives =
    given.type === "str" ? read !== undefined : spelled && (isNumber(given) || isListOfNumbers(given));
  return !reading.passesOverUnreadable || survives ? "arguments that are not an object" : new Map();
}

const isNumber = ({ type }: PythonValue): boolean => type === "int" || type === "float";

const isListOfNumbers = (value: PythonValue): boolean =>
  value.type === "list" && value.items.every((item) => isNumber(item) || isListOfNumbers(item));
