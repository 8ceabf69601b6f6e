import fc from "fast-check";
import { expect, test } from "vitest";
import { scaledVerdict } from "../../lib/domains/reward-scale.ts";

const finite = fc.double({ min: -1e6, max: 1e6, noNaN: true });

test.each([
  [1, {}, "correct", 1],
  [1.05, {}, "correct", 1.05],
  [0.5, {}, "partial", 0.5],
  [0, {}, "wrong", 0],
  [-1, {}, "wrong", -1],
  [0.9, { solvedAt: 0.9 }, "correct", 0.9],
  [0, { solvedAt: 0 }, "correct", 0],
  [-1, { range: [-1, 1] }, "wrong", 0],
  [0, { range: [-1, 1] }, "partial", 0.5],
  [1, { range: [-1, 1] }, "correct", 1],
  [3, { range: [0, 4], solvedAt: 3 }, "correct", 0.75],
] as const)("%d with %o is %s, score %d", (value, scale, status, score) => {
  expect(scaledVerdict(value, scale)).toEqual({ status, score, reason: `reward ${value}` });
});

test("what is no number of the reward is no verdict, and the cause says why", () => {
  const causes = [
    [Number.NaN, {}, "NaN, which is not a finite number"],
    [Number.POSITIVE_INFINITY, {}, "Infinity, which is not a finite number"],
    [2, { range: [-1, 1] }, "2, which is outside its range [-1, 1]"],
    [-1.5, { range: [-1, 1] }, "-1.5, which is outside its range [-1, 1]"],
  ] as const;
  for (const [value, scale, cause] of causes)
    expect(scaledVerdict(value, scale)).toEqual({
      status: "unscored",
      cause: `the reward returned ${cause}`,
    });
});

test("a range keeps order and spacing, and its ends are 0 and 1", () => {
  fc.assert(
    fc.property(finite, finite, finite, (a, b, x) => {
      fc.pre(Math.abs(a - b) > 1e-6);
      const [low, high] = a < b ? [a, b] : [b, a];
      const value = Math.min(high, Math.max(low, x));
      const verdict = scaledVerdict(value, { range: [low, high] });
      if (verdict.status === "unscored") throw new Error(verdict.cause);
      expect(verdict.score).toBeCloseTo((value - low) / (high - low), 9);
      expect(verdict.status === "correct").toBe(value === high);
      expect(verdict.status === "wrong").toBe(verdict.score === 0);
    }),
  );
});
