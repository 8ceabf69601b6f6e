import { expect, test } from "vitest";
import { parameterOf } from "../../../../lib/domains/function-calling/read/xlam-types.ts";

test.each<[string | undefined, string | undefined, object]>([
  ["str", undefined, { type: "string" }],
  ["int, optional", undefined, { type: "integer" }],
  ["Optional[float]", undefined, { type: "float" }],
  ["List[int]", undefined, { type: "array", items: { type: "integer" } }],
  ["list", '["a"]', { type: "array", items: { type: "string" } }],
  ["List[Dict[str, Any]]", undefined, { type: "array", items: { type: "dict" } }],
  ["Tuple[float, float]", undefined, { type: "array", items: { type: "float" } }],
  ["Dict[str, int]", undefined, { type: "dict" }],
  ["Union[int, str]", "3", { type: "integer" }],
  ["Union[int, float]", "3.5", { type: "float" }],
  ["Any", "true", { type: "boolean" }],
  [undefined, '{"a": 1}', { type: "dict" }],
  ["Callable", undefined, { type: "any" }],
])("the type %s, where the row gives %s, is %j", (type, sample, schema) => {
  expect(parameterOf({ type }, sample).schema).toEqual(schema);
});

test("what has a default, or says that it is optional, may be left out", () => {
  const found = [
    { type: "int" },
    { type: "int, optional" },
    { type: "int", default: 3 },
    { type: "Optional[int]" },
  ];
  expect(found.map((one) => parameterOf(one).isOptional)).toEqual([false, true, true, true]);
  expect(parameterOf({ type: "str", default: "", description: "d" })).toMatchObject({
    default: '""',
    schema: { type: "string", description: "d", default: "" },
  });
});

test("a dict among allowed values has a list of values for every member, and so has one in a list", () => {
  expect(parameterOf({ type: "dict" }).allowed('{"a": 1.0, "b": [2]}')).toBe('{"a":[1.0],"b":[[2]]}');
  expect(parameterOf({ type: "List[dict]" }).allowed('[{"a": 1}, {}]')).toBe('[{"a":[1]},{}]');
  expect(parameterOf({ type: "List[int]" }).allowed("[1, 2]")).toBe("[1, 2]");
  expect(parameterOf({ type: "dict" }).allowed('"none"')).toBe('"none"');
});
