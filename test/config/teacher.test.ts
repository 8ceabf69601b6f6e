import { expect, test } from "vitest";
import { defineRecipe } from "../../lib/config/index.ts";
import { tinyInput } from "../e2e/tiny-recipe.ts";

const { advantages: _, ...input } = tinyInput();
const teacher = { folder: "./teacher" };
const objective = { kind: "dapo", clipLow: 0.2, clipHigh: 0.28 } as const;

test("the teacher alone is learnt from unless the recipe weighs the reward too", () => {
  expect(defineRecipe({ ...input, objective, teacher }).teacher).toEqual({
    ...teacher,
    coef: 1,
    rewardCoef: 0,
  });
  const both = { ...teacher, coef: 0.1, rewardCoef: 1 };
  expect(defineRecipe({ ...input, objective, teacher: both }).teacher).toEqual(both);
});

test("groups of equal scores are trained on with a teacher, unless the recipe says otherwise", () => {
  const filterOf = (rest: object) => defineRecipe({ ...input, objective, ...rest }).advantages.filter;
  expect(filterOf({})).toBe("score");
  expect(filterOf({ teacher })).toBe("none");
  expect(filterOf({ teacher, advantages: { filter: "reward" } })).toBe("reward");
});

test("an objective with one advantage a sequence is refused, and the error has one that works", () => {
  expect(() => defineRecipe({ ...input, teacher })).toThrow(
    /objective\.kind: is "gspo", which has one advantage/,
  );
  expect(() => defineRecipe({ ...input, teacher })).toThrow('{ kind: "dapo", clipLow: 0.2, clipHigh: 0.28 }');
  expect(() => defineRecipe({ ...input, objective, teacher: { ...teacher, coef: 0 } })).toThrow(
    "teacher.coef",
  );
});
