import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAgents } from "../../lib/fleet/agents.ts";
import { REGISTERS } from "../../lib/fleet/names.ts";
import { NodeRoles } from "../../lib/fleet/node-roles.ts";
import { sessionRun } from "../../lib/fleet/rendezvous.ts";
import { createRun, nativeCore } from "../../lib/orchestration/index.ts";
import { weightsHash } from "../../lib/orchestration/recovery/index.ts";
import { openStore } from "../../lib/streams/index.ts";
import { longest } from "../long.ts";
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

const reached = async (what: () => Promise<boolean>) => {
  while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 50));
};

describe.skipIf(noRedis !== undefined)("two nodes", () => {
  test.runIf(longest)(
    "signals kill an actor of one, a trainer and a verifier host of the other, each once: the weights are one process's",
    async () => {
      await using one = await createRun(recipe, { verifiers, dir: join(dir, "one") });
      await one.finished;
      const folder = join(dir, "in-flight");
      const failures: unknown[] = [];
      const run = sessionRun("pair", 1);
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
      {
        await using coordinator = await openAgents({
          actors: 2,
          trainers,
          verifiers: 2,
          core,
          store: server.url,
          runId: "pair",
          folder,
          settings,
        });
        await using store = await openStore(server.url, { run, mustExist: true });
        await using _first = await node(0);
        await using _second = await node(1);
        const killed = async (name: string, register: string) => {
          const { board } = coordinator.core;
          const pid = () => board.look().find((row) => row.name === name)?.pid;
          await reached(async () => pid() !== undefined);
          process.kill(pid()!, "SIGKILL");
          await reached(async () => (await store.kv.get(register)) === "2");
        };
        const hooks = {
          beforeTraining: () => killed("verifier.1", REGISTERS.generation("verifier.1")),
          afterStep: async ({ step }: { readonly step: number }) => {
            if (step === 1) await killed("actor.0", REGISTERS.generation("actor.0"));
            if (step === 2) await killed(`trainer.${trainers - 1}`, REGISTERS.epoch);
            return undefined;
          },
        };
        const at = join(dir, "pair");
        await using training = await createRun(recipe, { dir: at, core: coordinator.core, hooks });
        expect(await training.finished).toMatchObject({ reason: "done", steps: 4 });
        const address = coordinator.core.board.metrics.get("agent.0");
        const told = await (await fetch(address!)).text();
        expect(told).toMatch(
          /^hone_process_restarts_total\{run=".*",process="agent\.0",place="actor\.0"\} 1$/m,
        );
        expect(told).toMatch(/^hone_process_version\{.*\} [1-4]$/m);
        const places = ["actor.0", "actor.1", "verifier.0", "verifier.1"] as const;
        const came = await Promise.all(places.map((place) => store.kv.get(REGISTERS.generation(place))));
        expect(came).toEqual(["2", "1", "1", "2"]);
        expect(await store.kv.get(REGISTERS.epoch)).toBe("2");
        // each node's actor received weights from that node's trainer: no connection had more than these two members
        const links = [...(await store.kv.list("fleet/transfer/")).keys()].map((key) =>
          key.split("/").slice(2),
        );
        if (trainers > 1) expect(new Set(links.map(([group]) => group)).size).toBeGreaterThan(1);
        if (trainers > 1) expect(links.filter(([, link]) => !/^[01]-[01]$/.test(link!))).toEqual([]);
      }
      expect(weightsOf("pair")).toBe(weightsOf("one"));
      expect(failures).toEqual([]);
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
