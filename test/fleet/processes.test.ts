import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openProcesses } from "../../lib/fleet/index.ts";
import { readPipelineStatus } from "../../lib/metrics/index.ts";
import { info } from "../../lib/native/index.ts";
import { createRun, nativeCore, replayRun } from "../../lib/orchestration/index.ts";
import { readEvents } from "../../lib/orchestration/records/event-log.ts";
import { weightsHash } from "../../lib/orchestration/recovery/index.ts";
import { FaultInjector, readFaults } from "../e2e/process-faults.ts";
import { longest } from "../long.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { patient } from "../patience.ts";
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

/** A process that only waits for a processor must not count as hanging, because the tests count restarts. */
const settings = { leaseMs: 3000, beatMs: 100, aliveMs: patient(3000) };
/** Two ranks end three times: four sessions, each of which starts two processes on two busy cores. */
const SITTINGS = 4;
const noGloo = info().gloo.version === null;
/** Every step changes the weights, even if random weights answer everything wrong. */
const recipe = (schedule: "sync" | "async", sharding?: { readonly stage?: "parameters" }) =>
  smallRecipe(
    { steps: 5, schedule, maxLag: 1, packedTokens: 64 },
    {
      ...(sharding && { hardware: { sharding } }),
      advantages: { divideBy: "none", filter: "none" },
      objective: { entropyCoef: 0.1, klCoef: sharding ? 0.1 : 0 }, // ranks score with the reference policy too
      optimizer: { lr: 1e-3, warmupSteps: 0 },
    },
  );

async function runOf(
  name: string,
  options: {
    schedule: "sync" | "async";
    trainers: number;
    stage?: "parameters";
    faults?: string;
    store?: string;
  },
) {
  const core = await nativeCore();
  const { schedule, trainers, stage, faults = "", store } = options;
  const sharding = trainers > 1 ? { ...(stage && { stage }) } : undefined;
  const address = store === undefined ? {} : { store };
  await using processes = await openProcesses({ actors: 2, trainers, core, ...address, settings });
  const injector = new FaultInjector(readFaults(faults), processes);
  const at = join(dir, name);
  await using run = await createRun(recipe(schedule, sharding), {
    verifiers,
    dir: at,
    core: processes.core,
  });
  expect(await run.finished).toMatchObject({ reason: "done", steps: 5 });
  expect(injector.unmet).toEqual([]);
  return { at, weights: weightsHash(join(at, "checkpoints", "step-000005")) };
}

/** The hash of the weights of a run in one process, trained once. `ranks`: its trainer sums in the ranks' order. */
let alone: Promise<string> | undefined;
async function weightsOfOne(name = "one", ranks = false): Promise<string> {
  await using run = await createRun(recipe("sync", ranks ? {} : undefined), {
    verifiers,
    dir: join(dir, name),
  });
  await run.finished;
  return weightsHash(join(dir, name, "checkpoints", "step-000005"));
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

test.each([
  {
    asked: { actors: 2, trainers: 1, verifiers: 1 },
    gpus: ["actor.0=1", "actor.1=2", "trainer.0=0", "verifier.0="],
  },
  { asked: { actors: 1, trainers: 0 }, gpus: ["actor.0=1"] }, // the run's own process trains, without a rank
])("each process that trains or samples sees a GPU of its own: $gpus", async ({ asked, gpus }) => {
  await using processes = await openProcesses({ ...asked, gpus: true, core: await nativeCore(), settings });
  const seen = processes.core.board.places().map(({ role, rank, pid }) => {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    const own = environment.find((one) => one.startsWith("CUDA_VISIBLE_DEVICES="));
    return `${role}.${rank}=${own?.split("=")[1]}`;
  });
  expect(seen.sort()).toEqual(gpus);
});

test.runIf(longest)(
  "an actor that is stopped before its first heartbeat is ended, and another has its place",
  async () => {
    const begins = { ...settings, beginMs: patient(5000) };
    const core = await nativeCore();
    await using processes = await openProcesses({ actors: 2, trainers: 0, core, settings: begins });
    new FaultInjector(readFaults("actor.1@t=0s:sigstop"), processes);
    const second = () => processes.core.membership.alive.find(({ member }) => member === "actor.1#2");
    await vi.waitFor(() => expect(second()).toBeDefined(), { timeout: patient(30_000), interval: 100 });
    expect(processes.core.board.look().find(({ name }) => name === "actor.1")).toMatchObject({
      restarts: 1,
      ended: { how: "by SIGKILL" },
    });
  },
  patient(60_000),
);

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
    const rows = Object.fromEntries(readPipelineStatus(at)!.processes!.map((row) => [row.name, row]));
    expect(rows["run"]).toMatchObject({ pid: process.pid, version: 5 });
    expect(rows["trainer.0"]).toMatchObject({ restarts: 1, version: 5, ended: { how: "by SIGKILL" } });
    expect(rows["actor.0"]!.restarts + rows["actor.1"]!.restarts).toBe(2);
    expect(readFileSync(join(at, "events.jsonl"), "utf8")).toContain("trainer.0 ended by SIGKILL");
  });

  test.runIf(longest)(
    "an actor that is stopped for a while holds nobody up for ever, and the run replays on one process",
    async () => {
      const faults = "actor.0@step=2:sigstop=6s";
      const { at } = await runOf("stopped", { schedule: "async", trainers: 0, faults, store: server.url });
      expect(await replayRun(at, { verifiers })).toMatchObject({ steps: 5, weightsCompared: true });
    },
  );
});

