// Deliberate faults (mutants) that these tests detect: domain means of entropy are averaged without their token
// counts, a tenth is rounded down, "abort" counts as truncated.
import { expect, test } from "vitest";
import { MetricSheet } from "../../lib/metrics/distribution.ts";
import type { StepFacts } from "../../lib/metrics/index.ts";
import { putLengthMetrics } from "../../lib/metrics/length-metrics.ts";
import { facts, group, rollout } from "./tiny-facts.ts";

function collect(rest: Partial<StepFacts>): Record<string, number> {
  const sheet = new MetricSheet();
  putLengthMetrics(sheet, facts(rest));
  return sheet.values;
}

const ofLength = (n: number, rest: Parameters<typeof rollout>[0] = {}) =>
  rollout({ logprobs: new Array<number>(n).fill(-1), ...rest });

test("tokens without text are a share of all tokens", () => {
  const padded = ofLength(6);
  const rollouts = [{ ...padded, rollout: { ...padded.rollout, textlessTokens: 3 } }, ofLength(4)];
  expect(collect({ groups: [group(rollouts)] })["length/textless"]).toBe(0.3);
});

test("lengths by domain, level, verdict, end and fate of the group", () => {
  const kept = group([ofLength(2), ofLength(4, { level: 3, status: "wrong", prompt: 5 })]);
  const dropped = group([ofLength(80, { domain: "code", finish: "length", status: "wrong" })], {
    dropped: "zero-advantage",
  });
  const m = collect({ groups: [kept, dropped], maxOutputTokens: 80 });
  expect(m).toMatchObject({
    "length/mean": 86 / 3,
    "length/mean/math": 3,
    "length/mean/code": 80,
    "length/level/0": 41,
    "length/level/3": 4,
    "length/verdict/correct": 2,
    "length/verdict/wrong": 42,
    "length/terminated": 3,
    "length/kept": 3,
    "length/dropped": 80,
    "length/p50": 4,
    "length/max": 80,
    "length/textless": 0,
    truncated: 1 / 3,
    "truncated/math": 0,
    "truncated/code": 1,
    "prompt-length/mean": 7 / 3,
    "prompt-length/max": 5,
  });
  expect(m["length/p95"]).toBeCloseTo(4 + 0.9 * 76, 9);
  expect(m["length/budget"]).toBeCloseTo(86 / 240, 12);
});

test("an aborted rollout is not a truncated one", () => {
  expect(collect({ groups: [group([ofLength(3, { finish: "abort" })])] })["truncated"]).toBe(0);
});

test("where every rollout was cut, there is no terminated length", () => {
  const m = collect({ groups: [group([ofLength(80, { finish: "length" })])] });
  expect(m).not.toHaveProperty("length/terminated");
});

test("entropy counts every token once, per domain too", () => {
  const entropies = Array.from({ length: 11 }, (_, t) => t + 1); // 1, 2, …, 11
  const long = rollout({ logprobs: entropies.map(() => -1), entropies });
  const short = rollout({ logprobs: [-1], entropies: [100] });
  const m = collect({
    groups: [group([long, short]), group([rollout({ domain: "code", entropies: [3, 5] })])],
  });
  expect(m["entropy/mean/math"]).toBe((66 + 100) / 12);
  expect(m["entropy/mean/code"]).toBe(4);
  expect(m["entropy/mean"]).toBe((66 + 100 + 8) / 14);
  // a tenth of 11 tokens is 2 tokens; of 1 or 2 tokens it is 1
  expect(m["entropy/first-tenth"]).toBe((1 + 2 + 100 + 3) / 4);
  expect(m["entropy/last-tenth"]).toBe((10 + 11 + 100 + 5) / 4);
  expect(m["entropy/p50"]).toBe(5.5);
});

test("nothing finished, nothing said", () => {
  expect(collect({ groups: [] })).toEqual({});
});
