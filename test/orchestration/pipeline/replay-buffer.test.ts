import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StepBatch } from "../../../lib/orchestration/pipeline/batcher.ts";
import { allGroups, ReplayBuffer } from "../../../lib/orchestration/pipeline/replay-buffer.ts";
import { rolloutOf, settledOf } from "../pipeline-accounting.ts";

const kept = (group: number) => settledOf(group, [rolloutOf([1], [5, 2], 1), rolloutOf([1], [6, 2], -1)]);
const batchOf = (...groups: number[]): StepBatch => ({ groups: groups.map(kept), credits: 0 });
const rule = (share: number, maxAge: number, seed = 7) => ({
  seed,
  training: { replayBuffer: { share, maxAge } },
});
const numbers = ({ replayed = [] }: StepBatch) => replayed.map(({ request }) => request.group);

/** Runs steps of four fresh groups each; returns the groups that each step trained on. */
function drawn(buffer: ReplayBuffer, steps: number, from = 0): number[][] {
  return Array.from({ length: steps }, (_, i) => {
    const step = from + i;
    const batch = buffer.filled(batchOf(4 * step, 4 * step + 1, 4 * step + 2, 4 * step + 3), step);
    buffer.trained(batch, step);
    return numbers(batch);
  });
}

describe("a replay buffer", () => {
  test("without the field, a batch is what it was, and nothing is kept", () => {
    const buffer = new ReplayBuffer({ seed: 7, training: {} });
    const batch = batchOf(0, 1);
    expect(buffer.filled(batch, 0)).toBe(batch);
    buffer.trained(batch, 0);
    expect(buffer.groups).toEqual([]);
    expect(allGroups(batch)).toBe(batch.groups);
  });

  test.each([
    [0.5, 4],
    [0.2, 1],
    [0.34, 2],
    [0.6, 6],
    [0.1, 0],
  ])("a share of %f beside four fresh groups is %i", (share, count) => {
    const steps = drawn(new ReplayBuffer(rule(share, 8)), 9);
    expect(steps.at(-1)).toHaveLength(count);
  });

  test("draws only what is there: nothing in the first step, no group twice in one", () => {
    const steps = drawn(new ReplayBuffer(rule(0.9, 1)), 3);
    expect(steps).toEqual([[], [0, 1, 2, 3], [4, 5, 6, 7]]);
  });

  test("a group is drawn up to maxAge steps after its own, and then it is gone", () => {
    const buffer = new ReplayBuffer(rule(0.5, 2));
    const ages = drawn(buffer, 60).flatMap((groups, step) =>
      groups.map((group) => step - Math.floor(group / 4)),
    );
    expect(new Set(ages)).toEqual(new Set([1, 2]));
    expect(buffer.groups.map(({ first }) => first)).toEqual([58, 58, 58, 58, 59, 59, 59, 59]);
  });

  test("what was dropped is not kept, and its place is not filled from the buffer", () => {
    const buffer = new ReplayBuffer(rule(0.5, 4));
    buffer.trained(batchOf(0, 1, 2, 3), 0);
    const dropped = settledOf(5, [], "zero-advantage");
    const batch = buffer.filled({ groups: [kept(4), dropped], credits: 0 }, 1);
    expect(batch.replayed).toHaveLength(1);
    buffer.trained(batch, 1);
    expect(buffer.groups.map(({ request }) => request.group)).toEqual([0, 1, 2, 3, 4]);
    expect(buffer.filled({ groups: [dropped], credits: 0 }, 2).replayed).toEqual([]);
  });

  test("draws follow from seed, step and groups alone: one that is taken up goes on alike", () => {
    fc.assert(
      fc.property(
        fc.nat(1000),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 8 }),
        (seed, maxAge, at) => {
          const straight = new ReplayBuffer(rule(0.4, maxAge, seed));
          const all = drawn(straight, 10);
          const before = new ReplayBuffer(rule(0.4, maxAge, seed));
          drawn(before, at);
          const after = new ReplayBuffer(rule(0.4, maxAge, seed), before.groups);
          expect(drawn(after, 10 - at, at)).toEqual(all.slice(at));
        },
      ),
    );
    const other = drawn(new ReplayBuffer(rule(0.4, 4, 8)), 30);
    expect(other).not.toEqual(drawn(new ReplayBuffer(rule(0.4, 4, 7)), 30));
  });

  test("keeps for a later rule of a greater age what its own no longer draws", () => {
    const first = new ReplayBuffer(rule(0.5, 1), [], 3);
    expect(drawn(first, 4)).toEqual([[], [0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]);
    expect(new Set(first.groups.map(({ first: step }) => step))).toEqual(new Set([1, 2, 3]));
    const plain = new ReplayBuffer({ seed: 7, training: {} }, [], 3);
    drawn(plain, 2);
    expect(new ReplayBuffer(rule(0.5, 3), plain.groups).filled(batchOf(8, 9), 2).replayed).toHaveLength(2);
  });

  test("draws every group of every age equally often", () => {
    const counts = new Map<string, number>();
    for (const [step, groups] of drawn(new ReplayBuffer(rule(0.5, 4)), 4000).entries())
      for (const group of groups) {
        const which = `${step - Math.floor(group / 4)} ${group % 4}`;
        counts.set(which, (counts.get(which) ?? 0) + 1);
      }
    expect(counts.size).toBe(16);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});

test("groups of the buffer lie evenly among a batch's kept ones, in the order of their numbers", () => {
  const order = (fresh: readonly (readonly [number, boolean])[], again: readonly number[]) =>
    allGroups({
      groups: fresh.map(([group, isKept]) => (isKept ? kept(group) : settledOf(group, [], "zero-advantage"))),
      replayed: again.map((group) => ({ ...kept(group), first: 0 })),
    }).map(({ request }) => request.group);
  const four = [10, 11, 12, 13].map((group) => [group, true] as const);
  expect(order(four, [1, 2])).toEqual([10, 11, 1, 12, 13, 2]);
  expect(order(four, [1, 2, 3, 4, 5, 6])).toEqual([10, 1, 11, 2, 3, 12, 4, 13, 5, 6]);
  expect(
    order(
      [
        [10, false],
        [11, true],
        [12, false],
        [13, true],
      ],
      [1, 2],
    ),
  ).toEqual([10, 11, 1, 12, 13, 2]);
});
