import { expect, test } from "vitest";
import { CATEGORIES, DEFINITIONS, NON_LINEAR } from "../../lib/traces/categories.ts";

test("are the eight, each with a meaning of its own, four of them non-linear", () => {
  expect(CATEGORIES).toHaveLength(8);
  expect(new Set(Object.values(DEFINITIONS)).size).toBe(8);
  expect([...NON_LINEAR].sort()).toEqual([
    "backtracking",
    "backward chaining",
    "subgoal setting",
    "verification",
  ]);
});
