import { constantRepr, floatRepr, textRepr } from "../../python/spelling.ts";
import { type JsonMaker, readJsonText } from "../../shared/text/json-text.ts";

/**
 * The values a template computes with, and how Python prints, compares and measures them.
 *   str: string; int: a whole number; float: Float, or a number with a fraction; bool, None: boolean, null;
 *   list, tuple: Array, Tuple; dict: Map; undefined variables: Undefined; functions: Callable.
 */
export type Value =
  | string
  | number
  | boolean
  | null
  | Float
  | Undefined
  | Value[]
  | Map<Value, Value>
  | Namespace
  | Callable;

/** Evaluated arguments of a call. */
export interface Arguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** An error in the template or its variables; the message is that of Python's Jinja. */
export class TemplateFault extends Error {}

/** Something a template uses that this interpreter does not have. */
export class UnknownName extends Error {}

/** An integral number that Python represents as a float. See floating. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** A variable, attribute or element that does not exist. Prints as nothing and raises in any other use. */
export class Undefined {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

export class Tuple extends Array<Value> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
}

/** A tuple with named items: result of groupby. */
export class NamedTuple extends Tuple {
  names: readonly string[] = [];
}

export function tupleOf(items: readonly Value[]): Tuple {
  const tuple = new Tuple();
  for (const item of items) tuple.push(item);
  return tuple;
}

/** A value with attributes: namespace(...), whose attributes may be assigned, and `loop`, which a recursive loop may call. */
export class Namespace {
  readonly kind: string = "namespace";
  readonly call: ((args: Arguments) => Value) | undefined;
  readonly #fields: Map<string, Value>;

  constructor(fields: Iterable<readonly [string, Value]>, call?: (args: Arguments) => Value) {
    this.#fields = new Map(fields);
    this.call = call;
  }

  get(name: string): Value | undefined {
    return this.#fields.get(name);
  }

  set(name: string, value: Value): void {
    this.#fields.set(name, value);
  }
}

export class Callable {
  readonly name: string;
  readonly call: (args: Arguments) => Value;
  constructor(name: string, call: (args: Arguments) => Value) {
    this.name = name;
    this.call = call;
  }
}

/** A float: wraps whole numbers in Float, which distinguishes them from ints. */
export const floating = (n: number): Value => (Number.isInteger(n) ? new Float(n) : n);

export const isFloat = (v: Value): boolean =>
  v instanceof Float || (typeof v === "number" && !Number.isInteger(v));
export const isInteger = (v: Value): v is number => typeof v === "number" && Number.isInteger(v);
export const isNumber = (v: Value): v is number | boolean | Float =>
  typeof v === "number" || typeof v === "boolean" || v instanceof Float;
/** The JavaScript number of a template's number. */
export const numeric = (v: number | boolean | Float): number => (v instanceof Float ? v.value : Number(v));

/** JavaScript values as a template's: objects become dicts, fields without a value are left out. */
export function fromJs(value: unknown): Value {
  if (Array.isArray(value)) return value.map(fromJs);
  if (value === undefined) return new Undefined("a value is missing");
  if (typeof value === "object" && value !== null && !(value instanceof Float)) {
    const fields = Object.entries(value).filter(([, item]) => item !== undefined);
    return new Map(fields.map(([key, item]) => [key, fromJs(item)]));
  }
  return value as Value;
}

const PLAIN_JSON: JsonMaker<unknown> = {
  constant: (value) => value,
  number: (digits, isInteger) => (isInteger ? Number(digits) : floating(Number(digits))),
  string: (text) => text,
  list: (items) => items,
  object: (members) => Object.fromEntries(members),
  maxDepth: 1000,
};

/** JSON.parse that distinguishes 2.0 from 2, as a Float. Throws SyntaxError. */
export const readJson = (text: string): unknown => readJsonText(text, PLAIN_JSON);

/** Python's type name for error messages: "list" for a list. */
export function typeName(v: Value): string {
  if (v === null) return "NoneType";
  if (typeof v === "string") return "str";
  if (typeof v === "boolean") return "bool";
  if (isFloat(v)) return "float";
  if (typeof v === "number") return "int";
  if (v instanceof Tuple) return "tuple";
  if (Array.isArray(v)) return "list";
  if (v instanceof Map) return "dict";
  if (v instanceof Namespace) return v.kind;
  return v instanceof Undefined ? "Undefined" : "function";
}

