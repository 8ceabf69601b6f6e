import { expect, test } from "vitest";
import { selectTokens } from "../../../lib/orchestration/pipeline/token-selection.ts";

/** Tokens 0 and 5 are prompts. */
const mask = Uint8Array.of(0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1);
const tokenAdvantages = Float32Array.of(9, 1, 1, 1, 1, 9, -1, -1, -1, -1, -1, -1);
const first = {
  entropies: Float32Array.of(99, 0.1, 0.5, 0.5, 0.2, 99, 0.5, 0.9, 0, 0.3, 0.1, 0.1),
  logprobs: Float32Array.of(99, -1, -2, -3, -4, 99, -1, -2, -3, -4, -5, -6),
};
const at = { seed: 3, step: 7 };
const chosen = (values: Float32Array | undefined, which: number) =>
  [...values!.keys()].filter((t) => mask[t] === 1 && values![t] === which);
/** The selection's definition, written a second time. */
const sampled = [...mask.keys()].filter((t) => mask[t] === 1);
const mean = (of: (t: number) => number) => sampled.reduce((sum, t) => sum + of(t), 0) / sampled.length;
const covariance = (t: number) =>
  (tokenAdvantages[t]! - mean((k) => tokenAdvantages[k]!)) *
  (first.logprobs[t]! - mean((k) => first.logprobs[k]!));

test("the tokens of the highest entropy train, of equal ones the first, and prompts are never among them", () => {
  const of = (fraction: number) =>
    selectTokens({ kind: "high-entropy", fraction }, { mask, tokenAdvantages }, first, at);
  expect(chosen(of(0.3).tokenWeights, 1)).toEqual([2, 3, 7]);
  expect(chosen(of(1).tokenWeights, 1)).toEqual(sampled);
  expect(chosen(of(0.001).tokenWeights, 1)).toEqual([7]);
  expect(of(0.3).tokenWeights![0]).toBe(0);
});

test("the tokens of the highest covariance are held", () => {
  const { tokenPenalties, tokenWeights } = selectTokens(
    { kind: "kl-cov", fraction: 0.2, coef: 0.5 },
    { mask, tokenAdvantages },
    first,
    at,
  );
  const best = sampled.toSorted((a, b) => covariance(b) - covariance(a)).slice(0, 2);
  expect(chosen(tokenPenalties, 0.5)).toEqual(best.toSorted((a, b) => a - b));
  expect(tokenWeights).toBeUndefined();
});

test("a draw of those whose covariance is in the band does not train: by seed and step, and no other token", () => {
  const rule = { kind: "clip-cov", fraction: 0.2, low: 0.5, high: 2.4 } as const;
  const of = (seed: number, step: number, low = 0.5) =>
    chosen(selectTokens({ ...rule, low }, { mask, tokenAdvantages }, first, { seed, step }).tokenWeights, 0);
  const band = sampled.filter((t) => covariance(t) > 0.5 && covariance(t) < 2.4);
  expect(band.length).toBeGreaterThan(2);
  for (const step of [1, 2, 3, 4, 5, 6, 7, 8]) {
    expect(of(3, step)).toHaveLength(2);
    expect(band).toEqual(expect.arrayContaining(of(3, step)));
    expect(of(3, step)).toEqual(of(3, step));
  }
  const draws = [1, 2, 3, 4, 5, 6].map((step) => of(3, step).join());
  expect(new Set(draws).size).toBeGreaterThan(1);
  expect([1, 2, 3, 4, 5, 6].map((step) => of(4, step).join())).not.toEqual(draws);
  expect(of(3, 1, 2.35)).toEqual([]);
});
