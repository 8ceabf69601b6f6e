import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openProcesses, readFaults } from "../../lib/fleet/index.ts";
import { createRun, nativeCore, replayRun } from "../../lib/orchestration/index.ts";
import { readEvents } from "../../lib/orchestration/records/event-log.ts";
import { weightsHash } from "../../lib/orchestration/recovery/index.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { noRedis, RedisServer } from "../streams/redis/redis-server.ts";

let dir: string;
let server: RedisServer;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "hone-processes-"));
  if (noRedis === undefined) server = await RedisServer.start();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
});

const settings = { leaseMs: 3000, beatMs: 100 };
/** Every step changes the weights, whatever random ones answer. */
const recipe = (schedule: "sync" | "async") =>
  smallRecipe(
    { steps: 5, schedule, maxLag: 1 },
    {
      advantages: { divideBy: "none", filter: "none" },
      objective: { entropyCoef: 0.1 },
      optimizer: { lr: 1e-3, warmupSteps: 0 },
    },
  );

async function runOf(
  name: string,
  options: { schedule: "sync" | "async"; trainers: number; faults?: string; store?: string },
) {
  const core = await nativeCore();
  const { schedule, trainers, faults = "", store } = options;
  const address = store === undefined ? {} : { store };
  const open = { actors: 2, trainers, core, ...address, settings, faults: readFaults(faults) };
  await using processes = await openProcesses(open);
  const at = join(dir, name);
  await using run = await createRun(recipe(schedule), { verifiers, dir: at, core: processes.core });
  expect(await run.finished).toMatchObject({ reason: "done", steps: 5 });
  return { at, weights: weightsHash(join(at, "checkpoints", "step-000005")) };
}

/** By one process, once. */
let alone: Promise<string> | undefined;
async function weightsOfOne(): Promise<string> {
  await using run = await createRun(recipe("sync"), { verifiers, dir: join(dir, "one") });
  await run.finished;
  return weightsHash(join(dir, "one", "checkpoints", "step-000005"));
}

test("without an address they meet in a file: an actor is killed, the weights are one process's", async () => {
  alone ??= weightsOfOne();
  const { weights } = await runOf("file", {
    schedule: "sync",
    trainers: 1,
    faults: "actor.1@step=2:sigkill",
  });
  expect(weights).toBe(await alone);
});

describe.skipIf(noRedis !== undefined)("real processes at a server", () => {
  test("actors and a trainer that are killed: no group is lost, none is trained twice, the weights are one process's", async () => {
    alone ??= weightsOfOne();
    const one = await alone;
    const faults = "actor.1@step=1:sigkill,trainer.0@step=2:sigkill,actor.0@step=3:sigkill";
    const store = server.url;
    const { at, weights } = await runOf("many", { schedule: "sync", trainers: 1, faults, store });
    expect(weights).toBe(one);
    expect(weights).not.toBe(weightsHash(join(dir, "one", "checkpoints", "step-000004")));
    const groups = readEvents(join(at, "events.jsonl")).flatMap((e) => (e.e === "step" ? e.k : []));
    expect(groups).toHaveLength(5 * 4);
    expect(new Set(groups).size).toBe(groups.length);
  });

  test("an actor that is stopped for a while holds nobody up for ever, and the run replays on one process", async () => {
    const faults = "actor.0@step=2:sigstop=6s";
    const { at } = await runOf("stopped", { schedule: "async", trainers: 0, faults, store: server.url });
    expect(await replayRun(at, { verifiers })).toMatchObject({ steps: 5, weightsCompared: true });
  });
});

describe("nothing is left behind where processes cannot be opened", () => {
  // of these tests alone: others make such folders at the same time
  const own = join(tmpdir(), `hone-left-${process.pid}`);
  const folders = () => readdirSync(own);
  beforeAll(() => {
    mkdirSync(own);
    vi.stubEnv("TMPDIR", own);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(own, { recursive: true });
  });

  test("more trainers than this version has are refused", async () => {
    const open = openProcesses({ actors: 2, trainers: 2, core: await nativeCore(), store: "memory:" });
    await expect(open).rejects.toMatchObject({
      code: "HONE_ERR_UNSUPPORTED",
      hint: expect.stringContaining("trainers: 1"),
    });
    expect(folders()).toEqual([]);
  });

  test("an address of no store", async () => {
    const open = openProcesses({ actors: 1, trainers: 0, core: await nativeCore(), store: "nats://here" });
    await expect(open).rejects.toMatchObject({ message: expect.stringContaining("nats://here") });
    expect(folders()).toEqual([]);
  });
});
