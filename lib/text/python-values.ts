/**
 * How Python prints and compares the values a chat template sees. Templates are written for Python's Jinja; the
 * interpreter underneath follows JavaScript in these places.
 */

/** A run-time value of @huggingface/jinja; `type` names its class. */
export interface Value {
  readonly type: string;
  readonly value: unknown;
}

/** What filters and methods need of the interpreter: making values. */
export interface Maker {
  text(value: string): Value;
  literal(type: string, value: unknown): Value;
  boolean(value: boolean): Value;
  list(values: readonly Value[]): Value;
}

/** Of a filter or a method, evaluated. */
export interface Arguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** A number that Python would hold as a float although it has no fraction: JSON's 2.0. See readJson. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

const FLOAT_KEY = "\u0000float";
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/** JSON.parse that keeps 2.0 apart from 2, as a Float. Throws what JSON.parse throws. */
export function readJson(text: string): unknown {
  const marked = text.replace(TOKENS, (token) =>
    token.startsWith('"') || !/[.eE]/.test(token) ? token : `{${JSON.stringify(FLOAT_KEY)}:${token}}`,
  );
  return JSON.parse(marked, (_, value: unknown) => {
    const inner =
      typeof value === "object" && value !== null
        ? (value as { [FLOAT_KEY]?: number })[FLOAT_KEY]
        : undefined;
    return inner === undefined ? value : Number.isInteger(inner) ? new Float(inner) : inner;
  });
}

export const isArray = (v: Value): boolean => v.type === "ArrayValue" || v.type === "TupleValue";
export const isMapping = (v: Value): boolean =>
  v.type === "ObjectValue" || v.type === "KeywordArgumentsValue";
export const isNumber = (v: Value): boolean =>
  v.type === "IntegerValue" || v.type === "FloatValue" || v.type === "BooleanValue";
export const items = (v: Value): readonly Value[] => v.value as readonly Value[];
export const entries = (v: Value): ReadonlyMap<string, Value> => v.value as ReadonlyMap<string, Value>;

const NAMES: Readonly<Record<string, string>> = {
  StringValue: "str",
  IntegerValue: "int",
  FloatValue: "float",
  BooleanValue: "bool",
  ArrayValue: "list",
  TupleValue: "tuple",
  ObjectValue: "dict",
  NullValue: "NoneType",
  UndefinedValue: "Undefined",
};

/** "list" for a list: what Python's type errors say. */
export const typeName = (v: Value): string => NAMES[v.type] ?? v.type;

/** str(x); nothing for an undefined variable. */
export function str(v: Value): string {
  if (v.type === "StringValue") return v.value as string;
  return v.type === "UndefinedValue" ? "" : repr(v);
}

/** repr(x) */
function repr(v: Value): string {
  switch (v.type) {
    case "StringValue":
      return quoted(v.value as string);
    case "BooleanValue":
      return v.value ? "True" : "False";
    case "NullValue":
      return "None";
    case "UndefinedValue":
      return "Undefined";
    case "IntegerValue":
      return integer(v.value as number);
    case "FloatValue":
      return float(v.value as number);
    case "ArrayValue":
      return `[${items(v).map(repr).join(", ")}]`;
    case "TupleValue":
      return `(${items(v).map(repr).join(", ")}${items(v).length === 1 ? "," : ""})`;
    case "ObjectValue":
    case "KeywordArgumentsValue":
      return `{${[...entries(v)].map(([key, value]) => `${quoted(key)}: ${repr(value)}`).join(", ")}}`;
    default:
      throw new TypeError(`a ${typeName(v)} cannot be printed`);
  }
}

const integer = (n: number): string =>
  Math.abs(n) < 1e21 ? BigInt(n).toString() : n.toLocaleString("fullwide", { useGrouping: false });

