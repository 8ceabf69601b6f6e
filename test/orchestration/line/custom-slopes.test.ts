import { expect, test } from "vitest";
import { defineRecipe, recipeInput } from "../../../lib/config/index.ts";
import type { SlopesFunction, SlopesRequest } from "../../../lib/custom-objective.ts";
import { askSlopes, customSlopes } from "../../../lib/orchestration/line/custom-slopes.ts";
import { smallRecipe } from "../small-recipe.ts";

const SETTINGS = { clipLow: 0.1, clipHigh: 0.2, sequenceWeight: "length" } as const;

/** Three sequences of 0, 2 and 1 tokens. */
const request = (): SlopesRequest => ({
  logprobs: Float64Array.of(-1, -2, -3),
  entropies: Float64Array.of(1, 1, 1),
  behaviorLogprobs: Float64Array.of(-1, -2, -3),
  advantages: Float64Array.of(1, -1, 1),
  sequences: Int32Array.of(0, 0, 2, 3),
  totalSequences: 3,
  totalGroups: 1,
  totalTokens: 3,
  out: new Float64Array(3),
  losses: new Float64Array(3),
});
const ask = (slopes: SlopesFunction) => {
  const asked = request();
  askSlopes(slopes, asked, SETTINGS);
  return [...asked.losses];
};

test("losses a sequence stay where they are; one number goes to the first sequence that has tokens", () => {
  expect(ask(() => Float64Array.of(0, 2, 3))).toEqual([0, 2, 3]);
  expect(ask(() => 5)).toEqual([0, 5, 0]);
});

test("it is given the clip bounds as the core reads them, and no place for losses", () => {
  let keys: readonly string[] = [];
  ask((input) => {
    keys = Object.keys(input);
    expect(input).toMatchObject({
      clipLow: Math.fround(0.1),
      clipHigh: Math.fround(0.2),
      sequenceWeight: "length",
    });
    return 0;
  });
  expect(keys).not.toContain("losses");
});

test.each<[string, unknown, RegExp]>([
  ["nothing", () => {}, /mine returned undefined; it must return the loss/],
  ["a promise", async () => Promise.reject(new Error("later")), /mine returned a promise/],
  ["an array of f32", () => Float32Array.of(1, 2, 3), /mine returned object/],
  ["too few losses", () => Float64Array.of(1, 2), /mine returned 2 losses for 3 sequences/],
  ["a loss that is not finite", () => Float64Array.of(0, 1, Number.NaN), /mine returned the loss NaN/],
  ["a number that is not finite", () => Number.POSITIVE_INFINITY, /mine returned the loss Infinity/],
])("%s is a typed error", (_, answer, message) => {
  const mine = answer as SlopesFunction;
  Object.defineProperty(mine, "name", { value: "mine" });
  expect(() => ask(mine)).toThrow(
    expect.objectContaining({ code: "HONE_ERR_OBJECTIVE", message: expect.stringMatching(message) }),
  );
});

test("a slope that is not finite names token and sequence; what it throws is the cause", () => {
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    const mine: SlopesFunction = ({ out }) => {
      out[2] = bad;
      return 0;
    };
    expect(() => ask(mine)).toThrow(
      expect.objectContaining({
        message: `mine gave token 2 the slope ${bad}`,
        details: { token: 2, sequence: 2 },
      }),
    );
  }
  const cause = new RangeError("too far");
  const thrower: SlopesFunction = () => {
    throw cause;
  };
  expect(() => ask(thrower)).toThrow(expect.objectContaining({ message: "thrower threw: too far", cause }));
  const taker: SlopesFunction = ({ out }) => {
    structuredClone(out, { transfer: [out.buffer as ArrayBuffer] });
    return 0;
  };
  expect(() => ask(taker)).toThrow(/taker gave the memory of `out` away/);
});

test("a recipe defined with the function calls it; one read from JSON knows its name alone and says so", () => {
  const calls: number[] = [];
  const mine: SlopesFunction = ({ out }) => calls.push(out.length);
  const recipe = smallRecipe({}, { objective: { kind: "custom", slopes: mine } });
  customSlopes(recipe.objective)!(request());
  customSlopes(defineRecipe(recipeInput(recipe)).objective)!(request());
  expect(calls).toEqual([3, 3]);
  const read = defineRecipe(JSON.parse(JSON.stringify(recipe)));
  expect(() => customSlopes(read.objective)).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_USAGE",
      message: expect.stringContaining("the function mine of"),
    }),
  );
  expect(customSlopes(smallRecipe().objective)).toBeUndefined();
});
