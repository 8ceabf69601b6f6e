import { describe, expect, test } from "vitest";
import { z } from "zod";
import { checked, checkedReference } from "../../lib/domains/checked.ts";
import { findBuiltIn, VERIFIERS } from "../../lib/domains/verifiers.ts";

const schema = z.object({ a: z.number().default(5), b: z.object({ c: z.string() }) });

test("what a schema takes comes out as the schema makes it", () => {
  expect(checked(schema, { b: { c: "x" }, more: 1 }, "test case", "row")).toEqual({ a: 5, b: { c: "x" } });
});

test.each([
  [{ a: 1, b: { c: 2 } }, /^test case: b\.c: .*string/],
  [{ a: "1", b: { c: 2 } }, /^test case: a: .*number/],
  [null, /^test case: row: .*object/],
])("of %j the first field that is wrong is named, or all of it", (row, message) => {
  expect(() => checked(schema, row, "test case", "row")).toThrow(
    expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringMatching(message) }),
  );
});

test("a reference is named with its verifier and the shape that it should have", () => {
  expect(() => checkedReference(schema, [], "mine", "{ a?, b }")).toThrow(
    /^mine: the reference is not \{ a\?, b \}: reference: .*object/,
  );
});

describe.each(VERIFIERS)("a reference that is none of $name's", ({ name }) => {
  const raws = [undefined, null, 7, "x", [], {}, { answer: {} }];
  test.each(raws)("%j is a typed error that names it", async (raw) => {
    const verifier = (await findBuiltIn(name))!;
    expect(() => verifier.parseReference(raw)).toThrow(
      expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringMatching(`^${name}: `) }),
    );
  });
});
