import { expect, test } from "vitest";
import { MetricSheet } from "../../lib/metrics/distribution.ts";
import { putEpisodeMetrics } from "../../lib/metrics/episode-metrics.ts";
import type { StepFacts } from "../../lib/metrics/facts.ts";
import { putLengthMetrics } from "../../lib/metrics/length-metrics.ts";
import { putStalenessMetrics } from "../../lib/metrics/staleness-metrics.ts";
import type { Episode, ScoredRollout } from "../../lib/records.ts";
import { rolloutOf, settledOf } from "../orchestration/pipeline-accounting.ts";

const verdict = { status: "correct", score: 1, reason: "" } as const;
const playedOf = (given: number[], finish: "eos" | "turns", turns: number): ScoredRollout => {
  const scored = rolloutOf(
    [1],
    given.map(() => 9),
    1,
  );
  const episode: Episode = {
    given: Uint8Array.from(given),
    givenText: [],
    turns,
    toolCalls: turns - 1,
    verdict,
  };
  const entropies = Float32Array.from(given, (one) => (one === 1 ? 0 : 2));
  return { ...scored, rollout: { ...scored.rollout, finish, entropies, episode } };
};

function metricsOf(rollouts: ScoredRollout[], put: (sheet: MetricSheet, facts: StepFacts) => void) {
  const sheet = new MetricSheet();
  const { group } = settledOf(0, rollouts);
  const update = { rollouts, version: 5 };
  put(sheet, { groups: [group], maxOutputTokens: 10, queues: {}, update } as unknown as StepFacts);
  return sheet.values;
}

const PLAYED = [playedOf([0, 1, 1, 0], "eos", 2), playedOf([0, 0], "turns", 1)];

test("turns, calls, what was given, and the share that ran out of turns, by domain", () => {
  expect(metricsOf(PLAYED, putEpisodeMetrics)).toEqual({
    "episode/turns/math": 1.5,
    "episode/tool-calls/math": 0.5,
    "episode/given/math": 1,
    "episode/out-of-turns/math": 0.5,
  });
  expect(metricsOf([rolloutOf([1], [2], 1)], putEpisodeMetrics)).toEqual({});
});

test("lengths, entropies and ages are of sampled tokens alone", () => {
  const lengths = metricsOf(PLAYED, putLengthMetrics);
  expect(lengths).toMatchObject({ "length/mean": 2, "length/max": 2, "entropy/mean": 2 });
  const old = playedOf([0, 1, 0], "eos", 2);
  const mixed = { ...old, rollout: { ...old.rollout, versions: Uint32Array.of(3, 5, 5) } };
  expect(metricsOf([mixed], putStalenessMetrics)).toMatchObject({
    "age/mean": 1,
    "versions/mean": 2,
    "lag/max": 2,
  });
});
