import { expect, test } from "vitest";
import { checkRecipe } from "../../lib/cli/check.ts";
import { checkSlopes } from "../../lib/cli/slopes-check.ts";
import type { SlopesFunction } from "../../lib/custom-objective.ts";
import { gspo } from "../fixtures/custom-gspo.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const SETTINGS = { clipLow: 3e-3, clipHigh: 4e-3, sequenceWeight: "uniform" } as const;

/** Clips the weight and holds it constant: the gradient flows through the log-prob alone. */
const cispo: SlopesFunction = ({ logprobs, behaviorLogprobs, tokenAdvantages, totalTokens, out }) => {
  let loss = 0;
  for (let t = 0; t < out.length; t++) {
    const weight = Math.min(Math.exp(logprobs[t]! - behaviorLogprobs[t]!), 1.2) * tokenAdvantages![t]!;
    out[t] = -weight / totalTokens;
    loss -= (weight * logprobs[t]!) / totalTokens;
  }
  return loss;
};

test.each([
  ["GSPO", gspo, /^slopes are the central differences of the loss: \d\d tokens/],
  ["CISPO", cispo, /^slopes are the central differences of the loss, ratios held constant: \d\d tokens/],
])("%s passes", (_, slopes, said) => {
  expect(checkSlopes(slopes, SETTINGS)).toEqual({ ok: true, said: expect.stringMatching(said) });
});

test.each<[string, (slope: number, t: number, all: Float64Array) => number]>([
  ["a flipped sign", (slope) => -slope],
  ["a part in a thousand too much", (slope) => slope * 1.001],
  ["the last token forgotten", (slope, t, all) => (t === all.length - 1 ? 0 : slope)],
])("GSPO with %s does not, and the token is named", (_, spoil) => {
  const spoiled: SlopesFunction = (input) => {
    const losses = gspo(input);
    input.out.set(input.out.map(spoil));
    return losses;
  };
  const { ok, said } = checkSlopes(spoiled, { ...SETTINGS, clipLow: 0.5, clipHigh: 0.5 });
  expect(said).toMatch(/^token \d+ has the slope \S+; the loss changes by \S+ per unit of its log-prob/);
  expect(ok).toBe(false);
});

test("chance, a throw, and slopes that are all 0 are findings", () => {
  let calls = 0;
  const chance: SlopesFunction = ({ out }) => out.fill(++calls).length;
  expect(checkSlopes(chance, SETTINGS)).toEqual({
    ok: false,
    said: "two calls with equal arguments gave token 0 the slopes 1 and 2",
  });
  expect(checkSlopes(() => 1, SETTINGS).said).toBe("every slope is 0: nothing would be learned");
  const thrower: SlopesFunction = () => {
    throw new Error("no");
  };
  expect(checkSlopes(thrower, SETTINGS)).toEqual({ ok: false, said: "thrower threw: no" });
});

test("hone check has it as a stage, and runs the one step with it", async () => {
  const { stages } = await checkRecipe(smallRecipe({}, { objective: { kind: "custom", slopes: gspo } }));
  expect(stages.find(({ name }) => name === "objective")).toMatchObject({ ok: true });
  expect(stages.find(({ name }) => name === "one step")).toMatchObject({ ok: true });
});
