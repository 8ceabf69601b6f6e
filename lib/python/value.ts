/**
 * A Python value as its literal was written: distinguishes int and float, list and tuple, str and bytes; ints are
 * exact. `type` is Python's name of the type. Dicts and sets are in insertion order, without duplicates.
 */
export type PythonValue =
  | { readonly type: "NoneType" }
  | { readonly type: "ellipsis" }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "int"; readonly value: bigint }
  | { readonly type: "float"; readonly value: number }
  | { readonly type: "complex"; readonly real: number; readonly imaginary: number }
  | { readonly type: "str"; readonly value: string }
  /** One character per byte, U+0000 to U+00FF. */
  | { readonly type: "bytes"; readonly value: string }
  | PythonSequence
  | PythonDict;

export interface PythonSequence {
  readonly type: "list" | "tuple" | "set";
  readonly items: readonly PythonValue[];
}

export interface PythonDict {
  readonly type: "dict";
  readonly entries: readonly (readonly [key: PythonValue, value: PythonValue])[];
}

export const NONE: PythonValue = { type: "NoneType" };
export const str = (value: string): PythonValue => ({ type: "str", value });
export const int = (value: bigint | number): PythonValue => ({ type: "int", value: BigInt(value) });
export const float = (value: number): PythonValue => ({ type: "float", value });
export const bool = (value: boolean): PythonValue => ({ type: "bool", value });
export const list = (items: readonly PythonValue[]): PythonSequence => ({ type: "list", items });

/** Result of `toPlain`: arrays for sequences and sets, a Map for a dict (no key is special), null for None. */
export type PlainValue =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | readonly PlainValue[]
  | ReadonlyMap<PlainValue, PlainValue>;

/**
 * The value without Python's distinctions: an int beyond ±(2^53 − 1) is a bigint, any other number a number; list,
 * tuple and set are arrays; bytes are a string. Complex numbers and `...` have no plain form: undefined.
 */
export function toPlain(value: PythonValue): PlainValue {
  switch (value.type) {
    case "NoneType":
      return null;
    case "ellipsis":
    case "complex":
      return undefined;
    case "int": {
      const near = Number(value.value);
      return Number.isSafeInteger(near) ? near : value.value;
    }
    case "list":
    case "tuple":
    case "set":
      return value.items.map(toPlain);
    case "dict":
      return new Map(value.entries.map(([key, item]) => [toPlain(key), toPlain(item)]));
    default:
      return value.value;
  }
}

/**
 * A text that is equal for two values exactly if Python's `==` holds between them (1, 1.0 and True are one key);
 * undefined for values that Python cannot hash (list, dict, set).
 */
export function hashKey(value: PythonValue): string | undefined {
  switch (value.type) {
    case "NoneType":
    case "ellipsis":
      return value.type;
    case "bool":
      return value.value ? "n1" : "n0";
    case "int":
      return `n${value.value}`;
    case "float":
      return numberKey(value.value);
    case "complex":
      return value.imaginary === 0 ? numberKey(value.real) : `c${value.real},${value.imaginary}`;
    case "str":
      return `s${value.value}`;
    case "bytes":
      return `b${value.value}`;
    case "tuple": {
      const keys = value.items.map(hashKey);
      return keys.includes(undefined) ? undefined : `t${JSON.stringify(keys)}`;
    }
    default:
      return undefined;
  }
}

/** Floats beyond 2^53 are integers too, and equal the int of their exact value. */
function numberKey(value: number): string {
  return Number.isInteger(value) ? `n${BigInt(value)}` : `n${value}`;
}

/** The dict of these entries as Python builds it: of equal keys the first stays, with the last value. */
export function dict(entries: Iterable<readonly [PythonValue, PythonValue]>): PythonDict | undefined {
  const built = new Map<string, [PythonValue, PythonValue]>();
  for (const [key, value] of entries) {
    const hash = hashKey(key);
    if (hash === undefined) return undefined;
    built.set(hash, [built.get(hash)?.[0] ?? key, value]);
  }
  return { type: "dict", entries: [...built.values()] };
}

/** The set of these items, keeping the first of equal ones; undefined if one cannot be hashed. */
export function set(items: Iterable<PythonValue>): PythonSequence | undefined {
  const kept = new Map<string, PythonValue>();
  for (const item of items) {
    const hash = hashKey(item);
    if (hash === undefined) return undefined;
    if (!kept.has(hash)) kept.set(hash, item);
  }
  return { type: "set", items: [...kept.values()] };
}

/** Python's `==`: numbers by exact value whatever their type, True as 1; a list never equals a tuple. */
export function equals(a: PythonValue, b: PythonValue): boolean {
  if (a.type === "dict") return b.type === "dict" && equalDicts(a, b);
  if (a.type === "set") return b.type === "set" && equalSets(a, b);
  if (a.type === "list" || a.type === "tuple") {
    if (a.type !== b.type || a.items.length !== b.items.length) return false;
    return a.items.every((item, i) => equals(item, (b as PythonSequence).items[i]!));
  }
  if (isNan(a) || isNan(b)) return false;
  return hashKey(a) === hashKey(b);
}

const isNan = (value: PythonValue): boolean => value.type === "float" && Number.isNaN(value.value);

function equalDicts(a: PythonDict, b: PythonDict): boolean {
  if (a.entries.length !== b.entries.length) return false;
  const others = new Map(b.entries.map(([key, value]) => [hashKey(key), value]));
  return a.entries.every(([key, value]) => {
    const other = others.get(hashKey(key));
    return other !== undefined && equals(value, other);
  });
}

function equalSets(a: PythonSequence, b: PythonSequence): boolean {
  const others = new Set(b.items.map(hashKey));
  return a.items.length === b.items.length && a.items.every((item) => others.has(hashKey(item)));
}