/** The shortest digits that give the number back, in Python's layout. */
export function float(n: number): string {
  if (!Number.isFinite(n)) return Number.isNaN(n) ? "nan" : n > 0 ? "inf" : "-inf";
  if (n === 0) return Object.is(n, -0) ? "-0.0" : "0.0";
  const [digits, exponent] = n.toExponential().split("e") as [string, string];
  const power = Number(exponent);
  if (power < -4 || power >= 16) {
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const plain = power < 0 ? n.toFixed(Math.max(0, digits.replace(/^-?\d\.?/, "").length - power)) : String(n);
  return plain.includes(".") ? plain : `${plain}.0`;
}

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

/** Single quotes, unless only single quotes are inside. */
function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(/[\\\n\r\t'"]|[^ -~]/gu, (c) => {
    if (c === quote) return `\\${c}`;
    if (c === "'" || c === '"') return c;
    return ESCAPES[c] ?? (/[\p{C}\p{Z}]/u.test(c) ? hexEscape(c.codePointAt(0)!) : c);
  });
  return quote + body + quote;
}

function hexEscape(code: number): string {
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code <= 0xffff
    ? `\\u${code.toString(16).padStart(4, "0")}`
    : `\\U${code.toString(16).padStart(8, "0")}`;
}

/** a == b, by value. */
export function equals(a: Value, b: Value): boolean {
  if (isNumber(a) && isNumber(b)) return Number(a.value) === Number(b.value);
  if (isArray(a) && isArray(b)) {
    const [x, y] = [items(a), items(b)];
    return a.type === b.type && x.length === y.length && x.every((item, i) => equals(item, y[i]!));
  }
  if (isMapping(a) && isMapping(b)) {
    const [x, y] = [entries(a), entries(b)];
    return x.size === y.size && [...x].every(([key, value]) => y.has(key) && equals(value, y.get(key)!));
  }
  return a.type === b.type && a.value === b.value;
}

export interface DumpOptions {
  readonly indent?: number;
  readonly separators?: readonly [string, string];
  readonly sortKeys?: boolean;
  readonly ensureAscii?: boolean;
}

/** json.dumps(x, ensure_ascii=False), which is what transformers' tojson does. */
export function dumps(v: Value, options: DumpOptions = {}, depth = 0): string {
  const { indent } = options;
  const [comma, colon] = options.separators ?? (indent === undefined ? [", ", ": "] : [",", ": "]);
  const list = (open: string, parts: readonly string[], close: string): string => {
    if (indent === undefined || parts.length === 0) return open + parts.join(comma) + close;
    const line = `\n${" ".repeat(indent * (depth + 1))}`;
    return `${open}${line}${parts.join(comma + line)}\n${" ".repeat(indent * depth)}${close}`;
  };
  switch (v.type) {
    case "NullValue":
      return "null";
    case "BooleanValue":
      return v.value ? "true" : "false";
    case "IntegerValue":
      return integer(v.value as number);
    case "FloatValue":
      return float(v.value as number)
        .replace("inf", "Infinity")
        .replace("nan", "NaN");
    case "StringValue":
      return jsonString(v.value as string, options);
    case "ArrayValue":
    case "TupleValue": {
      const parts = items(v).map((item) => dumps(item, options, depth + 1));
      return list("[", parts, "]");
    }
    case "ObjectValue": {
      const pairs = [...entries(v)];
      if (options.sortKeys) pairs.sort(([a], [b]) => byCodePoint(a, b));
      const parts = pairs.map(
        ([key, value]) => jsonString(key, options) + colon + dumps(value, options, depth + 1),
      );
      return list("{", parts, "}");
    }
    default:
      throw new TypeError(`Object of type ${typeName(v)} is not JSON serializable`);
  }
}

function jsonString(text: string, { ensureAscii = false }: DumpOptions): string {
  const plain = JSON.stringify(text);
  if (!ensureAscii) return plain;
  return plain.replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Order of Python's strings, which JavaScript's code units do not have beyond U+FFFF. */
export function byCodePoint(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const difference = x[i]!.codePointAt(0)! - y[i]!.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return x.length - y.length;
}
