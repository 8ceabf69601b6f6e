import { expect, test } from "vitest";
import { differenceFrom, readFields, spellFields } from "../../lib/launch/same-recipe.ts";

const fields = (of: Record<string, string>) => new Map(Object.entries(of));

test("a recipe is another's whatever the order of its fields", () => {
  const other = spellFields(fields({ b: "2", a: "1" }));
  expect(differenceFrom(fields({ a: "1", b: "2" }), readFields(other))).toBeUndefined();
});

test("what differs is named with both values, a field that one of them has not as such", () => {
  const other = fields({ a: "1", "b.c": "2", d: '"x"' });
  expect(differenceFrom(fields({ a: "1", "b.c": "3", e: "[]" }), other)).toBe(
    'b.c is 3 here, 2 there; e is [] here, not given there; d is not given here, "x" there',
  );
});

test("many are counted, and long values cut", () => {
  const own = fields(Object.fromEntries([..."abcde"].map((name) => [name, "x".repeat(100)])));
  const said = differenceFrom(own, new Map())!;
  expect(said).toContain(`a is ${"x".repeat(80)}… here, not given there; b is`);
  expect(said).toMatch(/; and 2 more$/);
});
