import { expect, test } from "vitest";
import { EntropyControl } from "../../../lib/orchestration/pipeline/entropy-control.ts";

const rule = { target: 0.5, delta: 0.25, min: 0, max: 0.6 };
const settings = { entropyCoef: 0.125, entropyControl: rule };
const mask = Uint8Array.of(0, 1, 1);
const at = (entropy: number) => Float32Array.of(99, entropy - 0.125, entropy + 0.125);

test("the coefficient grows below the target, shrinks above it, stays in its bounds, and is not applied above", () => {
  const control = new EntropyControl(settings);
  expect(control.applied).toBe(0.125);
  const applied = [0.25, 0.5, 0.5, 0.75, 0.75, 0.75, 0.25].map((entropy) => {
    control.stepped(at(entropy), mask);
    return [control.applied, control.saved()!.coef];
  });
  expect(applied).toEqual([
    [0.375, 0.375],
    [0.6, 0.6],
    [0.6, 0.6],
    [0, 0.35],
    [0, expect.closeTo(0.1)],
    [0, 0],
    [0.25, 0.25],
  ]);
});

test("what a checkpoint keeps goes on as it was, through JSON too", () => {
  const whole = new EntropyControl(settings);
  whole.stepped(at(0.3), mask);
  const again = new EntropyControl(settings, JSON.parse(JSON.stringify(whole.saved())));
  for (const control of [whole, again]) control.stepped(at(0.9), mask);
  expect(again.saved()).toEqual(whole.saved());
  expect(again.applied).toBe(whole.applied);
});

test("a step of NaN changes nothing, and without a rule the recipe's own coefficient stays", () => {
  const control = new EntropyControl(settings);
  control.stepped(Float32Array.of(0, Number.NaN, 1), mask);
  expect(control.saved()).toEqual({ coef: 0.125, entropy: null });
  const plain = new EntropyControl({ entropyCoef: 0.5 });
  plain.stepped(at(0.1), mask);
  expect([plain.applied, plain.saved()]).toEqual([0.5, undefined]);
});
