// Deliberate faults (mutants) that these tests detect: "partial" counts as solved, verdict shares are divided by
// scored rollouts only, length-only groups use the shaped reward for their raw spread, bins are closed at the right.
import { describe, expect, test } from "vitest";
import { MetricSheet } from "../../lib/metrics/distribution.ts";
import type { StepFacts } from "../../lib/metrics/index.ts";
import { putTaskMetrics } from "../../lib/metrics/task-metrics.ts";
import { facts, group, rollout, trained } from "./tiny-facts.ts";

function collect(rest: Partial<StepFacts>): Record<string, number> {
  const sheet = new MetricSheet();
  putTaskMetrics(sheet, facts(rest));
  return sheet.values;
}

const right = rollout({ reward: 0.9, penaltyScale: 0.5, penalty: -0.2, text: "7" });
const half = rollout({ status: "partial", score: 0.5, penaltyScale: 0.5, penalty: 0, text: "7 8" });
const wrong = rollout({
  status: "wrong",
  domain: "code",
  level: 2,
  penaltyScale: 1,
  penalty: -1,
  reward: -1,
  text: "8",
});

describe("rewards", () => {
  const m = collect({ groups: [group([right, half, wrong, wrong])] });

  test("shaped and raw are kept apart", () => {
    expect(m["reward/mean"]).toBeCloseTo((0.9 + 0.5 - 1 - 1) / 4, 12);
    expect(m["score/mean"]).toBe(1.5 / 4);
    expect(m["score/mean/math"]).toBe(0.75);
    expect(m["reward/mean/code"]).toBe(-1);
  });

  test("only correct is solved; partial is not", () => {
    expect(m["success"]).toBe(0.25);
    expect(m["success/math"]).toBe(0.5);
    expect(m["success/level-0"]).toBe(0.5);
    expect(m["success/level-2"]).toBe(0);
  });

  test("quantiles interpolate", () => {
    expect(m["reward/p50"]).toBeCloseTo((-1 + 0.5) / 2, 12);
  });

  test("by age of the first token, the oldest together", () => {
    const aged = [0, 1, 9, 5].map((age, i) =>
      rollout({ versions: [10 - age, 10], status: i < 2 ? "correct" : "wrong" }),
    );
    const byAge = collect({ groups: [group(aged)], update: trained([], [], { version: 10 }) });
    expect([byAge["score/lag-0"], byAge["score/lag-1"], byAge["score/lag-4+"]]).toEqual([1, 1, 0]);
    expect(byAge["score/lag-2"]).toBeUndefined();
  });
});

test("each of several rewards by itself, over the rollouts that have it", () => {
  const withParts = (parts: Record<string, number>) => ({ ...right, verdict: { ...right.verdict, parts } });
  const m = collect({
    groups: [group([withParts({ right: 1, short: 0.25 }), withParts({ right: 0, short: 0.75 }), wrong])],
  });
  const parts = Object.fromEntries(Object.entries(m).filter(([name]) => name.startsWith("reward/part/")));
  expect(parts).toEqual({ "reward/part/math/right": 0.5, "reward/part/math/short": 0.5 });
});

describe("verdicts", () => {
  test("shares are of all rollouts, those lost to us included", () => {
    const m = collect({ groups: [group([right, wrong, half])], unscored: { math: 1 } });
    expect(m["verdict/correct"]).toBe(0.25);
    expect(m["verdict/unscored"]).toBe(0.25);
    expect(m["verdict/no_answer"]).toBe(0);
    expect(m["verdict/partial-score"]).toBe(0.5);
  });

  test("unscored is absent where nobody counted it", () => {
    expect(collect({ groups: [group([right])] })).not.toHaveProperty("verdict/unscored");
  });
});

test("penalty: mean of lambda P, who has it, and who has less of it", () => {
  const m = collect({ groups: [group([right, half, wrong, wrong])] });
  expect(m["penalty/mean"]).toBeCloseTo((-0.1 + 0 - 1 - 1) / 4, 12);
  expect(m["penalty/active"]).toBe(0.75);
  expect(m["penalty/softened"]).toBeCloseTo(1 / 3, 12);
  expect(collect({ groups: [group([rollout()])] })).not.toHaveProperty("penalty/mean");
});

describe("groups", () => {
  test("zero spread, length-only and solved in all, some and none", () => {
    const lengthOnly = group([rollout({ reward: 1 }), rollout({ reward: 0.8 })]);
    const flat = group([rollout({ status: "wrong" }), rollout({ status: "wrong" })], {
      dropped: "zero-advantage",
    });
    const mixed = group([rollout({ text: "a" }), rollout({ status: "wrong", text: "b" })]);
    const m = collect({ groups: [lengthOnly, flat, mixed, mixed] });
    expect(m["groups/count"]).toBe(4);
    expect(m["groups/kept"]).toBe(0.75);
    expect(m["groups/zero-score-std"]).toBe(0.5);
    expect(m["groups/zero-reward-std"]).toBe(0.25);
    expect(m["groups/length-only"]).toBe(0.25);
    expect([m["groups/solved-all"], m["groups/solved-some"], m["groups/solved-none"]]).toEqual([
      0.25, 0.5, 0.25,
    ]);
    expect(m["groups/best-solved"]).toBe(0.75);
    expect(m["groups/score-std"]).toBe(0.25);
    expect(m["groups/unique-answers"]).toBe((0.5 + 0.5 + 1 + 1) / 4);
  });

  test.each([
    [0, "0"],
    [0.125, "0-25"],
    [0.25, "25-50"],
    [0.5, "50-75"],
    [0.875, "75-100"],
    [1, "100"],
  ])("solve rate %d falls into bin %s", (solveRate, bin) => {
    const m = collect({ groups: [group([right], { solveRate })] });
    expect(m[`solve-rate/${bin}`]).toBe(1);
    const rest = Object.entries(m).filter(([name]) => name.startsWith("solve-rate/"));
    expect(rest).toHaveLength(6);
    expect(rest.reduce((sum, [, value]) => sum + value, 0)).toBe(1);
  });
});

test("no group, no metric", () => {
  expect(collect({ groups: [] })).toEqual({});
  expect(collect({ groups: [group([])], unscored: { math: 0 } })).toEqual({});
});

test("what is masked is a share of all, and only a recipe that masks has it", () => {
  const cut = { ...wrong, masked: true };
  const whole = { ...right, masked: false };
  expect(collect({ groups: [group([cut, whole, whole, cut])] })["overlong/masked"]).toBe(0.5);
  expect(collect({ groups: [group([whole])] })["overlong/masked"]).toBe(0);
  expect(collect({ groups: [group([right, wrong])] })).not.toHaveProperty("overlong/masked");
});
