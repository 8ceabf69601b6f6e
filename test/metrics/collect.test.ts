import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { collectStepMetrics, MetricsHistory } from "../../lib/metrics/index.ts";
import type { ScoredRollout } from "../../lib/records.ts";
import { SyntheticRun } from "./synthetic-facts.ts";
import { counts, facts, group, rollout, trained } from "./tiny-facts.ts";

/** The same rollout, but as an episode whose second token came from the environment. */
const played = (one: ScoredRollout): ScoredRollout => ({
  ...one,
  rollout: {
    ...one.rollout,
    episode: { given: Uint8Array.of(0, 1), givenText: [], turns: 1, toolCalls: 0, verdict: one.verdict },
  },
});

/** The names of all metrics that runs emit which together use every feature. */
function emittedNames(): Set<string> {
  const names = new Set<string>();
  const history = new MetricsHistory();
  const run = new SyntheticRun(7, 40);
  for (let step = 1; step <= 40; ++step) {
    for (const name in collectStepMetrics(run.step(step), history)) names.add(name);
  }
  const rollouts = [
    rollout({ kv: [0, 0], versions: [1, 1], logprobs: [-3, -1] }),
    rollout({ versions: [1, 1] }),
  ].map((one) => ({ ...one, verdict: { ...one.verdict, parts: { short: 1 } } }));
  const batch = trained(
    rollouts,
    [
      [-3.5, -1],
      [-0.5, -0.3],
    ],
    { version: 1 },
  );
  const referenceLogprobs = new Float32Array(batch.report.logprobs.length).fill(-1);
  const weights = new Float32Array(batch.report.logprobs.length).fill(1);
  const last = facts({
    update: {
      ...batch,
      batch: { ...batch.batch, referenceLogprobs, tokenWeights: weights },
      report: {
        ...batch.report,
        weights,
        divergences: weights,
        expertRows: Float64Array.of(3, 1, 0, 4),
        givenRoutes: 4,
        replacedRoutes: 1,
      },
      referenceSeconds: 0.05,
      teacherLogprobs: referenceLogprobs,
      teacherSeconds: 0.05,
      entropyCoef: 0.1,
      updates: [{ skipped: false }, { skipped: true }],
      replayedAges: [1, 3],
      gradients: {
        parts: ["math", "math", "code", "code"].map((domain) => ({ domain, groups: 1 })),
        products: Float64Array.from({ length: 16 }, () => 1),
        seconds: 0.5,
      },
    },
    groups: [group(rollouts.map((one, i) => ({ ...one, masked: i === 0 }))), group([played(rollouts[0]!)])],
    leftOut: { math: 1 },
    curricula: { math: { seen: 0.5, open: 0.75, solveRate: 0.4 } },
    trackers: { mlflow: { sent: 3, waiting: 1, refused: 0, failures: 2 } },
  });
  for (const name in collectStepMetrics(last)) names.add(name);
  const full = facts({ update: { ...last.update!, divergesFrom: "reference" } });
  for (const name in collectStepMetrics(full)) names.add(name);
  return names;
}

