import { expect, test } from "vitest";
import { assembleBatch } from "../../../lib/orchestration/pipeline/training-batch.ts";
import { rolloutOf, settledOf } from "../pipeline-accounting.ts";

test("prompts and responses end to end, mask and log-probs on the response, dropped groups left out", () => {
  const { rollouts, groupOf, data } = assembleBatch(
    [
      settledOf(0, [rolloutOf([1, 2], [8, 16], 0.5), rolloutOf([1, 2], [24], -0.5)]),
      settledOf(1, [rolloutOf([9], [9], 9)], "hook"),
      settledOf(2, [rolloutOf([3], [32, 40, 48], 1)]),
    ],
    80,
  );
  expect(rollouts).toHaveLength(3);
  expect(groupOf).toEqual(Int32Array.of(0, 0, 1));
  expect(data).toEqual({
    tokens: Int32Array.of(1, 2, 8, 16, 1, 2, 24, 3, 32, 40, 48),
    cuSeqlens: Int32Array.of(0, 4, 7, 11),
    mask: Uint8Array.of(0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1),
    behaviorLogprobs: Float32Array.of(0, 0, -1, -2, 0, 0, -3, 0, -4, -5, -6),
    advantages: Float32Array.of(0.5, -0.5, 1),
    tokenAdvantages: Float32Array.of(0, 0, 0.5, 0.5, 0, 0, -0.5, 0, 1, 1, 1),
    groupSizes: Int32Array.of(2, 2, 1),
    sequences: 3,
    groups: 2,
    drGrpoNormalizer: 80,
  });
});

test("routes lie at the rows of their tokens; a row without any, a sequence's last among them, has bytes of 255", () => {
  const bytes = (n: number, first: number) => Uint8Array.from({ length: 2 * n }, (_, i) => first + i);
  const routed = (prompt: number[], tokens: number[], routes?: Uint8Array) => {
    const scored = rolloutOf(prompt, tokens, 1);
    return {
      ...scored,
      rollout: { ...scored.rollout, ...(routes && { routes: { width: 2, bytes: routes } }) },
    };
  };
  const { data } = assembleBatch(
    [settledOf(0, [routed([1, 2], [8], bytes(2, 1)), routed([1, 2], [9]), routed([3], [24], bytes(1, 60))])],
    80,
  );
  const none = [255, 255];
  expect([...data.routes!]).toEqual([1, 2, 3, 4, ...none, ...none, ...none, ...none, 60, 61, ...none]);
  expect(assembleBatch([settledOf(0, [routed([1], [2])])], 80).data.routes).toBeUndefined();
});

test("masked rollouts count among the sequences and in their group, and are not laid down", () => {
  const masked = { ...rolloutOf([1, 2], [5, 6, 7], -1), masked: true };
  const finished = { ...rolloutOf([1, 2], [8], 1), masked: false };
  const { rollouts, data } = assembleBatch(
    [settledOf(0, [masked, finished, masked]), settledOf(1, [rolloutOf([3], [9], 2)])],
    80,
  );
  expect(rollouts.map(({ advantage }) => advantage)).toEqual([1, 2]);
  expect(data).toMatchObject({
    tokens: Int32Array.of(1, 2, 8, 3, 9),
    cuSeqlens: Int32Array.of(0, 3, 5),
    mask: Uint8Array.of(0, 0, 1, 0, 1),
    advantages: Float32Array.of(1, 2),
    groupSizes: Int32Array.of(3, 1),
    sequences: 4,
    groups: 2,
  });
});

test("what an environment gave is in the sequence, and in neither mask nor advantage", () => {
  const scored = rolloutOf([1, 2], [8, 16, 24, 32], 0.5);
  const verdict = { status: "correct", score: 1, reason: "" } as const;
  const episode = { given: Uint8Array.of(0, 1, 1, 0), givenText: [], turns: 2, toolCalls: 0, verdict };
  const played = { ...scored, rollout: { ...scored.rollout, episode } };
  expect(assembleBatch([settledOf(0, [played])], 80).data).toMatchObject({
    tokens: Int32Array.of(1, 2, 8, 16, 24, 32),
    mask: Uint8Array.of(0, 0, 1, 0, 0, 1),
    tokenAdvantages: Float32Array.of(0, 0, 0.5, 0, 0, 0.5),
  });
});

test("without a kept group there is nothing", () => {
  expect(assembleBatch([], 80).data.cuSeqlens).toEqual(Int32Array.of(0));
});
