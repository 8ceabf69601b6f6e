import { describe, expect, test } from "vitest";
import { MetricSheet, Moments } from "../../lib/metrics/distribution.ts";
import { type NoiseSums, putGradientMetrics } from "../../lib/metrics/gradient-metrics.ts";
import type { GradientFacts } from "../../lib/metrics/index.ts";
import { uniform } from "./synthetic-facts.ts";

type Vector = readonly number[];

const dot = (a: Vector, b: Vector) => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
const plus = (a: Vector, b: Vector) => a.map((x, i) => x + b[i]!);

/** The facts of parts with these gradients: [domain, groups, gradient]. */
function factsOf(parts: readonly (readonly [string, number, Vector])[]): GradientFacts {
  const products = parts.flatMap(([, , a]) => parts.map(([, , b]) => dot(a, b)));
  return {
    parts: parts.map(([domain, groups]) => ({ domain, groups })),
    products: Float64Array.from(products),
    seconds: 0.25,
  };
}

function measured(facts: GradientFacts, before: Readonly<Record<string, NoiseSums>> = {}) {
  const sheet = new MetricSheet();
  const after = putGradientMetrics(sheet, facts, before);
  return { metrics: sheet.values, after };
}

describe("domains against each other", () => {
  test("norms, cosines and shares are those of the vectors", () => {
    const { metrics } = measured(
      factsOf([
        ["math", 4, [3, 4]],
        ["code", 4, [-4, 3]],
        ["logic", 2, [1, 0]],
      ]),
    );
    // g = (0, 7): <g_d, g> = 28, 21, 0
    expect(metrics).toEqual({
      "gradient/norm/math": 5,
      "gradient/norm/code": 5,
      "gradient/norm/logic": 1,
      "gradient/share/math": 28 / 49,
      "gradient/share/code": 21 / 49,
      "gradient/share/logic": 0,
      "gradient/cosine/math/code": 0,
      "gradient/cosine/math/logic": 0.6,
      "gradient/cosine/code/logic": -0.8,
    });
  });

  test("halves are added up first, and shares may be negative and add up to 1", () => {
    const { metrics } = measured(
      factsOf([
        ["math", 2, [3, 0, 1]],
        ["math", 2, [3, 2, -1]],
        ["code", 1, [-1, 0, 0]],
        ["code", 1, [-1, 0, 0]],
      ]),
    );
    const [math, code, whole] = [
      [6, 2, 0],
      [-2, 0, 0],
      [4, 2, 0],
    ] as const;
    expect(metrics["gradient/norm/math"]).toBeCloseTo(Math.sqrt(40), 14);
    expect(metrics["gradient/cosine/math/code"]).toBeCloseTo(-12 / (Math.sqrt(40) * 2), 14);
    expect(metrics["gradient/share/math"]).toBeCloseTo(dot(math, whole) / dot(whole, whole), 14);
    expect(metrics["gradient/share/code"]).toBeCloseTo(dot(code, whole) / dot(whole, whole), 14);
    expect(metrics["gradient/share/code"]).toBeLessThan(0);
    expect(metrics["gradient/share/math"]! + metrics["gradient/share/code"]!).toBeCloseTo(1, 14);
  });

  test("a domain without a gradient has a norm and a share, and no angle", () => {
    const { metrics } = measured(
      factsOf([
        ["math", 4, [3, 4]],
        ["code", 4, [0, 0]],
      ]),
    );
    expect(metrics["gradient/norm/code"]).toBe(0);
    expect(metrics["gradient/share/code"]).toBe(0);
    expect(metrics["gradient/cosine/math/code"]).toBeUndefined();
  });

  test("of a loss that was not finite nothing is said, and what was smoothed stays", () => {
    const facts = factsOf([
      ["math", 2, [Number.NaN]],
      ["math", 2, [Number.NaN]],
    ]);
    const before = { "": { signal: 1, noise: 2 } };
    expect(measured(facts, before)).toEqual({ metrics: {}, after: before });
  });
});

