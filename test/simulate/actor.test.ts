import { expect, test } from "vitest";
import { Actor } from "../../lib/simulate/actor.ts";
import { type Attempt, type SubmittedGroup, submittedGroup } from "../../lib/simulate/attempt.ts";
import { Timeline } from "../../lib/simulate/timeline.ts";
import { requestOf } from "../orchestration/pipeline-accounting.ts";
import { withActor } from "./machines.ts";

/** An engine that takes a second a step, its queue, and the times at which attempts ended. */
function engineOf(rates: Parameters<typeof withActor>[0], ...lengths: readonly (readonly number[])[]) {
  const timeline = new Timeline();
  const queue: SubmittedGroup[] = lengths.map((tokens, i) =>
    submittedGroup(
      { ...requestOf(i, 0), attempts: tokens.length },
      { promptTokens: 10, lengths: tokens, verify: tokens.map(() => 1), kept: true },
    ),
  );
  const ended: [number, number, number][] = [];
  const lost: Attempt[] = [];
  const { actor } = withActor({
    decode: { fixed: 1, perSequence: 0, perContextToken: 0 },
    prefillPerToken: 0,
    updatePause: 0,
    ...rates,
  });
  const engine = new Actor(actor, timeline, {
    pull: (passes) => (queue[0] !== undefined && passes(queue[0]) ? queue.shift() : undefined),
    finished: ({ group, number }) => ended.push([group.request.group, number, timeline.seconds]),
    lost: (attempts) => lost.push(...attempts),
  });
  const total = lengths.flat().length;
  return { engine, timeline, ended, lost, run: () => timeline.run(() => ended.length === total) };
}

test("as many run as have a slot, the others in order of submission", async () => {
  const { engine, ended, run } = engineOf({ maxRunning: 2 }, [3, 5], [4]);
  engine.look();
  await run();
  expect(ended).toEqual([
    [0, 0, 3],
    [0, 1, 5],
    [1, 0, 7],
  ]);
});

test("attempts of a group that find no slot wait in the engine, before any other group", async () => {
  const { engine, ended, run } = engineOf({ maxRunning: 1 }, [2, 2], [1]);
  engine.look();
  expect(engine.hasRoom).toBe(false);
  await run();
  expect(ended.map(([group, attempt]) => [group, attempt])).toEqual([
    [0, 0],
    [0, 1],
    [1, 0],
  ]);
});

test("without room for keys and values the youngest goes, and comes back with what it had", async () => {
  const { engine, ended, run } = engineOf({ maxRunning: 4, keyValueTokens: 600 }, [400], [400]);
  engine.look();
  await run();
  expect(engine.preemptions).toBeGreaterThan(0);
  expect(ended[0]).toEqual([0, 0, 400]);
  expect(ended[1]![2]).toBeLessThan(800);
  expect(engine.progress.tokens).toBeCloseTo(800, 6);
});

test("a failure loses what is under way, and for a while nothing is begun", async () => {
  const { engine, timeline, ended, lost, run } = engineOf({ maxRunning: 4 }, [10], [2]);
  engine.look();
  timeline.at(6, () => engine.fail(100));
  const over = run();
  await expect(over).rejects.toMatchObject({ code: "HONE_ERR_STALL" });
  expect(ended).toEqual([[1, 0, 2]]);
  expect(lost.map(({ group }) => group.request.group)).toEqual([0]);
  expect(engine.wasted).toBeCloseTo(6, 9);
  expect(timeline.seconds).toBe(106);
});

test("new weights pause it, and a step of the trainer slows it down", async () => {
  const { engine, timeline, ended, run } = engineOf({ maxRunning: 4, updatePause: 7 }, [10]);
  engine.look();
  timeline.at(2, () => engine.setSpeed(0.5));
  timeline.at(6, () => engine.setSpeed(1));
  timeline.at(8, () => engine.update(1));
  await run();
  expect(ended).toEqual([[0, 0, expect.closeTo(10 + 2 + 7, 9)]]);
});
