// Facts of BFCL's java_type_converter. Deliberate faults (mutants) that these tests detect: float or long without its
// suffix, an empty part is kept, String elements keep their quotes, a map ends at the last brace, any length is
// converted.
import { describe, expect, test } from "vitest";
import { Unjudgeable } from "../../../lib/domains/function-calling/entry.ts";
import { fromJava, JAVA_TYPES } from "../../../lib/domains/function-calling/java.ts";
import { bool, dict, float, int, list, type PythonValue, str } from "../../../lib/python/value.ts";

describe("simple types; what does not fit stays text", () => {
  test.each<[string, string, PythonValue]>([
    ["byte", "-128", int(-128)],
    ["short", "5.0", str("5.0")],
    ["integer", "12345678901", int(12345678901)],
    ["integer", "5L", str("5L")],
    ["float", "3.14f", float(3.14)],
    ["float", "3e-3F", float(0.003)],
    ["float", "3.14", str("3.14")],
    ["double", "3.14e2", float(314)],
    ["double", "3.14f", str("3.14f")],
    ["long", "9223372036854775807L", int(9223372036854775807n)],
    ["long", "5", str("5")],
    ["boolean", "true", bool(true)],
    ["boolean", "True", str("True")],
    ["char", "'a'", str("'a'")],
    ["String", '"a"', str('"a"')],
    ["any", "5", str("5")],
  ])("%s %s", (type, text, value) => {
    expect(fromJava(text, type)).toEqual(value);
  });
});

describe("collections", () => {
  const ONE_TWO = list([int(1), int(2)]);
  test.each<[string, string, string | undefined, PythonValue]>([
    ["Array", "new int[]{1, 2}", "integer", ONE_TWO],
    ["Array", "new int[] { 1,2, }", undefined, ONE_TWO],
    ["Array", "x = new int[]{}", "integer", list([])],
    ["Array", "new long[]{1L, 2, 3L}", "long", list([int(1), str("2"), int(3)])],
    [
      "Array",
      'new Object[]{1, "abc", true, 2.5f, 3L, 1.5}',
      undefined,
      list([int(1), str("abc"), bool(true), float(2.5), int(3), float(1.5)]),
    ],
    ["Array", 'new String[]{"a"}', "String", list([str('"a"')])],
    ["Array", "[1, 2]", "integer", str("[1, 2]")],
    ["ArrayList", "new ArrayList<Integer>(Arrays.asList(1, 2))", "integer", ONE_TWO],
    ["ArrayList", 'new ArrayList<>(Arrays.asList("a", "b"))', "String", list([str("a"), str("b")])],
    ["ArrayList", "new ArrayList<Character>() {{ add('a'); add('b'); }}", "char", list([str("a"), str("b")])],
    [
      "ArrayList",
      "new ArrayList<Double>() {{\n add(1.0);\n add(2.5);\n}}",
      "double",
      list([float(1), float(2.5)]),
    ],
    ["ArrayList", "new ArrayList<>()", "integer", list([])],
    ["ArrayList", "Arrays.asList(1)", "integer", str("Arrays.asList(1)")],
    [
      "HashMap",
      'new HashMap<String, Object>() {{ put("a", 1); put("b", "x"); put("c", true); }}',
      undefined,
      dict([
        [str("a"), int(1)],
        [str("b"), str("x")],
        [str("c"), bool(true)],
      ])!,
    ],
    ["HashMap", 'new HashMap<>() { { put("a", 2L); } }', undefined, dict([[str("a"), int(2)]])!],
    [
      "HashMap",
      'new HashMap<>() {{ put("a", 2L); }} {{ put("b", 3); }}',
      undefined,
      dict([[str("a"), int(2)]])!,
    ],
    ["HashMap", "new HashMap<>() {{ }}", undefined, dict([])!],
    ["HashMap", "new HashMap<String, String>()", undefined, dict([])!],
    ["HashMap", '{"a": 1}', undefined, str('{"a": 1}')],
    ["HashMap", 'new HashMap<>() {{ put("__proto__", 1); }}', undefined, dict([[str("__proto__"), int(1)]])!],
  ])("%s %s of %s", (type, text, items, value) => {
    expect(fromJava(text, type, items)).toEqual(value);
  });
});

test.each(["Set", "Hashtable", "Queue", "Stack", "Map"])("%s is not converted", (type) => {
  expect(() => fromJava("x", type)).toThrow(Unjudgeable);
});

test("every type of the table converts or is refused", () => {
  const outcome = (type: string) => {
    try {
      return fromJava("x", type).type;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const refused = [...JAVA_TYPES.keys()].filter((type) => outcome(type).startsWith("no conversion"));
  expect(refused).toEqual(["Set", "Hashtable", "Queue", "Stack"]);
});

test("long texts stay text, and hostile ones cost little", () => {
  const started = performance.now();
  for (const unit of [
    "new ArrayList<>(Arrays.asList(",
    "new ArrayList<>() {{",
    "new HashMap<",
    'put("",',
    "add(",
    " ",
    "new int[]{",
    "{",
  ]) {
    for (const [type, head] of [
      ["ArrayList", "new ArrayList<>() {{"],
      ["HashMap", "new HashMap<>() {{"],
      ["Array", "new int[]{"],
    ] as const) {
      const text = head + unit.repeat(10_000);
      expect(fromJava(text, type)).toEqual(str(text));
      fromJava(text.slice(0, 4000), type, "integer");
    }
  }
  expect(performance.now() - started).toBeLessThan(15_000);
});
