// Facts of BFCL's ast_checker. Deliberate faults (mutants) that these tests detect: a tuple for any type, an int
// stays where a float is expected, the elements' type is refused, nested types of "" are checked, variables are
// compared in standard form.
import { describe, expect, test } from "vitest";
import { type Language, Unjudgeable } from "../../../lib/domains/function-calling/entry.ts";
import { checkArgument } from "../../../lib/domains/function-calling/parameter-check.ts";
import { standardize } from "../../../lib/domains/function-calling/standardize.ts";
import { PYTHON_COMPARISON, TYPED_COMPARISON } from "../../../lib/domains/function-calling/value-check.ts";
import { readLiteral } from "../../../lib/python/literal.ts";
import type { PythonSequence, PythonValue } from "../../../lib/python/value.ts";

function py(text: string): PythonValue {
  const read = readLiteral(text);
  if ("fault" in read) throw new Error(`${text}: ${read.fault}`);
  return read.value;
}

/** `type` is "array of string" or "integer". */
function fault(
  value: string,
  type: string,
  allowed: string,
  language: Language = "python",
  strictly = false,
): string | undefined {
  const [outer, items] = type.split(" of ");
  return checkArgument({
    value: py(value),
    type: { type: outer, items },
    allowed: (py(allowed) as PythonSequence).items,
    language,
    by: strictly
      ? { ...TYPED_COMPARISON, form: (text) => text }
      : { ...PYTHON_COMPARISON, form: standardize },
  });
}

describe("Python", () => {
  test.each<[string, string, string, string | undefined]>([
    ["5", "integer", "[5]", undefined],
    ["6", "integer", "[5]", "value_error:others"],
    ["5.0", "integer", "[5]", "type_error:simple"],
    ["True", "integer", "[1]", "type_error:simple"],
    ["'5'", "integer", "[5]", "type_error:simple"],
    ["5", "float", "[5.0]", undefined],
    ["5", "float", "[5]", undefined],
    ["5.0", "float", "[5]", undefined],
    ["True", "boolean", "[True]", undefined],
    ["1", "boolean", "[True]", "type_error:simple"],
    ["None", "string", "['a']", "type_error:simple"],
    ["'A.'", "string", "['a']", undefined],
    ["'x'", "any", "['X']", undefined],
    ["5", "any", "[5]", undefined],
    ["'x'", "integer", "['x', 5]", undefined],
    ["'X'", "integer", "['x', 5]", "value_error:others"],
    ["5", "integer", "['']", "value_error:others"],
    ["[1, 2]", "array of integer", "[[1, 2]]", undefined],
    ["[1, 2.0]", "array of integer", "[[1, 2]]", "type_error:nested"],
    ["[1]", "array of float", "[[1.0]]", "type_error:nested"],
    ["[1, 2]", "array of integer", "['', [1, 2]]", undefined],
    ["['1', 2]", "array of integer", "['', [1, 2]]", "value_error:list/tuple"],
    ["['A', 1]", "array of integer", "[['a', 1]]", undefined],
    ["(1, 2)", "tuple of integer", "[[1, 2]]", undefined],
    ["(1, 2)", "array of integer", "[[1, 2]]", "type_error:simple"],
    ["'ab'", "array of string", "['ab']", undefined],
    ["{'a': 1}", "dict", "[{'a': [1]}]", undefined],
    ["{'a': 2}", "dict", "[{'a': [1]}]", "value_error:dict_value"],
    ["[{'a': 1}]", "array of dict", "[[{'a': [1]}]]", undefined],
    ["[1]", "array of dict", "[[{'a': [1]}]]", "type_error:nested"],
  ])("%s as %s, allowed %s", (value, type, allowed, expected) => {
    expect(fault(value, type, allowed)).toBe(expected);
  });
});

describe("Python, strict", () => {
  test.each<[string, string, string, boolean]>([
    ["5.0", "float", "[5]", true],
    ["5", "float", "[5.0]", true],
    ["5.0", "integer", "[5]", false],
    ["[]", "array of integer", "['', [5, 6]]", false],
    ["[5, 6]", "array of integer", "['', [5, 6]]", true],
    ["[True, 2.0]", "array of float", "['', [1.0, 2.0]]", false],
    ["[1.0, 2.0]", "array of float", "['', [1, 2]]", true],
    ["['1', 2]", "array of integer", "['', ['1', 2]]", true],
    ["''", "string", "['', 'x']", false],
    ["{'a': ''}", "dict", "[{'a': ['', 1]}]", false],
  ])("%s as %s, allowed %s: %s", (value, type, allowed, right) => {
    expect(fault(value, type, allowed, "python", true) === undefined).toBe(right);
  });
});

describe("Java and JavaScript: source text", () => {
  test.each<[Language, string, string, string, string | undefined]>([
    ["java", "'5'", "integer", "[5]", undefined],
    ["java", "5", "integer", "[5]", "type_error:java"],
    ["java", "'5'", "long", "[5]", "type_error:simple"],
    ["java", "'5L'", "long", "[5]", undefined],
    ["java", "'new int[]{1, 2}'", "Array of integer", "[[1, 2]]", undefined],
    ["java", "'listenerObj'", "ArrayList of String", "['listenerObj']", undefined],
    ["java", `'new HashMap<>() {{ put("a", "X"); }}'`, "HashMap", "[{'a': ['x']}]", undefined],
    ["javascript", "'true'", "Boolean", "[True]", undefined],
    ["javascript", "True", "Boolean", "[True]", "type_error:js"],
    ["javascript", "'[1, 2]'", "array of integer", "[[1, 2]]", undefined],
    ["javascript", "'{a: 1}'", "dict", "[{'a': [1]}]", undefined],
    ["javascript", "'5'", "Bigint", "[5]", "type_error:simple"],
  ])("%s: %s as %s, allowed %s", (language, value, type, allowed, expected) => {
    expect(fault(value, type, allowed, language)).toBe(expected);
  });
});

describe("types that there is no rule for", () => {
  test.each<[Language, string, string]>([
    ["python", "object", "5"],
    ["python", "array", "[5]"],
    ["python", "array of set", "[5]"],
    ["python", "String", "'a'"],
    ["java", "Queue", "'a'"],
    ["javascript", "string", "'a'"],
    ["python", "__proto__", "'a'"],
  ])("%s %s", (language, type, value) => {
    expect(() => fault(value, type, "['a']", language)).toThrow(Unjudgeable);
  });

  test("an int that no float holds", () => {
    expect(() => fault("9".repeat(400), "float", "[1.0]")).toThrow(Unjudgeable);
  });
});