/** Rows of the tables of docs/reference/metrics.md, as patterns of whole names. */
function documentedNames(): Map<string, RegExp> {
  const page = readFileSync(new URL("../../docs/reference/metrics.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name!);
  return new Map(
    rows.map((name) => {
      const pattern = name
        .replace(/[.+]/g, "\\$&")
        .replace(/<stage>/g, "(?!target/)[^/]+")
        .replace(/<[a-z]+>/g, "[^/]+");
      return [name, new RegExp(`^${pattern}$`)];
    }),
  );
}

describe("docs/reference/metrics.md", () => {
  const documented = documentedNames();
  const emitted = emittedNames();

  test("describes every metric that is emitted", () => {
    const unknown = [...emitted].filter(
      (name) => ![...documented.values()].some((pattern) => pattern.test(name)),
    );
    expect(unknown).toEqual([]);
  });

  test("describes no metric that is never emitted", () => {
    const dead = [...documented].filter(([, pattern]) => ![...emitted].some((name) => pattern.test(name)));
    expect(dead.map(([name]) => name)).toEqual([]);
  });

  test("has each name once", () => {
    const page = readFileSync(new URL("../../docs/reference/metrics.md", import.meta.url), "utf8");
    expect([...page.matchAll(/^\| `([^`]+)` \|/gm)]).toHaveLength(documented.size);
  });
});

test("every value of a whole run is a finite number, and shares are shares", () => {
  const run = new SyntheticRun(11, 20);
  const history = new MetricsHistory();
  for (let step = 1; step <= 20; ++step) {
    const m = collectStepMetrics(run.step(step), history);
    for (const [name, value] of Object.entries(m)) expect(Number.isFinite(value), name).toBe(true);
    for (const stage of ["submitted", "completed", "retained", "trained", "gradient-mass"]) {
      const shares = Object.entries(m).filter(([n]) =>
        new RegExp(`^mixture/${stage}/(?!mad|max-error)[^/]+$`).test(n),
      );
      expect(
        shares.reduce((sum, [, share]) => sum + share, 0),
        stage,
      ).toBeCloseTo(1, 9);
    }
    expect(m["mismatch/lag0/max"] ?? 0).toBe(0);
  }
});

test("smoothed sums of the noise scale go from step to step, and through a checkpoint", () => {
  const gradients = (apart: number) => ({
    parts: ["math", "math"].map((domain) => ({ domain, groups: 1 })),
    products: Float64Array.of(1, apart, apart, 1),
    seconds: 0.5,
  });
  const step = (apart?: number) =>
    facts({
      update: { ...trained([rollout()]), ...(apart !== undefined && { gradients: gradients(apart) }) },
    });
  const history = new MetricsHistory();
  expect(collectStepMetrics(step(0.5), history)).toMatchObject({
    "gradient/signal": 2,
    "time/gradients": 0.5,
  });
  const between = collectStepMetrics(step(), history);
  expect(Object.keys(between).filter((name) => /^gradient\/|gradients/.test(name))).toEqual([]);
  const resumed = new MetricsHistory(JSON.parse(JSON.stringify(history)));
  for (const one of [history, resumed])
    expect(collectStepMetrics(step(0), one)["gradient/signal"]).toBeCloseTo(1.8, 12);
});

describe("history", () => {
  const step = (gradScale: number, completed: number, skipped = false) =>
    facts({
      update: trained([rollout()], undefined, { report: { gradScale, skipped } }),
      mixture: {
        targets: { math: 0.5, code: 0.5 },
        probabilities: {},
        adjustments: {},
        counts: { math: counts({ completed }), code: counts({ completed: 10 }) },
      },
    });

  test("windows are against the step before, fractions over all steps", () => {
    const history = new MetricsHistory();
    collectStepMetrics(step(0.5, 10), history);
    const second = collectStepMetrics(step(1, 40, true), history);
    expect(second["mixture/completed/window/math"]).toBe(1);
    expect(second["mixture/completed/math"]).toBe(0.8);
    expect(second["grad/clipped-fraction"]).toBe(0.5);
    expect(second["step/skipped-total"]).toBe(1);
  });

  test("goes through JSON, as a checkpoint takes it", () => {
    const history = new MetricsHistory();
    collectStepMetrics(step(0.5, 10), history);
    const resumed = new MetricsHistory(JSON.parse(JSON.stringify(history)));
    expect(collectStepMetrics(step(1, 40), resumed)).toEqual(collectStepMetrics(step(1, 40), history));
  });

  test("keeps its own copy of counts that the run goes on changing", () => {
    const history = new MetricsHistory();
    const live = { ...counts({ completed: 5 }), dropped: {} };
    const mixture = { targets: { math: 1 }, counts: { math: live }, probabilities: {}, adjustments: {} };
    collectStepMetrics(facts({ mixture }), history);
    live.completed = 9;
    expect(history.counts["math"]?.completed).toBe(5);
  });
});
