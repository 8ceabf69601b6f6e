// Mutants that die: zero as a position; a blank phrase; a keyword that keeps its white space; 2.5 as an amount.
import { expect, test } from "vitest";
import {
  amount,
  keyword,
  none,
  ordinal,
  percentage,
  phrase,
} from "../../../../lib/rewards/instruction-following/ifbench/arguments.ts";

const accepted = (schema: { safeParse(value: unknown): { success: boolean } }, values: readonly unknown[]) =>
  values.filter((value) => schema.safeParse(value).success);

test("each kind of argument takes what can be graded and nothing else", () => {
  const numbers = [0, 1, 5, 2.5, -1, "3", null, undefined, Number.NaN];
  expect(accepted(amount, numbers)).toEqual([0, 1, 5]);
  expect(accepted(ordinal, numbers)).toEqual([1, 5]);
  expect(accepted(percentage, numbers)).toEqual([0, 1, 5, 2.5]);
  expect(accepted(phrase, ["a", " a ", "", " \n", 3, null])).toEqual(["a", " a "]);
  expect(keyword.parse(" a b\n")).toBe("a b");
  expect(none.parse({ left: "over" })).toEqual({});
});
