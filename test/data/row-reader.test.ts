import { expect, test } from "vitest";
import { z } from "zod";
import { fill, isBad, readFields } from "../../lib/data/row-reader.ts";

test("a sound row comes through its schema", () => {
  expect(readFields(z.object({ a: z.string().trim() }), { a: " x ", b: 1 })).toEqual({ a: "x" });
});

test.each([
  [{ list: [{ n: 1 }, { n: "2" }] }, "list.#.n: invalid input: expected number, received string"],
  [{ list: 3 }, "list: invalid input: expected array, received number"],
  [null, "row: invalid input: expected object, received null"],
])("a bad row %j has a reason that does not depend on where in a list it is", (value, bad) => {
  expect(readFields(z.object({ list: z.array(z.object({ n: z.number() })) }), value)).toEqual({ bad });
});

test("only an own field makes a thing bad", () => {
  expect([{ bad: "x" }, Object.create({ bad: "x" }), null, "bad", []].map(isBad)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

test("a text is put in as it is, dollar signs and braces too, and once", () => {
  expect(fill("Q: {task} A:", "cost $& $1 {task}")).toBe("Q: cost $& $1 {task} A:");
});
