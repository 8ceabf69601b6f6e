import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../../lib/clock.ts";
import { Line } from "../../../lib/orchestration/line/line.ts";
import { EventLog } from "../../../lib/orchestration/records/event-log.ts";
import { openResources } from "../../../lib/orchestration/setup/resources.ts";
import { inlineVerifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { type StandInOptions, standInCore } from "../stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-line-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function lineOf(training: object, options: StandInOptions = {}) {
  const resources = await openResources(smallRecipe(training), standInCore(options), inlineVerifiers);
  await resources.trainer.publish(resources.generations.engine);
  const events = new EventLog(join(dir, "events.jsonl"), false);
  return { resources, line: new Line({ ...resources, events, clock: systemClock }) };
}

test("whatever step it is left at, the books balance and nothing stays in the engine", async () => {
  const { resources, line } = await lineOf({ steps: 20, maxLag: 2 });
  for await (const { step } of line.steps()) {
    line.books.check();
    if (step === 4) break;
  }
  expect(resources.generations.inFlight).toBe(0);
  line.books.check();
  const { outstanding, draws, ledger } = line.state(5);
  expect(draws.nextGroup).toBe(20 + outstanding.length);
  expect(Object.values(ledger).reduce((n, a) => n + a.completed, 0)).toBe(5 * 4 * 4);
});

test("a slow trainer bounds what is under way by the credits: nothing piles up", async () => {
  let most = 0;
  const { resources, line } = await lineOf(
    { steps: 6, maxLag: 1 },
    {
      onStep: async () => {
        for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
        most = Math.max(most, line.books.outstanding, resources.generations.inFlight / 4);
        return {};
      },
    },
  );
  for await (const _ of line.steps());
  expect(most).toBeLessThanOrEqual(8);
});

test("a trainer whose next batch is ready has it before the next problems are drawn", async () => {
  const order: string[] = [];
  const onStep = async () => {
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
    order.push("ended");
    return {};
  };
  const { resources, line } = await lineOf({ steps: 6, maxLag: 1 }, { onStep });
  const { trainer, generations } = resources;
  const [step, submit] = [trainer.step.bind(trainer), generations.submit.bind(generations)];
  vi.spyOn(trainer, "step").mockImplementation((...given) => {
    order.push("called");
    return step(...given);
  });
  vi.spyOn(generations, "submit").mockImplementation((...given) => {
    order.push("asked");
    submit(...given);
  });
  for await (const _ of line.steps());
  const next = order.flatMap((event, i) => (event === "ended" ? [order[i + 1]] : []));
  expect(next).toEqual([...new Array(5).fill("called"), undefined]);
  expect(order.filter((event) => event === "asked").length).toBeGreaterThanOrEqual(6 * 4);
});

test("no trained token is older than maxLag, however uneven the lengths", async () => {
  const length = (problem: number) => (problem % 5 === 0 ? 24 : 2);
  const { line } = await lineOf({ steps: 12, maxLag: 2 }, { length });
  for await (const { versionBefore, update } of line.steps()) {
    for (const { rollout } of update?.rollouts ?? []) {
      expect(versionBefore - Math.min(...rollout.versions)).toBeLessThanOrEqual(2);
    }
  }
});

test("draining ends the line after the running step", async () => {
  const { line } = await lineOf({ steps: 50 });
  let steps = 0;
  for await (const _ of line.steps()) {
    steps += 1;
    if (steps === 3) line.drain();
  }
  expect(steps).toBeLessThan(6);
});