/** bool(x) */
export function truth(v: Value): boolean {
  if (v === null || v instanceof Undefined) return false;
  if (isNumber(v)) return numeric(v) !== 0;
  const size = typeof v === "string" ? v.length : sizeOf(v);
  return size === undefined || size > 0;
}

/** An argument by position or name, possibly None; undefined if it was not given. */
export function given(args: Arguments, index: number, name: string): Value | undefined {
  return index < args.positional.length ? args.positional[index] : args.named.get(name);
}

/** Number of code points of a string, as len() counts. */
export function length(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** len(x); undefined for a value without length. */
export function sizeOf(v: Value): number | undefined {
  if (typeof v === "string") return length(v);
  if (Array.isArray(v)) return v.length;
  if (v instanceof Map) return v.size;
  return v instanceof Undefined ? 0 : undefined;
}

/** The items of an iteration: characters, items, keys. Throws TemplateFault for what cannot be iterated over. */
export function iterate(v: Value): readonly Value[] {
  if (Array.isArray(v)) return v;
  if (typeof v === "string") return [...v];
  if (v instanceof Map) return [...v.keys()];
  if (v instanceof Undefined) return [];
  throw new TemplateFault(`'${typeName(v)}' object is not iterable`);
}

/** str(x); empty for undefined. */
export function str(v: Value): string {
  if (typeof v === "string") return v;
  return v instanceof Undefined ? "" : repr(v);
}

/** repr(x) */
export function repr(v: Value): string {
  if (typeof v === "string") return textRepr(v);
  if (v === null || typeof v === "boolean") return constantRepr(v);
  if (v instanceof Undefined) return "Undefined";
  if (isFloat(v)) return floatRepr(numeric(v as number));
  if (typeof v === "number") return integer(v);
  if (v instanceof Tuple) return `(${listed(v.map(repr))}${v.length === 1 ? "," : ""})`;
  if (Array.isArray(v)) return `[${listed(v.map(repr))}]`;
  if (v instanceof Map) return `{${listed([...v].map(([key, item]) => `${repr(key)}: ${repr(item)}`))}}`;
  throw new TemplateFault(`a ${typeName(v)} cannot be printed`);
}

const MOST_LISTED = 1 << 24;

/**
 * Joins the parts. Throws for a text that is too long: lists that contain each other several times could
 * produce any length.
 */
function listed(parts: readonly string[]): string {
  const total = parts.reduce((sum, part) => sum + part.length + 2, 0);
  if (total > MOST_LISTED) throw new TemplateFault(`a text of ${total} characters is too long`);
  return parts.join(", ");
}

const integer = (n: number): string => (Number.isSafeInteger(n) ? String(n) : BigInt(n).toString());

/** a == b, by value. */
export function equals(a: Value, b: Value): boolean {
  if (isNumber(a) && isNumber(b)) return numeric(a) === numeric(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    const alike = a instanceof Tuple === b instanceof Tuple && a.length === b.length;
    return alike && a.every((item, i) => equals(item, b[i]!));
  }
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && equals(value, b.get(key)!));
  }
  return a === b || (a instanceof Undefined && b instanceof Undefined);
}

/** Order of a and b: negative, 0 or positive. Throws TemplateFault if Python has none. */
export function compare(a: Value, b: Value, operator = "<"): number {
  if (isNumber(a) && isNumber(b)) return numeric(a) - numeric(b);
  if (typeof a === "string" && typeof b === "string") return byCodePoint(a, b);
  if (Array.isArray(a) && Array.isArray(b) && a instanceof Tuple === b instanceof Tuple) {
    const at = a.findIndex((item, i) => i >= b.length || !equals(item, b[i]!));
    return at < 0 || at >= b.length ? a.length - b.length : compare(a[at]!, b[at]!, operator);
  }
  const undefinedOne = [a, b].find((v) => v instanceof Undefined);
  if (undefinedOne instanceof Undefined) throw new TemplateFault(undefinedOne.why);
  const names = `'${typeName(a)}' and '${typeName(b)}'`;
  throw new TemplateFault(`'${operator}' not supported between instances of ${names}`);
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
