import { expect, test } from "vitest";
import { CounterRandom } from "../../../lib/random.ts";
import { majorityAtK, type Vote } from "../../../lib/suites/statistics/majority.ts";
import { subsets } from "./subsets.ts";

/** Lists every subset, counts its votes, and divides ties equally. */
function byHand(votes: readonly Vote[], silent: number, k: number): number {
  const all = [
    ...votes.flatMap(({ count }, answer) => Array.from({ length: count }, () => answer)),
    ...Array.from({ length: silent }, () => -1),
  ];
  const drawn = subsets(all, k);
  const shares = drawn.map((subset) => {
    const counts = votes.map((_, answer) => subset.filter((one) => one === answer).length);
    const most = Math.max(0, ...counts);
    if (most === 0) return 0;
    const winners = votes.filter((_, answer) => counts[answer] === most);
    return winners.reduce((sum, { count, right }) => sum + right / count, 0) / winners.length;
  });
  return shares.reduce((sum, share) => sum + share, 0) / drawn.length;
}

test("is the mean over all subsets, for any votes", () => {
  const random = new CounterRandom(1);
  for (let round = 0; round < 60; round++) {
    const votes = Array.from({ length: random.int(1, 4) }, () => {
      const count = random.int(1, 3);
      return { count, right: random.choice([0, 0, count, random.int(0, count)]) };
    });
    const silent = random.int(0, 2);
    const n = silent + votes.reduce((sum, { count }) => sum + count, 0);
    for (let k = 1; k <= Math.min(n, 6); k++)
      expect(majorityAtK(votes, silent, k), JSON.stringify({ votes, silent, k })).toBeCloseTo(
        byHand(votes, silent, k),
        10,
      );
  }
});

test("worked by hand", () => {
  const votes = [
    { count: 2, right: 2 },
    { count: 1, right: 0 },
  ];
  // of the three pairs one has a majority and two are ties
  expect(majorityAtK(votes, 0, 2)).toBeCloseTo((1 + 0.5 + 0.5) / 3, 12);
  expect(majorityAtK(votes, 0, 3)).toBe(1);
  // a completion without an answer casts no vote
  expect(majorityAtK([{ count: 1, right: 1 }], 3, 4)).toBe(1);
  expect(majorityAtK([], 3, 2)).toBe(0);
});

test("of thousands of completions, which no counting of subsets survives", () => {
  const alone = Array.from({ length: 600 }, (_, i) => ({ count: 1, right: Number(i % 4 === 0) }));
  for (const k of [1, 64, 512, 600]) expect(majorityAtK(alone, 0, k)).toBeCloseTo(1 / 4, 10);
  const [right, wrong, silent, k] = [1100, 900, 200, 65];
  const votes = [
    { count: right, right },
    { count: wrong, right: 0 },
  ];
  expect(majorityAtK(votes, silent, k)).toBeCloseTo(ofTwo(right, wrong, silent, k), 10);
});

/** The exact result for two distinct answers, in whole numbers. */
function ofTwo(right: number, wrong: number, silent: number, k: number): number {
  const choose = (n: number, k: number): bigint => {
    let ways = 1n;
    for (let i = 1; i <= k; i++) ways = (ways * BigInt(n - k + i)) / BigInt(i);
    return k <= n ? ways : 0n;
  };
  let [twice, all] = [0n, 0n];
  for (let r = 0; r <= k; r++) {
    for (let w = 0; w <= k - r; w++) {
      const ways = choose(right, r) * choose(wrong, w) * choose(silent, k - r - w);
      all += ways;
      twice += ways * (r > w ? 2n : r === w && r > 0 ? 1n : 0n);
    }
  }
  return Number((twice * 10n ** 18n) / (2n * all)) / 1e18;
}
