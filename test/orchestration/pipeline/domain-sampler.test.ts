import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DomainSampler } from "../../../lib/orchestration/pipeline/domain-sampler.ts";
import { CounterRandom } from "../../../lib/random.ts";
import { golden, near } from "../../fixtures/goldens.ts";

// Deliberate faults (mutants) that these tests detect: warm-up until 51; the clip at 0.2, at 5 or absent; an
// adjustment of 1 for a domain without completions; p is not renormalised; picks count as completions; the pick
// counter is not restored.

interface SamplerCase {
  readonly id: number;
  readonly weights: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
  readonly p: Readonly<Record<string, number>>;
}
const cases = golden<SamplerCase[]>("sampler/cases.jsonl");

const WEIGHTS = { math: 0.4, code: 0.25, logic: 0.15, "instruction-following": 0.1, "function-calling": 0.1 };
const DOMAINS = Object.keys(WEIGHTS);

function samplerAt(
  counts: Readonly<Record<string, number>>,
  weights: Readonly<Record<string, number>> = WEIGHTS,
) {
  const sampler = new DomainSampler({ weights, seed: 1 });
  sampler.setState({ completed: counts, picks: 0 });
  return sampler;
}

describe.skipIf(!cases)("sampler goldens", () => {
  test("the probabilities of all 60 count tables agree", () => {
    expect(cases!.length).toBe(60);
    for (const { id, weights, counts, p } of cases!) {
      const probabilities = samplerAt(counts, weights).probabilities();
      for (const [domain, expected] of Object.entries(p)) {
        // The sampler normalises weights whose sum differs from 1 by up to 1e-6.
        const sum = Object.values(weights).reduce((a, b) => a + b, 0);
        const tolerance = Math.max(1e-12, Math.abs(sum - 1));
        expect([id, domain, near(probabilities.get(domain)!, expected, tolerance)]).toEqual([
          id,
          domain,
          true,
        ]);
      }
    }
  });
});

test.each([
  ["49 completions: the weights", [20, 9, 0, 10, 10], [0.4, 0.25, 0.15, 0.1, 0.1]],
  ["one domain without any", [20, 10, 0, 10, 16], [0.187526, 0.146505, 0.627878, 0.023441, 0.01465]],
  ["all in one domain", [0, 0, 0, 0, 56], [0.443951, 0.277469, 0.166482, 0.110988, 0.00111]],
  ["on target", [400, 250, 150, 100, 100], [0.4, 0.25, 0.15, 0.1, 0.1]],
])("%s", (_, counts, expected) => {
  const sampler = samplerAt(Object.fromEntries(DOMAINS.map((domain, i) => [domain, counts[i]!])));
  for (const [i, p] of [...sampler.probabilities().values()].entries())
    expect(p).toBeCloseTo(expected[i]!, 6);
});

test.each([
  ["49 completions: nothing is adjusted yet", "adaptive", [20, 9, 0, 10, 10], [1, 1, 1, 1, 1]],
  // w / share: 0.4 / 0.4, 0.25 / 0.2, 0.15 / 0.1, 0.1 / 0.1, 0.1 / 0.2
  ["50 completions", "adaptive", [20, 10, 5, 5, 10], [1, 1.25, 1.5, 1, 0.5]],
  ["clipped on both sides", "adaptive", [99, 1, 0, 0, 0], [0.4 / 0.99, 10, 10, 10, 10]],
  ["static: never", "static", [99, 1, 0, 0, 0], [1, 1, 1, 1, 1]],
] as const)("adjustment, %s", (_, mode, counts, expected) => {
  const sampler = new DomainSampler({ weights: WEIGHTS, seed: 1, mode });
  sampler.setState({ completed: Object.fromEntries(DOMAINS.map((d, i) => [d, counts[i]!])), picks: 0 });
  const found = [...sampler.adjustments().values()];
  for (const [i, one] of found.entries()) expect(one).toBeCloseTo(expected[i]!, 12);
});

test("a domain with none completed gets exactly ten times its weight, before normalisation", () => {
  const sampler = samplerAt({ a: 50, b: 0 }, { a: 1, b: 1 });
  const p = sampler.probabilities();
  expect(p.get("b")! / p.get("a")!).toBeCloseTo(10 / 0.5, 12);
});

