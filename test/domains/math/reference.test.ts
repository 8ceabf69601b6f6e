import { expect, test } from "vitest";
import { sameAnswer } from "../../../lib/domains/math/reference.ts";

test("pairs of texts are compared without boxes too", () => {
  expect(sameAnswer("$\\frac{1}{2}$", "The final answer is 0.5")).toBe(true);
  expect(sameAnswer("$[1,2]\\cup[2,3]$", "so $x \\in [1,3]$")).toBe(true);
  expect(sameAnswer("$7$", "it is $8$")).toBe(false);
  expect(sameAnswer("$7$", "nothing")).toBeUndefined();
  expect(sameAnswer("$7$", "7".repeat(3000))).toBeUndefined();
});
