import { bool, dict, float, list, type PythonValue, str } from "../../python/value.ts";
import { commaParts, INTEGER, integer, MAX_CONVERTED_CHARS, numberOrText, upTo } from "./conversion.ts";
import { Unjudgeable } from "./entry.ts";

/** For each JavaScript type, the Python type as which its values are compared. */
export const JAVASCRIPT_TYPES: ReadonlyMap<string, PythonValue["type"]> = new Map([
  ["String", "str"],
  ["integer", "int"],
  ["float", "float"],
  ["Bigint", "int"],
  ["Boolean", "bool"],
  ["dict", "dict"],
  ["array", "list"],
  ["any", "str"],
]);

/**
 * The value of JavaScript source text for a parameter of that type; text that does not fit stays text. Arrays are
 * split at commas without regard to nesting beyond two dimensions; an object ends at its first closing brace.
 * Throws Unjudgeable for another type.
 * Source: BFCL v4, js_type_converter.
 */
export function fromJavaScript(text: string, type: string, items?: string): PythonValue {
  if (text.length > MAX_CONVERTED_CHARS) return str(text);
  switch (type) {
    case "String":
      return str(isQuoted(text) ? text.slice(1, -1) : text);
    case "integer":
      return INTEGER.test(text) ? integer(text) : str(text);
    case "float":
      return /^-?\d+(?:\.\d+)?$/.test(text) ? float(Number(text)) : str(text);
    case "Bigint":
      return /^-?\d+n$/.test(text) ? integer(text.slice(0, -1)) : str(text);
    case "Boolean":
      return text === "true" || text === "false" ? bool(text === "true") : str(text);
    case "any":
      return str(text);
    case "array":
      return fromArray(text.trim(), items);
    case "dict":
      return fromObject(text.trim());
    default:
      throw new Unjudgeable(`no conversion from JavaScript ${type}`);
  }
}

const isQuoted = (text: string): boolean =>
  (text.startsWith('"') && text.endsWith('"')) || (text.startsWith("'") && text.endsWith("'"));

/** Reads `[[a], [b]]`, `new Array([a], [b])`, `[a, b]` or `new Array(a, b)` at the start of the text. */
function fromArray(text: string, items: string | undefined): PythonValue {
  const rows = fromRows(text);
  if (rows !== undefined) return rows;
  const opening = /^(?:\[|new\s+Array\()/.exec(text);
  const content = opening && upTo(text, opening[0].length, opening[0] === "[" ? "]" : ")");
  if (content === undefined || content === null) return str(text);
  if (content.trim() === "") return list([]);
  try {
    return list(commaParts(content).map((part) => (items ? fromJavaScript(part, items) : fromValue(part))));
  } catch (error) {
    if (error instanceof Unjudgeable) return str(text);
    throw error;
  }
}

/** Converts a two-dimensional array; the element type is unknown regardless of the schema. */
function fromRows(text: string): PythonValue | undefined {
  const opening = /^(?:\[|new\s+Array\()\s*(?=\[)/.exec(text);
  if (opening === null) return undefined;
  const closing = opening[0].startsWith("[") ? "]" : ")";
  const end = text.slice(opening[0].length).search(closing === "]" ? /\]\s*\]/ : /\]\s*\)/);
  if (end < 0) return undefined;
  const inside = text.slice(opening[0].length, opening[0].length + end + 1);
  const rows = [...inside.matchAll(/\[([^\]\n]*)\]/g)].map(([, row]) =>
    list(commaParts(row!).map(fromValue)),
  );
  return list(rows);
}

const PAIR = /([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)/g;

/** Reads `{ key: value, 'key': [value] }`. */
function fromObject(text: string): PythonValue {
  const content = text.startsWith("{") ? upTo(text, 1, "}") : undefined;
  if (content === undefined) return str(text);
  const entries = [...content.matchAll(PAIR)].map(([, key, value]) => {
    const trimmed = value!.trim();
    const isArray = trimmed.startsWith("[") && trimmed.endsWith("]");
    return [
      str(withoutQuotes(key!.trim())),
      isArray ? fromArray(trimmed, undefined) : fromValue(withoutQuotes(trimmed)),
    ] as const;
  });
  return dict(entries)!;
}

/** Strips quotes from both ends. */
const withoutQuotes = (text: string): string => text.replace(/^['"]+/, "").replace(/['"]+$/, "");

/** Converts a value of unknown type. */
function fromValue(text: string): PythonValue {
  const trimmed = text.trim();
  if (trimmed === "true" || trimmed === "false") return bool(trimmed === "true");
  return isQuoted(trimmed) ? str(trimmed.slice(1, -1)) : numberOrText(trimmed);
}
