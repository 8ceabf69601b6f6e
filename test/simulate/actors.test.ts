import { expect, test } from "vitest";
import { Actors } from "../../lib/simulate/actors.ts";
import { submittedGroup } from "../../lib/simulate/attempt.ts";
import { Timeline } from "../../lib/simulate/timeline.ts";
import { requestOf } from "../orchestration/pipeline-accounting.ts";
import { machineOf, withActor } from "./machines.ts";

const groupOf = (number: number, lengths: readonly number[]) =>
  submittedGroup(
    { ...requestOf(number, 0), attempts: lengths.length },
    { promptTokens: 10, lengths, verify: lengths.map(() => 1), kept: true },
  );

function actorsOf(change: Parameters<typeof machineOf>[0] = {}) {
  const timeline = new Timeline();
  const ended: number[] = [];
  const machine = withActor(
    { decode: { fixed: 1, perSequence: 0, perContextToken: 0 }, maxRunning: 2, prefillPerToken: 0 },
    machineOf(change),
  );
  const actors = new Actors(machine, 0, timeline, ({ group }) => ended.push(group.request.group));
  return { actors, timeline, ended };
}

test("a group goes to the engine with the fewest running, and waits in one queue where none has room", async () => {
  const { actors, timeline, ended } = actorsOf();
  for (let i = 0; i < 6; i++) actors.submit(groupOf(i, [10 - i]));
  expect(actors.all.map(({ running }) => running)).toEqual([2, 2]);
  expect(actors.queued).toBe(2);
  await timeline.run(() => ended.length === 6);
  expect(ended).toEqual([3, 2, 1, 0, 5, 4].sort((a, b) => ended.indexOf(a) - ended.indexOf(b)));
  expect(actors.queued).toBe(0);
  expect(actors.sum(({ progress }) => progress.tokens)).toBeCloseTo(10 + 9 + 8 + 7 + 6 + 5, 6);
});

test("what a failure loses is begun again by whoever has room", async () => {
  const { actors, timeline, ended } = actorsOf({ failures: { mtbf: 30, restart: 10 } });
  for (let i = 0; i < 12; i++) actors.submit(groupOf(i, [20, 20]));
  await timeline.run(() => ended.length === 24);
  expect(actors.sum(({ wasted }) => wasted)).toBeGreaterThan(0);
  expect(new Set(ended).size).toBe(12);
});

test("while weights come engines go on with what they have, and begin no group; then they do", async () => {
  const { actors, timeline, ended } = actorsOf();
  for (let i = 0; i < 6; i++) actors.submit(groupOf(i, [i < 4 ? 3 : 5]));
  void actors.receive(10).then(() => {
    actors.update(1);
    timeline.settle();
  });
  const ends = new Map<number, number>();
  await timeline.run(() => {
    for (const group of ended) if (!ends.has(group)) ends.set(group, timeline.seconds);
    return ended.length === 6;
  });
  expect([0, 1, 2, 3].map((group) => ends.get(group))).toEqual([3, 3, 3, 3]);
  // begun after 10 s, and a pause for the weights
  for (const group of [4, 5]) expect(ends.get(group)).toBeCloseTo(10 + 0.5 + 5, 6);
});
