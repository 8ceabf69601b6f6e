import { expect, test } from "vitest";
import { drawnOutcomes } from "../../lib/simulate/workload.ts";
import { WORKLOADS } from "./machines.ts";

const drawn = (seed = 0, most = 1e6) => drawnOutcomes(WORKLOADS, seed, most);
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

test("lengths and times have the mean and spread of the machine, and groups its keep rate", () => {
  const groups = Array.from({ length: 4000 }, (_, i) => drawn()("math", i, 4, 0));
  const lengths = groups.flatMap((group) => group.lengths);
  expect(mean(lengths) / 120).toBeCloseTo(1, 1);
  expect(Math.sqrt(mean(lengths.map((n) => (n - mean(lengths)) ** 2))) / mean(lengths)).toBeCloseTo(0.8, 1);
  expect(mean(groups.flatMap(({ verify }) => verify)) / 0.05).toBeCloseTo(1, 1);
  expect(mean(groups.map(({ kept }) => Number(kept)))).toBeCloseTo(0.5, 1);
});

test("attempts at one problem are alike as far as the machine says", () => {
  const pairs = Array.from({ length: 4000 }, (_, i) => drawn()("math", i, 2, 0).lengths.map(Math.log));
  const middle = mean(pairs.flat());
  const product = mean(pairs.map(([a, b]) => (a! - middle) * (b! - middle)));
  expect(product / mean(pairs.flat().map((x) => (x - middle) ** 2))).toBeCloseTo(0.3, 1);
});

test("an answer depends on seed, domain and problem alone, and is cut where answers are", () => {
  const [one, other] = [drawn(), drawn()];
  const first = one("code", 7, 4, 0);
  one("math", 1, 4, 0);
  expect(one("code", 7, 4, 9)).toEqual(first);
  expect(other("code", 7, 4, 0)).toEqual(first);
  expect(drawn(1)("code", 7, 4, 0)).not.toEqual(first);
  expect(one("math", 7, 4, 0)).not.toEqual(first);
  for (const n of drawn(0, 50)("math", 3, 64, 0).lengths) expect(n).toBeLessThanOrEqual(50);
});
