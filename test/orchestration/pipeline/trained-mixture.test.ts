import { describe, expect, test } from "vitest";
import { type MixtureCounts, TrainedMixture } from "../../../lib/orchestration/pipeline/trained-mixture.ts";
import { CounterRandom } from "../../../lib/random.ts";

const count = (submitted: number, outstanding: number, trained: number): MixtureCounts => ({
  submitted,
  outstanding,
  trained,
});
const halves = new TrainedMixture(
  new Map([
    ["a", 0.5],
    ["b", 0.5],
  ]),
  8,
);

describe("the domain that will have trained least for its weight is next", () => {
  test.each([
    ["nothing yet: the first", count(0, 0, 0), count(0, 0, 0), "a"],
    ["what is in the pipeline counts", count(8, 8, 0), count(0, 0, 0), "b"],
    ["what was dropped does not", count(80, 0, 40), count(80, 0, 48), "a"],
    // a: 40 + 16 * (40 + 8) / (80 + 8) = 48.7; b: 32 + 16 * 40 / 88 = 39.3
    ["by the keep rate so far", count(96, 16, 40), count(96, 16, 32), "b"],
    // a: 10 + 80 * 18 / 108 = 23.3 is less than b's 24; a keep rate of 1 would give 90
    ["expected, not hoped for", count(180, 80, 10), count(180, 0, 24), "a"],
  ])("%s", (_, a, b, next) => {
    expect(halves.pick({ a, b })).toBe(next);
  });

  test("what a buffer trained again counts as trained, and does not make a domain's keep rate greater", () => {
    const again = { ...count(80, 0, 40), replayed: 16 };
    expect(halves.pick({ a: again, b: count(80, 0, 48) })).toBe("b");
    expect(halves.pick({ a: { ...count(80, 0, 40), replayed: 7 }, b: count(80, 0, 48) })).toBe("a");
    expect(halves.shares({ a: again, b: count(80, 0, 40) }).get("a")).toBe(0.5);
  });

  test("for its weight", () => {
    const mixture = new TrainedMixture(
      new Map([
        ["a", 0.75],
        ["b", 0.25],
      ]),
      8,
    );
    // 240 / 0.75 = 320 is less than 96 / 0.25 = 384
    expect(mixture.pick({ a: count(240, 0, 240), b: count(96, 0, 96) })).toBe("a");
    expect(mixture.pick({ a: count(240, 0, 240), b: count(72, 0, 72) })).toBe("b");
  });
});

test("a domain whose groups are always dropped takes (1 + w) / 2 of the prompts and no more", () => {
  const counts = {
    a: { submitted: 0, outstanding: 0, trained: 0 },
    b: { submitted: 0, outstanding: 0, trained: 0 },
  };
  for (let group = 0; group < 4000; group++) {
    const domain = halves.pick(counts) as "a" | "b";
    counts[domain].submitted += 8;
    if (domain === "b") counts.b.trained += 8;
  }
  expect(counts.a.submitted / 32_000).toBeCloseTo(0.75, 2);
});

test("a domain of weight 0 is never picked and needs no share", () => {
  const mixture = new TrainedMixture(
    new Map([
      ["a", 0],
      ["b", 1],
    ]),
    8,
  );
  const counts = { a: count(0, 0, 0), b: count(80, 8, 40) };
  expect(mixture.pick(counts)).toBe("b");
  expect([...mixture.shares(counts).values()]).toEqual([0, 1]);
});

test("the shares a domain needs are its weight over its keep rate", () => {
  // the keep rates are (392 + 8) / (792 + 8) = 1/2 and 1: b, which is kept twice as often, gets 1/3
  const shares = halves.shares({ a: count(792, 0, 392), b: count(792, 0, 792) });
  expect(shares.get("a")).toBeCloseTo(2 / 3, 12);
  expect(shares.get("b")).toBeCloseTo(1 / 3, 12);
  const never = halves.shares({ a: count(1e6, 0, 0), b: count(8, 0, 8) });
  expect(never.get("a")).toBeCloseTo(50 / 51, 12);
});

describe("with 64 groups in the pipeline and keep rates that differ by domain", () => {
  const WEIGHTS = new Map([
    ["math", 0.4],
    ["code", 0.25],
    ["logic", 0.15],
    ["instructions", 0.1],
    ["calls", 0.1],
  ]);
  const KEPT: Readonly<Record<string, number>> = {
    math: 0.55,
    code: 0.4,
    logic: 0.35,
    instructions: 0.9,
    calls: 0.3,
  };

  test.each([1, 2, 3])("the trained mixture is within 0.1 points after 8,000 groups, seed %d", (seed) => {
    const mixture = new TrainedMixture(WEIGHTS, 8);
    const random = new CounterRandom(seed, 77);
    const counts = Object.fromEntries(
      [...WEIGHTS.keys()].map((d) => [d, { submitted: 0, outstanding: 0, trained: 0 }]),
    );
    const line: string[] = [];
    for (let group = 0; group < 8000; group++) {
      const domain = mixture.pick(counts);
      counts[domain]!.submitted += 8;
      counts[domain]!.outstanding += 8;
      line.push(domain);
      if (line.length < 64) continue;
      const [ended] = line.splice(Math.floor(random.next() * 64), 1);
      counts[ended!]!.outstanding -= 8;
      if (random.next() < KEPT[ended!]!) counts[ended!]!.trained += 8;
    }
    const total = Object.values(counts).reduce((n, { trained }) => n + trained, 0);
    const off = [...WEIGHTS].map(([d, weight]) => Math.abs(counts[d]!.trained / total - weight));
    expect((100 * off.reduce((a, b) => a + b, 0)) / 5).toBeLessThan(0.1);
  });
});
