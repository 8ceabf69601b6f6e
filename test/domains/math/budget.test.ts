import { expect, test } from "vitest";
import { Budget, STEPS_PER_VERDICT } from "../../../lib/domains/math/budget.ts";
import { BudgetExceeded } from "../../../lib/domains/math/rational.ts";

test("a budget ends exactly where it says, and stays ended", () => {
  const budget = new Budget(3);
  budget.spend(3);
  expect(() => budget.spend(1)).toThrow(BudgetExceeded);
  expect(() => budget.spend(1)).toThrow(BudgetExceeded);
  expect(() => new Budget().spend(STEPS_PER_VERDICT + 1)).toThrow(BudgetExceeded);
});
