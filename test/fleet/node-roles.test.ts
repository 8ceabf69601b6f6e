import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAgents } from "../../lib/fleet/agents.ts";
import { REGISTERS } from "../../lib/fleet/names.ts";
import { NodeRoles } from "../../lib/fleet/node-roles.ts";
import { sittingRun } from "../../lib/fleet/rendezvous.ts";
import { createRun, nativeCore } from "../../lib/orchestration/index.ts";
import { weightsHash } from "../../lib/orchestration/recovery/index.ts";
import { openStore } from "../../lib/streams/index.ts";
import { long } from "../long.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { noRedis, RedisServer } from "../streams/redis/redis-server.ts";

let server: RedisServer;
const dir = mkdtempSync(join(tmpdir(), "hone-node-roles-"));
beforeAll(async () => {
  if (noRedis === undefined) server = await RedisServer.start();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true });
});

const core = await nativeCore();
const trainers = core.info().gloo.version === null ? 1 : 2;
const recipe = smallRecipe(
  { steps: 4, schedule: "sync" },
  {
    advantages: { divideBy: "none", filter: "none" },
    objective: { entropyCoef: 0.1 },
    optimizer: { lr: 1e-3, warmupSteps: 0 },
    ...(trainers > 1 && { hardware: { sharding: {} } }),
  },
);
const weightsOf = (run: string) => weightsHash(join(dir, run, "checkpoints", "step-000004"));
const settings = { leaseMs: 3000, beatMs: 100 };

/** Ends a process by its variables. */
function kill(role: string, rank: number): void {
  const found = readdirSync("/proc").find((pid) => {
    try {
      const all = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      return [`HONE_ROLE=${role}`, `RANK=${rank}`, `HONE_STORE=${server.url}`].every((each) =>
        all.includes(each),
      );
    } catch {
      return false; // no process, or one that has ended
    }
  });
  process.kill(Number(found), "SIGKILL");
}

describe.skipIf(noRedis !== undefined)("two nodes", () => {
  test.runIf(long)(
    "an actor of one, a trainer and a verifier host of the other are killed: the weights are one process's, and nobody counts twice",
    async () => {
      await using one = await createRun(recipe, { verifiers, dir: join(dir, "one") });
      await one.finished;
      const folder = join(dir, "in-flight");
      await using coordinator = await openAgents({
        trainers,
        verifiers: 2,
        core,
        store: server.url,
        runId: "pair",
        folder,
        settings,
      });
      const run = sittingRun("pair", 1);
      const failures: unknown[] = [];
      const node = (number: number) =>
        NodeRoles.open({
          store: server.url,
          run,
          places: [
            { role: "actor", rank: number, worldSize: 2 },
            { role: "verifier", rank: number, worldSize: 2 },
            ...(number < trainers ? [{ role: "trainer" as const, rank: number, worldSize: trainers }] : []),
          ],
          logs: join(dir, `node-${number}`),
          metrics: { place: { host: "127.0.0.1", port: 0 }, name: `agent.${number}`, say: () => {} },
          threads: 1,
          environmentOf: () => ({ HONE_AGENT: "1", HONE_HOST: `127.0.0.${number + 1}` }),
          onFailure: (error) => failures.push(error),
        });
      await using _first = await node(0);
      await using _second = await node(1);
      const at = join(dir, "pair");
      await using training = await createRun(recipe, { dir: at, core: coordinator.core });
      let done = 0;
      for await (const _step of training) {
        done += 1;
        if (done === 1) kill("actor", 0);
        if (done === 1) kill("verifier", 1);
        if (done === 2) kill("trainer", trainers - 1);
      }
      const address = coordinator.core.board.metrics.get("agent.0");
      const told = await (await fetch(address!)).text();
      expect(told).toMatch(
        /^hone_process_restarts_total\{run=".*",process="agent\.0",place="actor\.0"\} 1$/m,
      );
      expect(told).toMatch(/^hone_process_version\{.*\} [1-4]$/m);
      expect(await training.finished).toMatchObject({ reason: "done", steps: 4 });
      expect(weightsOf("pair")).toBe(weightsOf("one"));
      expect(failures).toEqual([]);
      await using store = await openStore(server.url, { run, mustExist: true });
      expect(await store.kv.get(REGISTERS.incarnation("actor.0"))).toBe("2");
      expect(await store.kv.get(REGISTERS.incarnation("verifier.1"))).toBe("2");
      expect(await store.kv.get(REGISTERS.formation)).toBe("2");
      // each node's actor had its weights from the trainer there: no connection had more than these two
      const links = [...(await store.kv.list("fleet/transfer/")).keys()].map((key) =>
        key.split("/").slice(2),
      );
      if (trainers > 1) expect(new Set(links.map(([group]) => group)).size).toBeGreaterThan(1);
      if (trainers > 1) expect(links.filter(([, link]) => !/^[01]-[01]$/.test(link!))).toEqual([]);
    },
  );

  test("a run that nobody coordinates is refused", async () => {
    const open = NodeRoles.open({
      store: server.url,
      run: "none",
      places: [],
      logs: dir,
      threads: 1,
      onFailure: () => {},
    });
    await expect(open).rejects.toMatchObject({ code: "HONE_ERR_STREAM" });
  });
});
