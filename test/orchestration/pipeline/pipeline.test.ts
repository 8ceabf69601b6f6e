import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../../lib/clock.ts";
import { Pipeline } from "../../../lib/orchestration/pipeline/pipeline.ts";
import { EventLog } from "../../../lib/orchestration/records/event-log.ts";
import { openResources } from "../../../lib/orchestration/setup/resources.ts";
import { inlineVerifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { type StandInOptions, standInCore } from "../stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-pipeline-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function pipelineOf(training: object, options: StandInOptions = {}) {
  const resources = await openResources(smallRecipe(training), standInCore(options), inlineVerifiers);
  await resources.trainer.publish(resources.generations.engine);
  const events = new EventLog(join(dir, "events.jsonl"), false);
  return { resources, pipeline: new Pipeline({ ...resources, events, clock: systemClock }) };
}

test("whatever step it is left at, the accounting balance and nothing stays in the engine", async () => {
  const { resources, pipeline } = await pipelineOf({ steps: 20, maxLag: 2 });
  for await (const { step } of pipeline.steps()) {
    pipeline.accounting.check();
    if (step === 4) break;
  }
  expect(resources.generations.inFlight).toBe(0);
  pipeline.accounting.check();
  const { outstanding, draws, ledger } = pipeline.state(5);
  expect(draws.nextGroup).toBe(20 + outstanding.length);
  expect(Object.values(ledger).reduce((n, a) => n + a.completed, 0)).toBe(5 * 4 * 4);
});

test("a slow trainer bounds what is under way by the credits: nothing piles up", async () => {
  let most = 0;
  const { resources, pipeline } = await pipelineOf(
    { steps: 6, maxLag: 1 },
    {
      onStep: async () => {
        for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
        most = Math.max(most, pipeline.accounting.outstanding, resources.generations.inFlight / 4);
        return {};
      },
    },
  );
  for await (const _ of pipeline.steps());
  expect(most).toBeLessThanOrEqual(8);
});

test("a trainer whose next batch is ready has it before the next problems are drawn", async () => {
  const order: string[] = [];
  const onStep = async () => {
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
    order.push("ended");
    return {};
  };
  const { resources, pipeline } = await pipelineOf({ steps: 6, maxLag: 1 }, { onStep });
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
  for await (const _ of pipeline.steps());
  const next = order.flatMap((event, i) => (event === "ended" ? [order[i + 1]] : []));
  expect(next).toEqual([...new Array(5).fill("called"), undefined]);
  expect(order.filter((event) => event === "asked").length).toBeGreaterThanOrEqual(6 * 4);
});

test("no trained token is older than maxLag, however uneven the lengths", async () => {
  const length = (problem: number) => (problem % 5 === 0 ? 24 : 2);
  const { pipeline } = await pipelineOf({ steps: 12, maxLag: 2 }, { length });
  for await (const { versionBefore, update } of pipeline.steps()) {
    for (const { rollout } of update?.rollouts ?? []) {
      expect(versionBefore - Math.min(...rollout.versions)).toBeLessThanOrEqual(2);
    }
  }
});

test("draining ends the pipeline after the running step", async () => {
  const { pipeline } = await pipelineOf({ steps: 50 });
  let steps = 0;
  for await (const _ of pipeline.steps()) {
    steps += 1;
    if (steps === 3) pipeline.drain();
  }
  expect(steps).toBeLessThan(6);
});
