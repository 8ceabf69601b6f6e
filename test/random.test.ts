import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CounterRandom, philox4x32, u53, type Words4 } from "../lib/random.ts";
import { golden } from "./fixtures/goldens.ts";

// Deliberate faults (mutants) that these tests detect: multiplyHigh without the cross carry; the key changes before
// the round; words 0 and 2 of the counter are swapped; u53 uses >> instead of >>> (negative draws). Each fails the
// golden vectors or the 64-bit check.

interface PhiloxCases {
  readonly vectors: readonly {
    readonly counter: Words4;
    readonly key: readonly [number, number];
    readonly output: Words4;
    readonly u53: readonly [number, number];
  }[];
}
const cases = golden<PhiloxCases>("philox/cases.json");

/** Philox4x32-10 with 64-bit integers, as the paper states it. */
function philoxByBigInt(counter: Words4, key: readonly [number, number]): number[] {
  let [c0, c1, c2, c3] = counter.map(BigInt) as [bigint, bigint, bigint, bigint];
  let [k0, k1] = key.map(BigInt) as [bigint, bigint];
  const mask = 0xffffffffn;
  for (let round = 0; round < 10; round++) {
    const a = 0xd2511f53n * c0;
    const b = 0xcd9e8d57n * c2;
    [c0, c1, c2, c3] = [(b >> 32n) ^ c1 ^ k0, b & mask, (a >> 32n) ^ c3 ^ k1, a & mask];
    k0 = (k0 + 0x9e3779b9n) & mask;
    k1 = (k1 + 0xbb67ae85n) & mask;
  }
  return [c0, c1, c2, c3].map(Number);
}

const word = fc.integer({ min: 0, max: 0xffffffff });

describe.skipIf(!cases)("philox goldens", () => {
  test("every published and computed vector comes out word for word", () => {
    for (const { counter, key, output, u53: doubles } of cases!.vectors) {
      expect(philox4x32(counter, key)).toEqual(output);
      expect([u53(output[0], output[1]), u53(output[2], output[3])]).toEqual(doubles);
    }
  });
});

test("philox agrees with 64-bit integer arithmetic on any counter and key", () => {
  fc.assert(
    fc.property(fc.tuple(word, word, word, word), fc.tuple(word, word), (counter, key) => {
      expect(philox4x32(counter, key)).toEqual(philoxByBigInt(counter, key));
    }),
  );
});

test("draw i is the same reached in order, by position, and backwards", () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 40 }), (seed, count) => {
      const inOrder = new CounterRandom(seed, 1, 2, 3);
      const draws = Array.from({ length: count }, () => inOrder.next());
      const jumping = new CounterRandom(seed, 1, 2, 3);
      for (let i = count - 1; i >= 0; i--) {
        jumping.position = i;
        expect(jumping.next()).toBe(draws[i]);
      }
    }),
  );
});

test("a draw is the double of the counter's words under the salted key", () => {
  const seed = 0x1_2345_6789;
  const key: [number, number] = [(0x23456789 ^ 0x484f4e45) >>> 0, (1 ^ 0x44415441) >>> 0];
  const random = new CounterRandom(seed, 7, 8, 9);
  for (let block = 0; block < 3; block++) {
    const words = philox4x32([block, 7, 8, 9], key);
    expect([random.next(), random.next()]).toEqual([u53(words[0], words[1]), u53(words[2], words[3])]);
  }
});

test("streams that differ in seed or in any word differ in their first draw", () => {
  const names = [[0], [1], [2 ** 32], [0, 1], [0, 0, 1], [0, 0, 0, 1], [0, 1, 1], [0, 1, 0, 1]] as const;
  const first = names.map((name) => new CounterRandom(...(name as unknown as [number])).next());
  expect(new Set(first).size).toBe(names.length);
});

test("uniform draws have the mean, the variance and the bins of a uniform law", () => {
  const random = new CounterRandom(11);
  const n = 40_000;
  const bins = new Array<number>(16).fill(0);
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < n; i++) {
    const draw = random.next();
    expect(draw >= 0 && draw < 1).toBe(true);
    sum += draw;
    squares += draw * draw;
    bins[Math.floor(draw * 16)]! += 1;
  }
  expect(Math.abs(sum / n - 1 / 2)).toBeLessThan(0.006); // 4 standard deviations: 4 sqrt(1/12n)
  expect(Math.abs(squares / n - 1 / 3)).toBeLessThan(0.006);
  const chiSquare = bins.reduce((total, count) => total + (count - n / 16) ** 2 / (n / 16), 0);
  expect(chiSquare).toBeLessThan(37.7); // 15 degrees of freedom, p = 0.001
});

test("int covers both ends and nothing else", () => {
  const random = new CounterRandom(3);
  const seen = new Set(Array.from({ length: 500 }, () => random.int(-2, 3)));
  expect([...seen].sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2, 3]);
});

test("weighted picks in proportion and never picks a zero", () => {
  const random = new CounterRandom(4);
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < 20_000; i++) counts[random.weighted([3, 0, 1, 0])]! += 1;
  expect(counts[1]! + counts[3]!).toBe(0);
  expect(Math.abs(counts[0]! / 20_000 - 0.75)).toBeLessThan(0.0125); // 4 sd
});

test("shuffle keeps the elements and reaches every order", () => {
  const random = new CounterRandom(5);
  const orders = new Map<string, number>();
  for (let i = 0; i < 6000; i++) {
    const order = random.shuffle(["a", "b", "c"]).join("");
    orders.set(order, (orders.get(order) ?? 0) + 1);
  }
  expect([...orders.keys()].sort()).toEqual(["abc", "acb", "bac", "bca", "cab", "cba"]);
  for (const count of orders.values()) expect(Math.abs(count - 1000)).toBeLessThan(116); // 4 standard deviations
});

test("sample draws distinct elements", () => {
  const random = new CounterRandom(6);
  for (let i = 0; i < 50; i++) expect(new Set(random.sample([1, 2, 3, 4], 3)).size).toBe(3);
});

test.each([-1, 0.5, Number.NaN, 2 ** 53])("seed %s is refused", (seed) => {
  expect(() => new CounterRandom(seed)).toThrow(/expected a safe integer/);
});

test("numbers are shuffled in place as a list is", () => {
  const numbers = Array.from({ length: 1000 }, (_, i) => i * 3);
  const inPlace = new CounterRandom(9, 4, 2).shuffleNumbers(Uint32Array.from(numbers));
  expect([...inPlace]).toEqual(new CounterRandom(9, 4, 2).shuffle(numbers));
});
