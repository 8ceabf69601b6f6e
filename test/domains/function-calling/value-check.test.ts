// Facts of BFCL's ast_checker. Deliberate faults (mutants) that these tests detect: a dict's unknown key is ignored,
// a missing key that does not allow "" is ignored, "" counts as a gold dict, a list's dicts may come in any order.
import { describe, expect, test } from "vitest";
import { Unjudgeable } from "../../../lib/domains/function-calling/entry.ts";
import { standardize } from "../../../lib/domains/function-calling/standardize.ts";
import {
  checkDict,
  checkDicts,
  checkList,
  checkText,
  isEmptyText,
  PYTHON_COMPARISON,
  TYPED_COMPARISON,
} from "../../../lib/domains/function-calling/value-check.ts";
import { readLiteral } from "../../../lib/python/literal.ts";
import type { PythonDict, PythonSequence, PythonValue } from "../../../lib/python/value.ts";

const REFERENCE = { ...PYTHON_COMPARISON, form: standardize };
const STRICT = { ...TYPED_COMPARISON, form: (text: string) => text };

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
    expect(checkText(py(value), items(allowed), REFERENCE)).toBe(fault);
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
    expect(checkList(items(value), items(allowed), REFERENCE)).toBe(fault);
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
    expect(checkDict(py<PythonDict>(value), items(allowed), REFERENCE)).toBe(fault);
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
    expect(checkDicts(items(value), items(allowed), REFERENCE)).toBe(fault);
  });
});

describe("where the reference breaks, so does the check", () => {
  test.each([
    ["a number where a list is due", () => checkList([], items("[5]"), REFERENCE)],
    ["a number where a dict is due", () => checkDict(py("{}"), items("[5]"), REFERENCE)],
    ["a number where values are due", () => checkDict(py("{'a': 1}"), items("[{'a': 5}]"), REFERENCE)],
    ["a text among dicts", () => checkDicts(items("['x']"), items("[[{'a': [1]}]]"), REFERENCE)],
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

describe("strict compares by type, and never takes what may be left out for a value", () => {
  test.each([
    ["'x'", "['x']", true],
    ["'X'", "['x']", false],
    ["''", "['', 'x']", false],
    ["''", "['']", false],
  ])("text %s of %s: %s", (value, allowed, right) => {
    expect(checkText(py(value), items(allowed), STRICT) === undefined).toBe(right);
  });

  test.each([
    ["[]", "['', [5, 6]]", false, false],
    ["[]", "['']", false, false],
    ["[]", "[[]]", true, true],
    ["[5, 6]", "['', [5, 6]]", true, true],
    ["[True, 2.0]", "[[1.0, 2.0]]", false, false],
    ["[1, 2.0]", "[[1.0, 2.0]]", true, true],
    ["[1.0, 2.0]", "[[1, 2]]", false, true],
    ["[[1.0], [2]]", "[[[1], [2]]]", false, true],
    ["[True]", "[[1]]", false, false],
    ["[1]", "[[True]]", false, false],
    ["[{'a': 1}]", "[[{'a': 1}]]", true, true],
    ["[{'a': True}]", "[[{'a': 1}]]", false, false],
    ["[{'a': 1, 'b': 2}]", "[[{'a': 1}]]", false, false],
    ["[{1: 2}]", "[[{True: 2}]]", false, false],
    ["[(1,)]", "[[[1]]]", false, false],
    ["[None]", "[[None]]", true, true],
  ])("list %s of %s: %s, of floats: %s", (value, allowed, right, asFloats) => {
    expect(checkList(items(value), items(allowed), STRICT) === undefined).toBe(right);
    expect(checkList(items(value), items(allowed), STRICT, true) === undefined).toBe(asFloats);
  });

  test.each([
    ["{'a': 1}", "[{'a': [1]}]", true],
    ["{'a': 1.0}", "[{'a': [1]}]", false],
    ["{'a': True}", "[{'a': [1]}]", false],
    ["{'a': 1}", "[{'a': [True]}]", false],
    ["{'a': 1}", "[{'a': [1.0]}]", true],
    ["{'f': 1.0}", "[{'f': [1]}]", true],
    ["{'f': True}", "[{'f': [1.0]}]", false],
    ["{'a': ''}", "[{'a': ['', 'x']}]", false],
    ["{'a': 'x'}", "[{'a': ['', 'x']}]", true],
    ["{}", "[{'a': ['', 'x']}]", true],
    ["{'a': 'x'}", "[{'a': 'xyz'}]", false],
    ["{'a': 'xyz'}", "[{'a': 'xyz'}]", true],
    ["{}", "[{'a': 'xyz'}]", false],
    ["{'a': {'b': True}}", "[{'a': [{'b': 1}]}]", false],
  ])("object %s of %s, f a float: %s", (value, allowed, right) => {
    expect(checkDict(py(value), items(allowed), STRICT, new Set(["f"])) === undefined).toBe(right);
    const listed = checkDicts([py(value)], [{ type: "list", items: items(allowed) }], STRICT, new Set(["f"]));
    expect(listed === undefined).toBe(right);
  });
});