test.skipIf(noRedis !== undefined)(
  "a store that is emptied under way ends the run by name, and nothing begins anew",
  async () => {
    await using emptied = await RedisServer.start();
    const core = await nativeCore();
    await using processes = await openProcesses({
      actors: 1,
      trainers: 0,
      core,
      store: emptied.url,
      settings,
    });
    const hooks = {
      afterStep: async ({ step }: { readonly step: number }) => {
        if (step === 2)
          expect(
            execFileSync("redis-cli", ["-p", String(emptied.port), "flushall"], { encoding: "utf8" }),
          ).toMatch(/OK/);
        return undefined;
      },
    };
    const at = join(dir, "emptied");
    await using run = await createRun(recipe("sync"), {
      verifiers,
      dir: at,
      core: processes.core,
      hooks,
    });
    await expect(run.finished).rejects.toMatchObject({ code: "HONE_ERR_STREAM", why: "lost" });
    expect(readPipelineStatus(at)).toMatchObject({ end: "failed" });
  },
);

test.skipIf(noRedis !== undefined)("a server has nothing of a run that is over", async () => {
  await using server = await RedisServer.start();
  const keys = () =>
    execFileSync("redis-cli", ["-p", String(server.port), "keys", "*"], { encoding: "utf8" });
  {
    await using _ = await openProcesses({
      actors: 1,
      trainers: 0,
      core: await nativeCore(),
      store: server.url,
      settings,
    });
    expect(keys()).toMatch(/hone:\{run-/);
  }
  expect(keys().trim()).toBe("");
});

describe.skipIf(noGloo)("several ranks of the trainer", () => {
  test.runIf(longest)(
    "that are killed and stopped: the weights are one process's",
    async () => {
      const faults = "trainer.1@step=1:sigkill,trainer.0@step=2:sigkill,trainer.1@step=3:sigstop";
      const { at, weights } = await runOf("ranks", { schedule: "sync", trainers: 2, faults });
      expect(weights).toBe(await weightsOfOne("shared", true));
      const files = readdirSync(join(at, "checkpoints", "step-000005"));
      expect(files.filter((name) => name.startsWith("optimizer"))).toHaveLength(2);
    },
    patient(SITTINGS * 30_000),
  );

  test.runIf(longest)(
    "an asynchronous run, of ranks that divide all there is, replays on one process",
    async () => {
      const { at } = await runOf("replayed", { schedule: "async", trainers: 2, stage: "parameters" });
      expect(await replayRun(at, { verifiers })).toMatchObject({ steps: 5, weightsCompared: true });
    },
  );
});

describe("nothing is left behind where processes cannot be opened", () => {
  // only these tests use the folder: other tests make such folders at the same time
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

  test("several trainers without Gloo are refused, with what to install", async () => {
    const core = await nativeCore();
    const gloo = { version: null, reason: "apt-get install libgloo-dev, then npx hone build" };
    const without = { ...core, info: () => ({ ...core.info(), gloo }) };
    const open = openProcesses({ actors: 2, trainers: 2, core: without, store: "memory:" });
    await expect(open).rejects.toMatchObject({
      code: "HONE_ERR_UNSUPPORTED",
      message: expect.stringContaining("libgloo-dev"),
      hint: expect.stringContaining("{ actors: 3, trainers: 1 }"),
    });
    expect(folders()).toEqual([]);
  });

  test("an address of no store", async () => {
    const open = openProcesses({ actors: 1, trainers: 0, core: await nativeCore(), store: "nats://here" });
    await expect(open).rejects.toMatchObject({ message: expect.stringContaining("nats://here") });
    expect(folders()).toEqual([]);
  });
});
