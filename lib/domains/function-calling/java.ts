import { bool, dict, float, list, type PythonValue, str } from "../../python/value.ts";
import { commaParts, INTEGER, integer, MAX_CONVERTED_CHARS, numberOrText, upTo } from "./conversion.ts";
import { Unjudgeable } from "./entry.ts";

/** For each Java type, the Python type as which its values are compared. */
export const JAVA_TYPES: ReadonlyMap<string, PythonValue["type"]> = new Map([
  ["byte", "int"],
  ["short", "int"],
  ["integer", "int"],
  ["float", "float"],
  ["double", "float"],
  ["long", "int"],
  ["boolean", "bool"],
  ["char", "str"],
  ["Array", "list"],
  ["ArrayList", "list"],
  ["Set", "set"],
  ["HashMap", "dict"],
  ["Hashtable", "dict"],
  ["Queue", "list"],
  ["Stack", "list"],
  ["String", "str"],
  ["any", "str"],
]);

const FLOAT = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[fF]$/;
const DOUBLE = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const LONG = /^-?\d+[lL]$/;

/**
 * The value of Java source text for a parameter of that type; text that does not fit stays text. Collections are
 * split at commas without regard to nesting. Throws Unjudgeable for types that the reference does not convert.
 * Source: BFCL v4, java_type_converter.
 */
export function fromJava(text: string, type: string, items?: string): PythonValue {
  if (text.length > MAX_CONVERTED_CHARS) return str(text);
  switch (type) {
    case "byte":
    case "short":
    case "integer":
      return INTEGER.test(text) ? integer(text) : str(text);
    case "float":
      return FLOAT.test(text) ? float(Number(text.slice(0, -1))) : str(text);
    case "double":
      return DOUBLE.test(text) ? float(Number(text)) : str(text);
    case "long":
      return LONG.test(text) ? integer(text.slice(0, -1)) : str(text);
    case "boolean":
      return text === "true" || text === "false" ? bool(text === "true") : str(text);
    case "char":
    case "String":
    case "any":
      return str(text);
    case "Array":
      return fromArray(text, items);
    case "ArrayList":
      return fromArrayList(text, items);
    case "HashMap":
      return fromHashMap(text);
    default:
      throw new Unjudgeable(`no conversion from Java ${type}`);
  }
}

/** Reads `new T[]{a, b}` anywhere in the text. */
function fromArray(text: string, items: string | undefined): PythonValue {
  const start = /new\s+\w+\[\]\s*\{/.exec(text);
  const content = start && upTo(text, start.index + start[0].length, "}");
  if (content === undefined || content === null) return str(text);
  const parts = commaParts(content).filter((part) => part !== "");
  return list(parts.map((part) => (items === undefined ? fromValue(part) : fromJava(part, items))));
}

/** Reads `new ArrayList<T>(Arrays.asList(a, b))`, `new ArrayList<T>() {{ add(a); add(b); }}` or an empty list. */
function fromArrayList(text: string, items: string | undefined): PythonValue {
  const element = (part: string) => {
    if (items === "char" || items === "String") return str(part.slice(1, -1));
    return items === undefined ? fromValue(part) : fromJava(part, items);
  };
  const asList = /new\s+ArrayList<\w*>\(Arrays\.asList\(/.exec(text);
  const listed = asList && upTo(text, asList.index + asList[0].length, "))");
  if (listed) return list(commaParts(listed).map(element));
  const empty = /new\s+ArrayList<\w*>\(\)/.exec(text);
  if (empty === null) return str(text);
  const body = /^\s*\{\{/.exec(text.slice(empty.index + empty[0].length));
  const start = body === null ? -1 : empty.index + empty[0].length + body[0].length;
  const end = body === null ? -1 : text.indexOf("}}", start + 1);
  if (end < 0) return list([]);
  return list(calls(text.slice(start, end), "add(").map((inside) => element(inside.trim())));
}

/**
 * Reads `new HashMap<K, V>() {{ put("k", v); }}` or an empty one; ignores text after the first closing brace.
 */
function fromHashMap(text: string): PythonValue {
  const start = /new\s+HashMap<[^\n]*?>\s*\(\)/.exec(text);
  if (start === null) return str(text);
  const body = /^\s*\{\s*\{?/.exec(text.slice(start.index + start[0].length));
  if (body === null) return dict([])!;
  const begin = start.index + start[0].length + body[0].length;
  const end = text.indexOf("}", begin);
  if (end < 0) return dict([])!;
  const entries: [PythonValue, PythonValue][] = [];
  for (const inside of calls(text.slice(begin, end), "put(")) {
    const pair = /^"([^\n]*?)",([\s\S]*)$/.exec(inside);
    if (pair !== null) entries.push([str(pair[1]!), fromValue(pair[2]!.trim())]);
  }
  return dict(entries)!;
}

/** The arguments of each `name(...)` up to the first closing parenthesis; at least one character. */
function calls(text: string, opening: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf(opening); at >= 0; ) {
    const start = at + opening.length;
    const end = text.indexOf(")", start + 1);
    if (end < 0) break;
    found.push(text.slice(start, end));
    at = text.indexOf(opening, end + 1);
  }
  return found;
}

/** Converts a value of unknown type. */
function fromValue(text: string): PythonValue {
  if (text === "true" || text === "false") return bool(text === "true");
  if (text.startsWith('"') && text.endsWith('"')) return str(text.slice(1, -1));
  if (LONG.test(text)) return integer(text.slice(0, -1));
  if (FLOAT.test(text)) return float(Number(text.slice(0, -1)));
  return numberOrText(text);
}
