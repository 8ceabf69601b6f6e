import { expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { tinyInput } from "../e2e/tiny-recipe.ts";

const recipe = (replayBuffer: object, record: boolean | string = true, everySteps = 5) => {
  const input = tinyInput({ replayBuffer } as Partial<RecipeInput["training"]>);
  return defineRecipe({
    ...input,
    rollouts: { ...input.rollouts, record },
    checkpoint: { everySteps },
  });
};

test("a buffer has a share and an age; without the field there is none", () => {
  expect(recipe({ share: 0.25, maxAge: 4 }).training.replayBuffer).toEqual({ share: 0.25, maxAge: 4 });
  expect(defineRecipe(tinyInput()).training.replayBuffer).toBeUndefined();
  for (const share of [0, 1, 0.95]) expect(() => recipe({ share, maxAge: 4 })).toThrow("replayBuffer.share");
  expect(() => recipe({ share: 0.5, maxAge: 0 })).toThrow("replayBuffer.maxAge");
  expect(() => recipe({ share: 0.5 })).toThrow("replayBuffer.maxAge");
});

test.each([
  [false, 14, "rollouts.record is false"],
  ["last:13", 14, 'rollouts.record is "last:13"'],
  ["last:14", 14, undefined],
  [true, 14, undefined],
] as const)(
  "with rollouts.record %s, of the steps that a killed run reads %i are asked for",
  (record, needed, found) => {
    const make = () => recipe({ share: 0.5, maxAge: 4 }, record);
    if (found === undefined) expect(make).not.toThrow();
    else {
      expect(make).toThrow(found);
      expect(make).toThrow(`set "last:${needed}" or true`);
    }
    expect(() => recipe({ share: 0.5, maxAge: 4 }, "last:4", 0)).not.toThrow();
  },
);

test("the most tokens of a step count what a buffer adds", () => {
  const input = tinyInput({ groupsPerStep: 2 ** 20 });
  const rollouts = {
    ...input.rollouts,
    groupSize: 4,
    maxOutputTokens: 80,
    maxPromptTokens: 48,
    record: true,
  };
  const training = { ...input.training, groupsPerStep: 2 ** 20 };
  expect(() => defineRecipe({ ...input, rollouts, training })).not.toThrow();
  const replayBuffer = { share: 0.9, maxAge: 1 };
  expect(() => defineRecipe({ ...input, rollouts, training: { ...training, replayBuffer } })).toThrow(
    "a step may have",
  );
});
