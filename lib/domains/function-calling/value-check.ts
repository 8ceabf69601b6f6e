import { equals, list, type PythonDict, type PythonValue, str } from "../../python/value.ts";
import { Unjudgeable } from "./entry.ts";

type Values = readonly PythonValue[];
const NO_KEYS: ReadonlySet<string> = new Set();

/** How a value is compared with the allowed ones. */
export interface Comparison {
  /** Normalises texts before a comparison; strict judging leaves them unchanged. */
  form(text: string): string;
  /** @param isFloat true if the schema's type is float, so that the spelling of an allowed number does not matter. */
  equal(given: PythonValue, allowed: PythonValue, isFloat: boolean): boolean;
  /** The allowed values without "" if "" marks the parameter as optional. */
  valuesOf(allowed: Values): Values;
  /** The allowed values of one key of an allowed object. */
  valuesOfKey(allowed: PythonValue): Values;
  /** True if a key with these values is optional. */
  mayLack(allowed: PythonValue): boolean;
  /** The elements of an allowed list; undefined if it is not a list. */
  elementsOf(allowed: PythonValue): Values;
}

/** Compares as Python does: 1 equals 1.0 and True, "" is an ordinary value, and a text is the list of its characters. */
export const PYTHON_COMPARISON: Omit<Comparison, "form"> = {
  equal: equals,
  valuesOf: (allowed) => allowed,
  valuesOfKey: (allowed) => indexed(allowed),
  // every text contains "", as Python's `in` says
  mayLack: (allowed) => allowed.type === "str" || indexed(allowed).some(isEmptyText),
  elementsOf: (allowed) => indexed(allowed),
};

/**
 * Compares types and values: an integer may stand for a float, and if the schema requires a float also a float for an
 * integer.
 */
export const TYPED_COMPARISON: Omit<Comparison, "form"> = {
  equal: sameValue,
  valuesOf: (allowed) => allowed.filter((value) => !isEmptyText(value)),
  valuesOfKey: (allowed) => (allowed.type === "list" || allowed.type === "tuple" ? allowed.items : [allowed]),
  mayLack: (allowed) => TYPED_COMPARISON.valuesOfKey(allowed).some(isEmptyText),
  elementsOf: (allowed) => indexed(allowed),
};

const isNumber = ({ type }: PythonValue): boolean => type === "int" || type === "float";

function sameValue(given: PythonValue, allowed: PythonValue, isFloat: boolean): boolean {
  const isLoose = isFloat || allowed.type === "float";
  if (isLoose && isNumber(given) && isNumber(allowed)) return equals(given, allowed);
  if (given.type !== allowed.type) return false;
  if ("items" in given && given.type !== "set") {
    const { items } = allowed as typeof given;
    return (
      given.items.length === items.length &&
      given.items.every((item, i) => sameValue(item, items[i]!, isFloat))
    );
  }
  if (given.type !== "dict") return equals(given, allowed);
  const others = new Map((allowed as PythonDict).entries.map(([key, value]) => [keyText(key), value]));
  const isSame = ([key, value]: readonly [PythonValue, PythonValue]) => {
    const other = others.get(keyText(key));
    return other !== undefined && sameValue(value, other, isFloat);
  };
  return given.entries.length === others.size && given.entries.every(isSame);
}

/** Normalises a text for comparison; returns any other value unchanged. */
const formOf = (value: PythonValue, { form }: Comparison): PythonValue =>
  value.type === "str" ? str(form(value.value)) : value;

export const isEmptyText = (value: PythonValue): boolean => value.type === "str" && value.value === "";

const isIn = (value: PythonValue, values: Values, { equal }: Comparison, isFloat = false): boolean =>
  values.some((other) => equal(value, other, isFloat));

