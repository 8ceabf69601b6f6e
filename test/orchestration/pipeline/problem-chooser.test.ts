import { expect, test } from "vitest";
import type { SettledGroup } from "../../../lib/orchestration/pipeline/grouper.ts";
import { ProblemChooser } from "../../../lib/orchestration/pipeline/problem-chooser.ts";
import type { Curriculum, WeightFunction } from "../../../lib/orchestration/setup/index.ts";
import type { ScoredRollout } from "../../../lib/records.ts";
import { requestOf } from "../pipeline-accounting.ts";

// Deliberate faults (mutants) that these tests detect: histories are updated in the order of completion, a problem in
// the pipeline is drawn again, the average weighs old and new the other way round, the key lacks the number of draws.

const PLACE = { seed: 7, ordinal: 2 };
const curriculum = (count: number, weigh: WeightFunction): Curriculum => ({
  identities: Array.from({ length: count }, (_, n) => `problem ${n}`),
  difficulties: Float64Array.from({ length: count }, (_, n) => n),
  easier: Float64Array.from({ length: count }, (_, n) => n / count),
  weigh,
  smoothing: 0.25,
});
const chooserOf = (count: number, weigh: WeightFunction, ...rest: [saved?: never, outstanding?: number[]]) =>
  new ProblemChooser(curriculum(count, weigh), PLACE, rest[0], rest[1] ?? []);

const settled = (group: number, index: number, solveRate: number, judged = 4): SettledGroup => ({
  request: { ...requestOf(group, 0), index },
  group: {
    ...({} as SettledGroup["group"]),
    rollouts: new Array<ScoredRollout>(judged).fill({} as ScoredRollout),
    solveRate,
  },
  rollouts: [],
  unscored: [],
});

test("problems are drawn in proportion to their weights, and the n-th draw of one is index n * count + place", () => {
  const chooser = chooserOf(4, ({ difficulty }) => difficulty); // difficulties 0, 1, 2, 3
  const counts = [0, 0, 0, 0];
  for (let group = 0; group < 6000; group++) {
    const index = chooser.next(0);
    expect(Math.floor(index / 4)).toBe(counts[index % 4]);
    counts[index % 4]! += 1;
    chooser.settled(settled(group, index, 0.5), 0);
  }
  expect(counts[0]).toBe(0);
  // the standard deviations of 6000 draws are 29, 37 and 39
  for (const n of [1, 2, 3]) expect(Math.abs(counts[n]! - 1000 * n)).toBeLessThan(160);
});

test("the solve rate is an exponential average of groups, and a group without a verdict is none", () => {
  const seen: unknown[] = [];
  const chooser = chooserOf(1, ({ solveRate, attempts, since, step }) => {
    seen.push([solveRate, attempts, since, step]);
    return 1;
  });
  for (const [group, rate] of [1, 0, 0.5].entries())
    chooser.settled(settled(group, chooser.next(group), rate), group);
  chooser.settled(settled(3, chooser.next(3), 0, 0), 3);
  chooser.next(9);
  // 1, then 1 + (0 - 1) / 4 = 0.75, then 0.75 + (0.5 - 0.75) / 4 = 0.6875
  expect(seen.at(-1)).toEqual([0.6875, 12, 7, 9]);
  expect(seen[0]).toEqual([undefined, 0, undefined, 0]);
});

test("a problem in the pipeline is not drawn again while another one can be; with weights of 0 all are alike", () => {
  const chooser = chooserOf(3, ({ difficulty }) => (difficulty === 1 ? 1 : 0));
  const places = [chooser.next(0), chooser.next(0), chooser.next(0)].map((index) => index % 3);
  expect(places[0]).toBe(1);
  expect(places.toSorted()).toEqual([0, 1, 2]);
  expect(Math.floor(chooser.next(0) / 3)).toBe(1); // all three are in the pipeline, so one of them is drawn again
  const resumed = chooserOf(3, () => 1, undefined, [4, 3]); // the problems at places 1 and 0
  expect(resumed.next(0) % 3).toBe(2);
});

test("what is drawn follows from group numbers, not from the order in which groups completed", () => {
  const run = (order: (groups: SettledGroup[]) => SettledGroup[]): number[] => {
    const chooser = chooserOf(9, ({ solveRate = 0.5 }) => 0.1 + solveRate);
    const drawn: number[] = [];
    for (let step = 0; step < 12; step++) {
      const groups = Array.from({ length: 4 }, (_, i) =>
        settled(step * 4 + i, chooser.next(step), (i * step) % 3),
      );
      drawn.push(...groups.map(({ request }) => request.index));
      for (const group of order([...groups, settled(step * 4 + 9, 0, 0.7)])) chooser.settled(group, step);
    }
    return drawn;
  };
  expect(run((groups) => groups.toReversed())).toEqual(run((groups) => groups));
});

test("one that goes on from a checkpoint draws what the uninterrupted one draws, wherever its rows now stand", () => {
  const weigh: WeightFunction = ({ solveRate = 0.5, since = 0 }) => 0.1 + solveRate + since / 10;
  const drive = (chooser: ProblemChooser, steps: readonly number[], drawn: number[]) => {
    for (const step of steps)
      for (let i = 0; i < 3; i++) {
        const index = chooser.next(step);
        drawn.push(index);
        chooser.settled(settled(step * 3 + i, index, ((index * 7) % 5) / 4), step);
      }
  };
  const straight: number[] = [];
  drive(chooserOf(8, weigh), [0, 1, 2, 3, 4, 5], straight);
  const halved: number[] = [];
  const first = chooserOf(8, weigh);
  drive(first, [0, 1, 2], halved);
  const saved = JSON.parse(JSON.stringify(first.saved())) as ReturnType<ProblemChooser["saved"]>;
  drive(new ProblemChooser(curriculum(8, weigh), PLACE, saved, []), [3, 4, 5], halved);
  expect(halved).toEqual(straight);
  const moved = { ...curriculum(8, weigh), identities: curriculum(8, weigh).identities.toReversed() };
  const there = new ProblemChooser(moved, PLACE, saved, []).saved();
  expect([...there.problems].sort()).toEqual([...saved.problems].sort());
});

test("says what is known: problems seen, open ones, the mean solve rate", () => {
  const chooser = chooserOf(4, ({ solveRate }) => (solveRate === 1 ? 0 : 1));
  const [a, b] = [chooser.next(0), chooser.next(0)];
  chooser.settled(settled(0, a, 1), 0);
  chooser.settled(settled(1, b, 0.5), 0);
  chooser.next(1);
  expect(chooser.facts()).toEqual({ seen: 0.5, open: 0.75, solveRate: 0.75 });
});
