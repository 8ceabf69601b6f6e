// Deliberate faults (mutants) that these tests detect: prompt tokens are included; the offsets start at the batch's
// sequences instead of the sampled tokens.
import { expect, test } from "vitest";
import type { SlopesFunction, StepTokens } from "../../../lib/custom-objective.ts";
import { weighedByObjective } from "../../../lib/orchestration/pipeline/step-tokens.ts";
import { smallRecipe } from "../small-recipe.ts";

const f32 = Float32Array;
const data = {
  tokens: Int32Array.of(1, 2, 3, 4, 5, 6),
  cuSeqlens: Int32Array.of(0, 3, 6),
  mask: Uint8Array.of(0, 1, 1, 0, 0, 1),
  behaviorLogprobs: f32.of(9, -1, -2, 9, 9, -3),
  advantages: f32.of(0.5, -0.5),
  tokenAdvantages: f32.of(0, 0.5, 0.5, 0, 0, -0.5),
  groupSizes: Int32Array.of(2, 2),
  sequences: 3,
  groups: 1,
};
const first = { logprobs: f32.of(9, -4, -5, 9, 9, -6), entropies: f32.of(9, 1, 2, 9, 9, 3) };

test("it is given the sampled tokens of the whole step, and what it says of each lands where the token is", () => {
  const asked: StepTokens[] = [];
  const slopes: SlopesFunction = Object.assign(() => 0, {
    firstPass: (tokens: StepTokens) => {
      asked.push(tokens);
      return tokens.entropies.map((one) => 2 * one);
    },
  });
  const recipe = smallRecipe({}, {});
  expect(weighedByObjective(slopes, data, first, recipe, 7)).toEqual(f32.of(0, 2, 4, 0, 0, 6));
  expect(asked).toMatchObject([
    {
      logprobs: Float64Array.of(-4, -5, -6),
      behaviorLogprobs: Float64Array.of(-1, -2, -3),
      tokenAdvantages: Float64Array.of(0.5, 0.5, -0.5),
      advantages: Float64Array.of(0.5, -0.5),
      sequences: Int32Array.of(0, 2, 3),
      totalSequences: 3,
      totalTokens: 3,
      seed: recipe.seed,
      step: 7,
    },
  ]);
});
