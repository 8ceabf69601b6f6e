import { expect, test } from "vitest";
import { weightsOf } from "../../lib/config/model-sizes.ts";
import { changed, issuesOf } from "./recipes.ts";

test.each<[string, Record<string, unknown>, string, string]>([
  [
    "more chosen experts than there are",
    { "model.config.experts": { count: 4, chosen: 5 } },
    "model.config.experts.chosen",
    "is 5, but there are only 4 experts",
  ],
  [
    "no layer that attends",
    { "model.config.attentionEvery": 4 },
    "model.config.attentionEvery",
    "is 4, more than the 3 layers",
  ],
  [
    "a head of which a quarter is no pair",
    { "model.config.attentionEvery": 3, "model.config.headDim": 36 },
    "model.config.attentionEvery",
    "headDim is 36",
  ],
  [
    "a hybrid with biases",
    { "model.config.attentionEvery": 3, "model.config.qkvBias": true },
    "model.config.qkvBias",
    "models with attentionEvery have no biases",
  ],
  [
    "a mixture with biases",
    { "model.config.experts": { count: 4, chosen: 2 }, "model.config.qkvBias": true },
    "model.config.qkvBias",
    "models with experts have no biases",
  ],
])("refuses %s", (_, changes, path, message) => {
  expect(issuesOf(changed(changes))).toEqual([
    expect.objectContaining({ path, message: expect.stringContaining(message) }),
  ]);
});

test("takes a hybrid, a mixture and both", () => {
  const experts = { count: 4, chosen: 4 };
  for (const parts of [{ attentionEvery: 3 }, { experts }, { attentionEvery: 3, experts }]) {
    const changes = Object.entries(parts).map(([name, value]) => [`model.config.${name}`, value]);
    expect(issuesOf(changed(Object.fromEntries(changes)))).toEqual([]);
  }
});

test("a mixture has the weights of all its experts", () => {
  const sizes = { width: 10, layers: 2, heads: 2, kvHeads: 1, headDim: 4, mlpWidth: 7, maxPositions: 8 };
  const rest = { normEps: 1e-5, ropeTheta: 1e4, tiedHead: true, qkvBias: false, qkNorm: false };
  const attention = 2 * 10 * (4 + 2) * 4;
  expect(weightsOf({ ...sizes, ...rest })).toBe(attention + 2 * 10 * 21);
  expect(weightsOf({ ...sizes, ...rest, experts: { count: 5, chosen: 1 } })).toBe(
    attention + 5 * 2 * 10 * 21,
  );
});
