import { expect, test } from "vitest";
import { ZodError, z } from "zod";
import { constraint } from "../../../lib/domains/instruction-following/constraint.ts";
import { ResponseText } from "../../../lib/domains/instruction-following/text/response-text.ts";

const atLeast = constraint(
  z.object({ count: z.int().positive() }),
  ({ count }, compat) =>
    (response) =>
      response.words.length >= count + (compat === "strict" ? 1 : 0),
);

test("arguments are read once and bound to the check", () => {
  const check = atLeast.bind({ count: 2, other: "ignored" }, "reference");
  expect(["a", "a b", "a b c"].map((text) => check(new ResponseText(text)))).toEqual([false, true, true]);
  expect(atLeast.bind({ count: 2 }, "strict")(new ResponseText("a b"))).toBe(false);
});

test.each([{}, { count: 0 }, { count: "2" }, { count: null }, { count: 1.5 }])("%j is refused", (args) => {
  expect(() => atLeast.bind(args, "strict")).toThrow(ZodError);
});
