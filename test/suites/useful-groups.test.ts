import { expect, test } from "vitest";
import { usefulShare } from "../../lib/suites/useful-groups.ts";
import { subsets } from "./statistics/subsets.ts";

test("with enough answers it is the fraction of their groups that hold right and wrong ones", () => {
  for (let n = 2; n <= 8; n++)
    for (let right = 0; right <= n; right++)
      for (let size = 2; size <= n; size++) {
        const groups = subsets(
          Array.from({ length: n }, (_, answer) => answer),
          size,
        );
        const mixed = groups.filter((group) => {
          const good = group.filter((answer) => answer < right).length;
          return good > 0 && good < size;
        });
        expect(usefulShare(n, right, size)).toBeCloseTo(mixed.length / groups.length, 12);
      }
});

test("with fewer it is the integral over solve rates, weighted by how likely they make the answers", () => {
  const STEPS = 20_000;
  for (const [n, right, size] of [
    [1, 0, 8],
    [1, 1, 8],
    [4, 1, 8],
    [7, 7, 8],
    [2, 1, 16],
  ] as const) {
    let [weights, mixed] = [0, 0];
    for (let i = 0; i < STEPS; i++) {
      const s = (i + 0.5) / STEPS;
      const likely = s ** right * (1 - s) ** (n - right);
      weights += likely;
      mixed += likely * (1 - s ** size - (1 - s) ** size);
    }
    expect(usefulShare(n, right, size)).toBeCloseTo(mixed / weights, 6);
  }
});
