// Facts of BFCL's ast_checker. Mutants tried: a dict's unknown key ignored, a missing key that does not allow "" ignored,
// "" taken for a gold dict, dicts of a list in any order.
import { describe, expect, test } from "vitest";
import { Unjudgeable } from "../../../lib/domains/function-calling/entry.ts";
import { standardize } from "../../../lib/domains/function-calling/standardize.ts";
import {
  checkDict,
  checkDicts,
  checkList,
  checkText,
  isEmptyText,
} from "../../../lib/domains/function-calling/value-check.ts";
import { readLiteral } from "../../../lib/python/literal.ts";
import type { PythonDict, PythonSequence, PythonValue } from "../../../lib/python/value.ts";

function py<T extends PythonValue>(text: string): T {
  const read = readLiteral(text);
  if ("fault" in read) throw new Error(`${text}: ${read.fault}`);
  return read.value as T;
}
const items = (text: string) => py<PythonSequence>(text).items;

describe("texts", () => {
  test.each([
    ["'New York'", "['new-york']", undefined],
    ["'x'", "['y', 'X.']", undefined],
    ["'x'", "['y', 1]", "value_error:string"],
    ["','", "['']", undefined],
    ["'x'", "[]", "value_error:string"],
  ])("%s of %s", (value, allowed, fault) => {
    expect(checkText(py(value), items(allowed), standardize)).toBe(fault);
  });
});

describe("lists", () => {
  test.each([
    ["['A', 'b']", "[['a', 'B.']]", undefined],
    ["[1, 2.0]", "[[1.0, 2]]", undefined],
    ["[2, 1]", "[[1, 2]]", "value_error:list/tuple"],
    ["[1]", "[[1, 2], [1]]", undefined],
    ["[]", "['']", undefined],
    ["['a', 'b']", "['ab']", undefined],
    ["[(1,)]", "[[[1]]]", "value_error:list/tuple"],
    ["[[1], 'x']", "[[[1], 'X']]", undefined],
  ])("%s of %s", (value, allowed, fault) => {
    expect(checkList(items(value), items(allowed), standardize)).toBe(fault);
  });
});

describe("dicts", () => {
  test.each([
    ["{'a': 'X'}", "[{'a': ['x']}]", undefined],
    ["{'a': 1}", "[{'a': [1.0, 2]}]", undefined],
    ["{'a': 3}", "[{'a': [1, 2]}]", "value_error:dict_value"],
    ["{'b': 1}", "[{'a': [1]}]", "value_error:dict_key"],
    ["{}", "[{'a': [1]}]", "value_error:dict_key"],
    ["{}", "[{'a': [1, '']}]", undefined],
    ["{'a': 1}", "['', {'a': [1]}]", undefined],
    ["{'a': 1}", "['']", "dict_checker:unclear"],
    ["{'a': 1}", "[{'a': [2]}, {'b': [1]}]", "value_error:dict_key"],
    ["{'a': 1}", "[{'b': [1]}, {'a': [1]}]", undefined],
    ["{'a': {'b': 1}}", "[{'a': [{'b': 1}]}]", undefined],
    ["{'a': 'x'}", "[{'a': 'xyz'}]", undefined],
    ["{}", "[{'a': 'xyz'}]", undefined],
    ["{'a': 9, 'b': 1}", "[{'a': [1], 'b': [1]}]", "value_error:dict_value"],
    ["{'a': 9}", "[{'a': [1], 'b': [1]}]", "value_error:dict_key"],
    ["{1: 2}", "[{'1': [2]}]", "value_error:dict_key"],
    ["{'__proto__': 1}", "[{'constructor': ['']}]", "value_error:dict_key"],
  ])("%s of %s", (value, allowed, fault) => {
    expect(checkDict(py<PythonDict>(value), items(allowed), standardize)).toBe(fault);
  });
});

describe("lists of dicts, in order", () => {
  test.each([
    ["[{'a': 1}, {'a': 2}]", "[[{'a': [1]}, {'a': [2]}]]", undefined],
    ["[{'a': 2}, {'a': 1}]", "[[{'a': [1]}, {'a': [2]}]]", "value_error:dict_value"],
    ["[{'a': 1}]", "[[{'a': [1]}, {'a': [2]}]]", "value_error:list_dict_count"],
    ["[{'a': 1}]", "[[], [{'a': [1]}]]", undefined],
    ["[]", "['']", undefined],
    ["[]", "[]", "list_dict_checker:unclear"],
  ])("%s of %s", (value, allowed, fault) => {
    expect(checkDicts(items(value), items(allowed), standardize)).toBe(fault);
  });
});

describe("where the reference breaks, so does the check", () => {
  test.each([
    ["a number where a list is due", () => checkList([], items("[5]"), standardize)],
    ["a number where a dict is due", () => checkDict(py("{}"), items("[5]"), standardize)],
    ["a number where values are due", () => checkDict(py("{'a': 1}"), items("[{'a': 5}]"), standardize)],
    ["a text among dicts", () => checkDicts(items("['x']"), items("[[{'a': [1]}]]"), standardize)],
  ])("%s", (_, action) => {
    expect(action).toThrow(Unjudgeable);
  });
});

test("only the empty text lets a parameter be left out", () => {
  expect(["''", "' '", "0", "[]", "None"].map((text) => isEmptyText(py(text)))).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});