/**
 * Checks that a value is one of the allowed ones, each type compared in its own way: texts and elements of
 * lists normalised by `form`, dicts key by key. Returns undefined, or the reference's name of the error.
 * Throws Unjudgeable if the reference's check fails on its own gold answer.
 * Source: BFCL v4, ast_checker.
 */
export function checkText(value: PythonValue, allowed: Values, by: Comparison): string | undefined {
  const texts = by.valuesOf(allowed).filter(({ type }) => type === "str");
  const formed = texts.map((text) => formOf(text, by));
  return isIn(formOf(value, by), formed, by) ? undefined : "value_error:string";
}

export function checkList(
  items: Values,
  allowed: Values,
  by: Comparison,
  isFloat = false,
): string | undefined {
  const given = list(items.map((item) => formOf(item, by)));
  const lists = by
    .valuesOf(allowed)
    .map((other) => list(by.elementsOf(other).map((item) => formOf(item, by))));
  return isIn(given, lists, by, isFloat) ? undefined : "value_error:list/tuple";
}

/** Items by index as in Python: the elements of a list, the characters of a text. */
function indexed(value: PythonValue): Values {
  if (value.type === "list" || value.type === "tuple") return value.items;
  if (value.type === "str") return [...value.value].map((character) => ({ type: "str", value: character }));
  throw new Unjudgeable(`gold value of type ${value.type} where a list is due`);
}

/** Compares a dict with the allowed ones. @param floats keys whose values are floats in the schema */
export function checkDict(
  given: PythonDict,
  allowed: Values,
  by: Comparison,
  floats: ReadonlySet<string> = NO_KEYS,
): string | undefined {
  let fault: string | undefined = "dict_checker:unclear";
  for (const gold of allowed) {
    if (isEmptyText(gold)) continue;
    if (gold.type !== "dict") throw new Unjudgeable(`gold value of type ${gold.type} where a dict is due`);
    fault = compareDicts(given, gold, by, floats);
    if (fault === undefined) return undefined;
  }
  return fault;
}

/** Every given key must be known and have one of its values; every other known key must be optional. */
function compareDicts(
  given: PythonDict,
  gold: PythonDict,
  by: Comparison,
  floats: ReadonlySet<string>,
): string | undefined {
  const known = new Map(gold.entries.map(([key, values]) => [keyText(key), values]));
  let fault: string | undefined;
  for (const [key, value] of given.entries) {
    const values = known.get(keyText(key));
    if (values === undefined) {
      fault = "value_error:dict_key";
      break;
    }
    const standard = by.valuesOf(by.valuesOfKey(values)).map((other) => formOf(other, by));
    const isFloat = key.type === "str" && floats.has(key.value);
    if (isIn(formOf(value, by), standard, by, isFloat)) continue;
    fault = "value_error:dict_value";
    break;
  }
  const present = new Set(given.entries.map(([key]) => keyText(key)));
  for (const [key, values] of known) {
    if (present.has(key)) continue;
    if (!by.mayLack(values)) return "value_error:dict_key";
  }
  return fault;
}

const keyText = (key: PythonValue): string =>
  key.type === "str" ? `s${key.value}` : `${key.type} ${"value" in key ? key.value : ""}`;

/** Compares dicts, in order, with gold lists of the same length. */
export function checkDicts(
  given: Values,
  allowed: Values,
  by: Comparison,
  floats: ReadonlySet<string> = NO_KEYS,
): string | undefined {
  let fault: string | undefined = "list_dict_checker:unclear";
  for (const gold of allowed) {
    const golds = by.elementsOf(gold);
    if (golds.length !== given.length) {
      fault = "value_error:list_dict_count";
      continue;
    }
    fault = undefined;
    for (const [index, item] of given.entries()) {
      if (item.type !== "dict") throw new Unjudgeable(`a value of type ${item.type} among dicts`);
      fault = checkDict(item, [golds[index]!], by, floats);
      if (fault !== undefined) break;
    }
    if (fault === undefined) return undefined;
  }
  return fault;
}