test("probabilities sum to one whatever has been completed", () => {
  const counts = fc.tuple(...DOMAINS.map(() => fc.nat(5000)));
  fc.assert(
    fc.property(counts, (n) => {
      const p = samplerAt(Object.fromEntries(DOMAINS.map((domain, i) => [domain, n[i]!]))).probabilities();
      expect([...p.values()].reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
      expect([...p.values()].every((each) => each > 0)).toBe(true);
    }),
  );
});

test("weights of any scale are normalised", () => {
  const scaled = new DomainSampler({ weights: { a: 30, b: 10 }, seed: 1 });
  expect([...scaled.mixture()]).toEqual([
    ["a", { target: 0.75, realized: 0 }],
    ["b", { target: 0.25, realized: 0 }],
  ]);
});

interface Scenario {
  readonly mode: "adaptive" | "static";
  readonly rollouts: number;
  /** The share of groups per domain that end without being counted. */
  readonly lost?: Readonly<Record<string, number>>;
}

/** Ticks from start to verdict, mean and spread; code and logic are slow, instructions fast. */
const LATENCY: Readonly<Record<string, readonly [number, number]>> = {
  math: [22, 12],
  code: [51, 10],
  logic: [34, 18],
  "instruction-following": [14, 6],
  "function-calling": [24, 6],
};

/** Keeps 64 groups of 8 in flight and replaces each that ends. Returns the mean deviation from the target in points. */
function simulate(seed: number, { mode, rollouts, lost = {} }: Scenario): number {
  const sampler = new DomainSampler({ weights: WEIGHTS, seed, mode });
  const random = new CounterRandom(seed, 1);
  const flights: { domain: string; ends: number }[] = [];
  let now = 0;
  let completed = 0;
  const launch = () => {
    const domain = sampler.pick();
    const [mean, spread] = LATENCY[domain]!;
    // The sum of three uniforms has variance 1/4 and is close enough to a normal distribution.
    const noise = (random.next() + random.next() + random.next() - 1.5) * 2 * spread;
    flights.push({ domain, ends: now + Math.max(4, mean + noise) });
  };
  for (let i = 0; i < 64; i++) launch();
  while (completed < rollouts) {
    const first = flights.reduce((best, flight, i) => (flight.ends < flights[best]!.ends ? i : best), 0);
    const { domain, ends } = flights.splice(first, 1)[0]!;
    now = ends;
    if (random.next() >= (lost[domain] ?? 0)) {
      for (let i = 0; i < 8; i++) sampler.recordCompletion(domain);
      completed += 8;
    }
    launch();
  }
  const deviations = [...sampler.mixture().values()].map(({ target, realized }) =>
    Math.abs(target - realized),
  );
  return (100 * deviations.reduce((a, b) => a + b, 0)) / deviations.length;
}

const meanOver = (seeds: number, scenario: Scenario) =>
  Array.from({ length: seeds }, (_, seed) => simulate(seed + 1, scenario)).reduce((a, b) => a + b, 0) / seeds;

describe("with 64 groups in flight and latencies that differ by domain", () => {
  test("the mixture is held within 1.5 points after 3,200 rollouts and 0.5 after 25,600", () => {
    expect(meanOver(8, { mode: "adaptive", rollouts: 3200 })).toBeLessThan(1.5);
    expect(meanOver(4, { mode: "adaptive", rollouts: 25_600 })).toBeLessThan(0.5);
  });

  test("the adaptive sampler is nearer to the target than the static one", () => {
    const at = { rollouts: 3200 };
    expect(meanOver(8, { mode: "adaptive", ...at })).toBeLessThan(
      0.75 * meanOver(8, { mode: "static", ...at }),
    );
  });

  test("rollouts that vanish uncounted leave an offset, halved but not removed: hence all are counted", () => {
    const lost = { code: 0.25, logic: 0.15 };
    const adaptive = meanOver(4, { mode: "adaptive", rollouts: 25_600, lost });
    const fixed = meanOver(4, { mode: "static", rollouts: 25_600, lost });
    expect(adaptive).toBeGreaterThan(0.8);
    expect(adaptive).toBeLessThan(0.7 * fixed);
  });
});

test.each(["adaptive", "static"] as const)("%s: a domain of weight 0 is never picked", (mode) => {
  const sampler = new DomainSampler({ weights: { a: 1, b: 0, c: 3 }, seed: 5, mode });
  for (let i = 0; i < 400; i++) {
    const domain = sampler.pick();
    expect(domain).not.toBe("b");
    sampler.recordCompletion(domain);
  }
  expect(sampler.mixture().get("b")).toEqual({ target: 0, realized: 0 });
});

test("a pick counts for nothing until its rollouts complete", () => {
  const sampler = new DomainSampler({ weights: WEIGHTS, seed: 2 });
  for (let i = 0; i < 100; i++) sampler.pick();
  expect(sampler.getState()).toEqual({
    completed: Object.fromEntries(DOMAINS.map((d) => [d, 0])),
    picks: 100,
  });
});

test("a restored sampler continues with the same picks", () => {
  const original = new DomainSampler({ weights: WEIGHTS, seed: 9 });
  const step = (sampler: DomainSampler) => {
    const domain = sampler.pick();
    sampler.recordCompletion(domain);
    return domain;
  };
  for (let i = 0; i < 80; i++) step(original);
  const restored = new DomainSampler({ weights: WEIGHTS, seed: 9 });
  restored.setState(JSON.parse(JSON.stringify(original.getState())));
  const continued = Array.from({ length: 60 }, () => step(original));
  expect(Array.from({ length: 60 }, () => step(restored))).toEqual(continued);
});

test.each([
  ["other domains", { completed: { poetry: 1 }, picks: 0 }],
  ["a missing domain", { completed: { math: 1 }, picks: 0 }],
  [
    "a negative count",
    { completed: { ...Object.fromEntries(DOMAINS.map((d) => [d, 0])), math: -1 }, picks: 0 },
  ],
  ["half a pick", { completed: Object.fromEntries(DOMAINS.map((d) => [d, 0])), picks: 0.5 }],
])("a state with %s is refused", (_, state) => {
  const sampler = new DomainSampler({ weights: WEIGHTS, seed: 1 });
  expect(() => sampler.setState(state)).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_CHECKPOINT" }),
  );
});

test.each([
  ["no domain", {}, "no domain has a weight"],
  ["zero everywhere", { a: 0, b: 0 }, "no domain has a weight greater than 0"],
  ["a negative weight", { a: 1, b: -1 }, "weight of domain b is -1"],
  ["NaN", { a: Number.NaN }, "weight of domain a is NaN"],
  ["an infinite weight", { a: Number.POSITIVE_INFINITY }, "weight of domain a is Infinity"],
])("%s is refused", (_, weights, message) => {
  expect(() => new DomainSampler({ weights, seed: 1 })).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_CONFIG", message: expect.stringContaining(message) }),
  );
});

test("completions of a domain that is not sampled are a broken invariant", () => {
  const sampler = new DomainSampler({ weights: { a: 1 }, seed: 1 });
  expect(() => sampler.recordCompletion("b")).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_STATE" }),
  );
});
