import { expect, test } from "vitest";
import { ZodError, z } from "zod";
import { constraint } from "../../../lib/domains/instruction-following/constraint.ts";
import { ResponseText } from "../../../lib/domains/instruction-following/text/response-text.ts";

const atLeast = constraint(
  z.object({ count: z.int().positive() }),
  ({ count }) =>
    (response) =>
      response.words.length > count,
  ({ count }) =>
    (response) =>
      response.words.length >= count,
);

test("arguments are read once and bound to the check", () => {
  const check = atLeast.bindAsReference({ count: 2, other: "ignored" });
  expect(["a", "a b", "a b c"].map((text) => check(new ResponseText(text)))).toEqual([false, true, true]);
  expect(atLeast.bind({ count: 2 })(new ResponseText("a b"))).toBe(false);
});

test("without a check of its own the reference has that of training", () => {
  const exactly = constraint(
    z.object({ count: z.int() }),
    ({ count }) =>
      ({ words }) =>
        words.length === count,
  );
  expect(exactly.bindAsReference({ count: 1 })(new ResponseText("a"))).toBe(true);
});

test.each([{}, { count: 0 }, { count: "2" }, { count: null }, { count: 1.5 }])("%j is refused", (args) => {
  expect(() => atLeast.bind(args)).toThrow(ZodError);
  expect(() => atLeast.bindAsReference(args)).toThrow(ZodError);
});
