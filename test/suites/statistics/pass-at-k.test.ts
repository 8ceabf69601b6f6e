import { expect, test } from "vitest";
import { passAtK } from "../../../lib/suites/statistics/pass-at-k.ts";
import { subsets } from "./subsets.ts";

test("is the share of all subsets that hold a right one", () => {
  for (let n = 1; n <= 8; n++) {
    for (let c = 0; c <= n; c++) {
      const right = Array.from({ length: n }, (_, i) => i < c);
      for (let k = 1; k <= n; k++) {
        const all = subsets(right, k);
        const share = all.filter((subset) => subset.includes(true)).length / all.length;
        expect(passAtK(n, c, k), `${n} ${c} ${k}`).toBeCloseTo(share, 12);
      }
    }
  }
});

test("of one draw it is the fraction that is right, of all whether any is", () => {
  expect(passAtK(10, 3, 1)).toBeCloseTo(0.3, 15);
  expect([passAtK(10, 1, 10), passAtK(10, 0, 10)]).toEqual([1, 0]);
});

test("numbers of the paper's size do not overflow", () => {
  // 1 - C(190, 100) / C(200, 100), computed by Python's math.comb
  expect(passAtK(200, 10, 100)).toBeCloseTo(0.9992289739372822, 12);
  expect(passAtK(2000, 1, 1000)).toBeCloseTo(0.5, 12);
});
