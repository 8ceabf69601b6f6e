import { expect, test } from "vitest";
import type { RolloutGroup } from "../../lib/records.ts";
import { NotTaken, trackedStep } from "../../lib/trackers/tracker.ts";
import { group, rollout } from "../metrics/tiny-facts.ts";

const record = { step: 4, version: 3, metrics: { a: 1 } };

test("a step with the way of the first completion of its first group that has one, in times since 1970", () => {
  const scored = rollout({ versions: [2, 2, 3] });
  const empty = { ...group([]), rollouts: [] } as RolloutGroup;
  const dropped = { ...group([scored]), dropped: "zero-advantage" as const };
  const entry = trackedStep(record, { groups: [empty, dropped], endedAt: 99, epochMs: 1000 }, 2);
  expect(entry).toMatchObject({ kind: "step", step: 4, version: 3, at: 99, sitting: 2, metrics: { a: 1 } });
  const { rollout: sampled, verdict, reward, advantage } = scored;
  expect(entry.rollout).toEqual({
    domain: sampled.problem.domain,
    problem: sampled.problem.id,
    family: sampled.problem.family,
    attempt: sampled.attempt,
    submittedAt: 1000 + sampled.submittedMs,
    generatedAt: 1000 + sampled.finishedMs,
    promptTokens: sampled.promptTokens.length,
    tokens: sampled.tokens.length,
    finish: sampled.finish,
    versions: [0, 2, 2, 3],
    verdict: { status: verdict.status, score: verdict.score, reason: verdict.reason },
    reward,
    advantage,
    dropped: "zero-advantage",
  });
});

test("a step without groups has no rollout", () => {
  expect(trackedStep(record, { groups: [], endedAt: 1, epochMs: 0 }, 1)).not.toHaveProperty("rollout");
});

test("what was not taken may be taken later, unless it says otherwise", () => {
  expect(new NotTaken("x")).toMatchObject({ refused: false, retryAfterMs: undefined, message: "x" });
  expect(new NotTaken("x", { refused: true, retryAfterMs: 5 })).toMatchObject({
    refused: true,
    retryAfterMs: 5,
  });
});
