// Deliberate faults (mutants) that these tests detect: the sequence ratio uses the sum instead of the mean, KL has
// the opposite sign, k3 lacks its -1, the mismatch of other weights counts at lag 0, "low" sides use the opposite
// sign of the gradient, versions are indexed by position in the batch instead of the rollout.
import { describe, expect, test } from "vitest";
import { MetricSheet } from "../../lib/metrics/distribution.ts";
import type { UpdateFacts } from "../../lib/metrics/index.ts";
import { putPolicyMetrics } from "../../lib/metrics/policy-metrics.ts";
import { facts, rollout, trained } from "./tiny-facts.ts";

function collect(of: UpdateFacts): Record<string, number> {
  const sheet = new MetricSheet();
  putPolicyMetrics(sheet, facts({ update: of }));
  return sheet.values;
}

/** A sequence with these log-ratios, which are exact in f32 (multiples of 2^-10). */
function drifted(logRatios: readonly number[], rest: Parameters<typeof rollout>[0] = {}) {
  const engine = logRatios.map(() => -1);
  return {
    rollout: rollout({ logprobs: engine, versions: engine.map(() => 3), ...rest }),
    now: logRatios.map((r) => r - 1),
  };
}

function batchOf(
  parts: readonly ReturnType<typeof drifted>[],
  rest: Partial<Omit<UpdateFacts, "report">> = {},
) {
  return trained(
    parts.map((p) => p.rollout),
    parts.map((p) => p.now),
    { version: 5, ...rest },
  );
}

const K = 1 / 1024;

describe("on policy", () => {
  const m = collect(batchOf([drifted([0, 0, 0]), drifted([0])]));

  test("ratios are exactly 1 and divergences exactly 0", () => {
    expect([m["ratio/min"], m["ratio/max"], m["ratio/deviation"], m["token-ratio/max"]]).toEqual([
      1, 1, 0, 1,
    ]);
    expect([m["kl/k1"], m["kl/k3"], m["kl/chi2"], m["log-ratio/abs-max"]]).toEqual([0, 0, 0, 0]);
    expect([m["ess/tokens"], m["ess/sequences"]]).toEqual([1, 1]);
  });
});

describe("ratios", () => {
  const parts = [drifted([8 * K, -4 * K, 2 * K]), drifted([-16 * K]), drifted([0, 0])];
  const m = collect(batchOf(parts));
  const logs = [8, -4, 2, -16, 0, 0].map((x) => x * K);
  const tokens = logs.map(Math.exp);
  const sequences = [Math.exp(2 * K), Math.exp(-16 * K), 1];
  const mean = (xs: readonly number[]) => xs.reduce((a, b) => a + b, 0) / xs.length;

  test("of a sequence: the geometric mean over its tokens", () => {
    expect(m["ratio/mean"]).toBeCloseTo(mean(sequences), 12);
    expect(m["ratio/p50"]).toBe(1);
    expect(m["ratio/max"]).toBeCloseTo(Math.exp(2 * K), 12);
    expect(m["ratio/deviation"]).toBeCloseTo(mean(sequences.map((s) => Math.abs(s - 1))), 12);
  });

  test("of tokens, with their divergences", () => {
    expect(m["token-ratio/mean"]).toBeCloseTo(mean(tokens), 12);
    expect(m["log-ratio/abs-max"]).toBe(16 * K);
    expect(m["kl/k1"]).toBeCloseTo(-mean(logs), 12);
    expect(m["kl/k3"]).toBeCloseTo(mean(tokens.map((r, i) => r - 1 - logs[i]!)), 12);
    expect(m["kl/chi2"]).toBeCloseTo(mean(tokens.map((r) => (r - 1) ** 2)), 12);
    expect(m["ess/tokens"]).toBeCloseTo(mean(tokens) ** 2 / mean(tokens.map((r) => r * r)), 12);
    expect(m["ess/sequences"]).toBeCloseTo(mean(sequences) ** 2 / mean(sequences.map((s) => s * s)), 12);
  });

  test("a reference policy has its own divergence, and only then", () => {
    expect(m).not.toHaveProperty("kl/reference/k1");
    const batch = batchOf(parts);
    const referenceLogprobs = batch.report.logprobs.map((l) => l - 8 * K);
    const with_ = collect({ ...batch, batch: { ...batch.batch, referenceLogprobs } });
    expect(with_["kl/reference/k1"]).toBe(8 * K);
    expect(with_).not.toHaveProperty("kl/teacher/k1");
    const taught = collect({ ...batch, teacherLogprobs: referenceLogprobs.map((l) => l - 8 * K) });
    expect(taught["kl/teacher/k1"]).toBe(16 * K);
    expect(taught).not.toHaveProperty("kl/teacher/divergence");
    const divergences = batch.report.logprobs.map((_, t) => t / 8);
    const pulled = collect({ ...batch, report: { ...batch.report, divergences } });
    const counted = [...batch.batch.mask.keys()].filter((t) => batch.batch.mask[t] === 1);
    expect(pulled["kl/teacher/divergence"]).toBeCloseTo(mean(counted.map((t) => t / 8)), 12);
    expect(taught["kl/teacher/k3"]).toBeCloseTo(Math.exp(-16 * K) + 16 * K - 1, 12);
    expect(with_["kl/reference/k3"]).toBeCloseTo(Math.exp(-8 * K) + 8 * K - 1, 12);
  });
});

