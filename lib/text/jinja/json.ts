import { expectCharacters } from "./limits.ts";
import { joined } from "./strings.ts";
import { byCodePoint, isNumber, repr, str, TemplateFault, typeName, type Value } from "./values.ts";

export interface DumpOptions {
  readonly indent?: number;
  readonly separators?: readonly [string, string];
  readonly sortKeys?: boolean;
  readonly ensureAscii?: boolean;
}

/** json.dumps(x, ensure_ascii=False), which is what transformers' tojson does. */
export function dumps(v: Value, options: DumpOptions = {}, depth = 0): string {
  if (v === null) return "null";
  if (typeof v === "boolean") return v ? "true" : "false";
  if (isNumber(v)) return repr(v).replace("inf", "Infinity").replace("nan", "NaN");
  if (typeof v === "string") return jsonString(v, options);
  if (Array.isArray(v)) {
    const parts = v.map((item) => dumps(item, options, depth + 1));
    return container("[", parts, "]", options, depth);
  }
  if (v instanceof Map) {
    const pairs = [...v].map(([key, item]) => [keyText(key), item] as const);
    if (options.sortKeys) pairs.sort(([a], [b]) => byCodePoint(a, b));
    const colon = options.separators?.[1] ?? ": ";
    const parts = pairs.map(
      ([key, item]) => jsonString(key, options) + colon + dumps(item, options, depth + 1),
    );
    return container("{", parts, "}", options, depth);
  }
  throw new TemplateFault(`Object of type ${typeName(v)} is not JSON serializable`);
}

/**
 * Writes a dict's key as Python's json does: JSON's keys are strings, so numbers, true, false and null are quoted.
 */
const keyText = (key: Value): string =>
  typeof key === "string" ? key : isNumber(key) || key === null ? dumps(key) : str(key);

function container(
  open: string,
  parts: readonly string[],
  close: string,
  options: DumpOptions,
  depth: number,
): string {
  const { indent } = options;
  const comma = options.separators?.[0] ?? (indent === undefined ? ", " : ",");
  if (indent === undefined || parts.length === 0) return open + joined(parts, comma) + close;
  expectCharacters(indent * (depth + 1));
  const line = `\n${" ".repeat(indent * (depth + 1))}`;
  return `${open}${line}${joined(parts, comma + line)}\n${" ".repeat(indent * depth)}${close}`;
}

function jsonString(text: string, { ensureAscii = false }: DumpOptions): string {
  const plain = JSON.stringify(text);
  if (!ensureAscii) return plain;
  return plain.replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