describe("noise scale", () => {
  test("equal halves A and B: signal 4 <A, B>, noise N |A - B|^2", () => {
    const [a, b] = [
      [3, 1, 0],
      [2, -1, 1],
    ] as const;
    const { metrics, after } = measured(
      factsOf([
        ["math", 4, a],
        ["math", 4, b],
      ]),
    );
    const apart = a.map((x, i) => x - b[i]!);
    expect(metrics["gradient/signal"]).toBeCloseTo(4 * dot(a, b), 12);
    expect(metrics["gradient/noise"]).toBeCloseTo(8 * dot(apart, apart), 12);
    expect(metrics["gradient/noise-scale"]).toBeCloseTo((8 * 6) / 20, 12);
    expect(metrics["gradient/noise-scale/math"]).toBe(metrics["gradient/noise-scale"]);
    expect(Object.keys(after)).toEqual(["", "math"]);
  });

  test("a signal that is not positive is said, and has no scale", () => {
    const { metrics } = measured(
      factsOf([
        ["math", 1, [1, 1]],
        ["math", 1, [-1, 0]],
      ]),
    );
    expect(metrics["gradient/signal"]).toBe(-4);
    expect(metrics["gradient/noise"]).toBe(10);
    expect(metrics["gradient/noise-scale"]).toBeUndefined();
  });

  test("a domain of one group has no spread: it is in neither sum", () => {
    const halves = [
      ["math", 2, [1, 0]],
      ["math", 2, [1, 1]],
    ] as const;
    const { metrics } = measured(factsOf([...halves, ["code", 1, [9, 9]], ["code", 0, [0, 0]]]));
    const alone = measured(factsOf(halves)).metrics;
    for (const name of ["signal", "noise", "noise-scale"])
      expect(metrics[`gradient/${name}`], name).toBe(alone[`gradient/${name}`]);
    expect(metrics["gradient/noise-scale/code"]).toBeUndefined();
    expect(metrics["gradient/share/code"]).toBeGreaterThan(0);
  });

  test("parts that are whole domains have none", () => {
    const { metrics, after } = measured(factsOf([["math", 8, [1, 0]]]));
    expect(Object.keys(metrics)).toEqual(["gradient/norm/math", "gradient/share/math"]);
    expect(after).toEqual({});
  });

  test("both sums are smoothed apart, before one is divided by the other", () => {
    const first = measured(
      factsOf([
        ["math", 1, [1, 1]],
        ["math", 1, [1, 0]],
      ]),
    );
    const second = measured(
      factsOf([
        ["math", 1, [1, 1]],
        ["math", 1, [-1, 0]],
      ]),
      first.after,
    );
    expect(first.after["math"]).toEqual({ signal: 4, noise: 2 });
    expect(second.after["math"]!.signal).toBeCloseTo(0.9 * 4 - 0.1 * 4, 12);
    expect(second.after["math"]!.noise).toBeCloseTo(0.9 * 2 + 0.1 * 10, 12);
    expect(second.metrics["gradient/noise-scale/math"]).toBeCloseTo(2.8 / 3.2, 12);
  });

  /**
   * Each group of math has a gradient of mean m and covariance s^2 I, each of code c and t^2 I. The step's gradient G
   * is the sum over n = 3 + 4 groups divided by n. So |G|^2 = |3 m + 4 c|^2 / 49, the trace of its covariance is (3
   * s^2 + 4 t^2) D / 49, and the noise scale is 7 times the ratio of trace to |G|^2, in groups.
   */
  test("over many batches it is that of the distribution the groups were drawn from, for halves of unequal size too", () => {
    const draws = uniform(5);
    const standard = () => (draws() - 0.5) * Math.sqrt(12);
    const [m, c] = [
      [3, 0, 1.5, 0, 0, 0],
      [0, 1.5, -1.5, 0, 0, 0.75],
    ] as const;
    const [s, t, n] = [1.5, 0.5, 7];
    const draw = (groups: number, mean: Vector, spread: number): Vector => {
      let sum: Vector = mean.map(() => 0);
      for (let i = 0; i < groups; i++)
        sum = plus(
          sum,
          mean.map((x) => (x + spread * standard()) / n),
        );
      return sum;
    };
    const seen = { signal: new Moments(), noise: new Moments() };
    const batches = 40_000;
    for (let i = 0; i < batches; i++) {
      const { after } = measured(
        factsOf([
          ["math", 2, draw(2, m, s)],
          ["math", 1, draw(1, m, s)],
          ["code", 2, draw(2, c, t)],
          ["code", 2, draw(2, c, t)],
        ]),
      );
      seen.signal.add(after[""]!.signal);
      seen.noise.add(after[""]!.noise);
    }
    const mean = plus(
      m.map((x) => (3 * x) / n),
      c.map((x) => (4 * x) / n),
    );
    const trace = ((3 * s * s + 4 * t * t) * m.length) / (n * n);
    for (const [moments, expected] of [
      [seen.signal, dot(mean, mean)],
      [seen.noise, n * trace],
    ] as const) {
      const error = moments.std / Math.sqrt(batches);
      expect(error / expected).toBeLessThan(0.01);
      expect(Math.abs(moments.mean - expected)).toBeLessThan(4 * error);
    }
  });
});