describe("clipping", () => {
  const up = [8 * K]; // 1.0078
  const down = [-8 * K]; // 0.9922
  const parts = [
    drifted(up, { advantage: 1 }),
    drifted(up, { advantage: -1 }),
    drifted(up, { advantage: -1 }),
    drifted(down, { advantage: -1 }),
    drifted([0, 0], { advantage: 1 }),
  ];

  test("by side and by the sign of the advantage; two of the four stop the gradient", () => {
    const m = collect(batchOf(parts, { clip: { of: "sequence", low: 3e-3, high: 4e-3 } }));
    expect(m).toMatchObject({
      "clip/high/positive": 0.2,
      "clip/high/negative": 0.4,
      "clip/low/positive": 0,
      "clip/low/negative": 0.2,
      "clip/high": 0.2,
      "clip/low": 0.2,
    });
  });

  test("over tokens for a token objective", () => {
    const m = collect(batchOf(parts, { clip: { of: "token", low: 3e-3, high: 4e-3 } }));
    expect(m["clip/high/positive"]).toBeCloseTo(1 / 6, 12);
  });

  test("absent for an objective that clips nothing", () => {
    expect(Object.keys(collect(batchOf(parts))).filter((name) => /clip\/(high|low)/.test(name))).toEqual([]);
  });

  test("fractions of what the objective marked", () => {
    const batch = batchOf(parts);
    const clipped = new Uint8Array(batch.report.clipped.length);
    clipped[1] = 1; // the first sequence's only response token, after one prompt token
    clipped[0] = 1; // a prompt token, which must not count
    const m = collect({ ...batch, report: { ...batch.report, clipped } });
    expect(m["clip/sequences"]).toBe(0.2);
    expect(m["clip/tokens"]).toBeCloseTo(1 / 6, 12);
  });
});

describe("mismatch", () => {
  const parts = [
    drifted([2 * K, 0, 128 * K], { versions: [5, 5, 5], kv: [5, 5, 4] }),
    drifted([512 * K], { versions: [4], kv: [4] }),
    drifted([1 * K], { versions: [5], kv: [5], prompt: 4 }),
  ];
  const m = collect(batchOf(parts));

  test("is split by cause: arithmetic, older keys, other weights", () => {
    expect(m["mismatch/kernel/max"]).toBe(2 * K);
    expect(m["mismatch/kernel/mean"]).toBe(K);
    expect(m["mismatch/kernel/tokens"]).toBe(3);
    expect(m["mismatch/stale-kv/max"]).toBe(128 * K);
    expect(m["mismatch/policy/max"]).toBe(512 * K);
  });

  test("at lag 0 leaves other weights out, and its maximum is exact", () => {
    expect(m["mismatch/lag0/max"]).toBe(128 * K);
    expect(m["mismatch/lag0/mean"]).toBeCloseTo((131 * K) / 4, 12);
    expect(m["mismatch/lag0/large"]).toBe(0.25);
  });

  test("is absent where no token is at lag 0", () => {
    const old = collect(batchOf([drifted([K], { versions: [4] })]));
    expect(Object.keys(old).filter((name) => name.startsWith("mismatch/lag0"))).toEqual([]);
  });

  test("correlation and the gap on unlikely tokens", () => {
    const engine = [-3, -1, -2];
    const now = [-3.5, -1, -2.25];
    const r = rollout({ logprobs: engine, versions: [5, 5, 5] });
    const pair = collect(trained([r], [now], { version: 5 }));
    const mean = (xs: readonly number[]) => xs.reduce((a, b) => a + b, 0) / xs.length;
    const centred = (xs: readonly number[]) => xs.map((x) => x - mean(xs));
    const dot = (a: readonly number[], b: readonly number[]) => a.reduce((s, x, i) => s + x * b[i]!, 0);
    const [a, b] = [centred(engine), centred(now)];
    expect(pair["mismatch/lag0/correlation"]).toBeCloseTo(dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)), 12);
    expect(pair["mismatch/lag0/unlikely-prob-gap"]).toBeCloseTo(Math.exp(-3) - Math.exp(-3.5), 12);
  });
});

test("advantages and each domain's share of the gradient's mass", () => {
  const parts = [
    drifted([0, 0, 0], { advantage: 2 }),
    drifted([0], { advantage: -0.5, domain: "code" }),
    drifted([0, 0], { advantage: 0, domain: "logic" }),
  ];
  const m = collect(batchOf(parts));
  expect(m["advantage/mean"]).toBe(0.5);
  expect(m["advantage/min"]).toBe(-0.5);
  expect(m["advantage/positive"]).toBeCloseTo(1 / 3, 12);
  expect(m["mixture/gradient-mass/math"]).toBeCloseTo(6 / 6.5, 12);
  expect(m["mixture/gradient-mass/logic"]).toBe(0);
});

test("sequences without a counted token, and steps without training, say nothing", () => {
  const empty = rollout({ logprobs: [] });
  const one = drifted([K]);
  const m = collect(trained([empty, one.rollout], [[], one.now], { version: 5 }));
  expect(m["ratio/mean"]).toBeCloseTo(Math.exp(K), 12);
  expect(collect(trained([empty], [[]]))).toEqual({});
});

describe("with several updates a batch", () => {
  const clip = { of: "sequence", low: 0.1, high: 0.1 } as const;
  const two = [drifted([0, 0]), drifted([0])];

  test("clips are of the objective's ratios, whatever those to the sampler were before the first", () => {
    const one = batchOf(two, { clip });
    const ratios = one.report.clipped.length;
    const moved = { ...one.report, ratios: new Float32Array(ratios).fill(1.2) };
    const m = collect({ ...one, report: moved, updates: [{ skipped: false }, { skipped: false }] });
    expect([m["ratio/max"], m["clip/high/positive"]! + m["clip/high/negative"]!]).toEqual([1, 1]);
    expect(collect({ ...one, report: moved })["clip/high"]).toBe(0); // with one update the ratios are those of that update, all 1
  });
});
