import { equals, list, type PythonDict, type PythonValue, str } from "../../python/value.ts";
import { Unjudgeable } from "./entry.ts";

type Values = readonly PythonValue[];

/** The form in which texts are compared: strict compares them unchanged. */
export type TextForm = (text: string) => string;

/** A text in its form of comparison, any other value unchanged. */
const formOf = (value: PythonValue, form: TextForm): PythonValue =>
  value.type === "str" ? str(form(value.value)) : value;

export const isEmptyText = (value: PythonValue): boolean => value.type === "str" && value.value === "";

const isIn = (value: PythonValue, values: Values): boolean => values.some((other) => equals(value, other));

/**
 * Whether a value is one of the allowed ones, each kind compared in its own way: texts in the given form, elements of
 * lists likewise, dicts key by key. The answer is undefined, or the reference's name of what is wrong.
 * Throws Unjudgeable where the reference's check breaks on its own gold.
 * Source: BFCL v4, ast_checker.
 */
export function checkText(value: PythonValue, allowed: Values, form: TextForm): string | undefined {
  const texts = allowed.filter(({ type }) => type === "str").map((text) => formOf(text, form));
  return isIn(formOf(value, form), texts) ? undefined : "value_error:string";
}

export function checkList(items: Values, allowed: Values, form: TextForm): string | undefined {
  const given = list(items.map((item) => formOf(item, form)));
  const lists = allowed.map((other) => list(elementsOf(other).map((item) => formOf(item, form))));
  return isIn(given, lists) ? undefined : "value_error:list/tuple";
}

/** What indexing gives in Python: the elements of a list, the characters of a text. */
function elementsOf(value: PythonValue): Values {
  if (value.type === "list" || value.type === "tuple") return value.items;
  if (value.type === "str") return [...value.value].map((character) => ({ type: "str", value: character }));
  throw new Unjudgeable(`gold value of type ${value.type} where a list is due`);
}

export function checkDict(given: PythonDict, allowed: Values, form: TextForm): string | undefined {
  let fault: string | undefined = "dict_checker:unclear";
  for (const gold of allowed) {
    if (isEmptyText(gold)) continue;
    if (gold.type !== "dict") throw new Unjudgeable(`gold value of type ${gold.type} where a dict is due`);
    fault = compareDicts(given, gold, form);
    if (fault === undefined) return undefined;
  }
  return fault;
}

/** Every key given must be known and have one of its values; every other known key must allow "". */
function compareDicts(given: PythonDict, gold: PythonDict, form: TextForm): string | undefined {
  const known = new Map(gold.entries.map(([key, values]) => [keyText(key), values]));
  let fault: string | undefined;
  for (const [key, value] of given.entries) {
    const values = known.get(keyText(key));
    if (values === undefined) {
      fault = "value_error:dict_key";
      break;
    }
    const standard = elementsOf(values).map((other) => formOf(other, form));
    if (isIn(formOf(value, form), standard)) continue;
    fault = "value_error:dict_value";
    break;
  }
  const present = new Set(given.entries.map(([key]) => keyText(key)));
  for (const [key, values] of known) {
    if (present.has(key)) continue;
    const isText = values.type === "str"; // every Python text contains the empty one
    if (!isText && !elementsOf(values).some(isEmptyText)) return "value_error:dict_key";
  }
  return fault;
}

const keyText = (key: PythonValue): string =>
  key.type === "str" ? `s${key.value}` : `${key.type} ${"value" in key ? key.value : ""}`;

/** Dicts in order, as many as in the gold list. */
export function checkDicts(given: Values, allowed: Values, form: TextForm): string | undefined {
  let fault: string | undefined = "list_dict_checker:unclear";
  for (const gold of allowed) {
    const golds = elementsOf(gold);
    if (golds.length !== given.length) {
      fault = "value_error:list_dict_count";
      continue;
    }
    fault = undefined;
    for (const [index, item] of given.entries()) {
      if (item.type !== "dict") throw new Unjudgeable(`a value of type ${item.type} among dicts`);
      fault = checkDict(item, [golds[index]!], form);
      if (fault !== undefined) break;
    }
    if (fault === undefined) return undefined;
  }
  return fault;
}
