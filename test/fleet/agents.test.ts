import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAgents } from "../../lib/fleet/agents.ts";
import { weightsFolder } from "../../lib/fleet/membership.ts";
import { REGISTERS } from "../../lib/fleet/names.ts";
import { Rendezvous, sessionRun } from "../../lib/fleet/rendezvous.ts";
import { nativeCore } from "../../lib/orchestration/index.ts";
import { openStore } from "../../lib/streams/index.ts";
import { modelConfig } from "../native/small-model.ts";
import { noRedis, RedisServer } from "../streams/redis/redis-server.ts";
import { ENGINE } from "./small-engine.ts";

let server: RedisServer;
const dir = mkdtempSync(join(tmpdir(), "hone-agents-"));
beforeAll(async () => {
  if (noRedis === undefined) server = await RedisServer.start();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true });
});
const optionsOf = async (runId: string) => ({
  actors: 2,
  trainers: 0,
  core: await nativeCore(),
  store: server.url,
  runId,
  folder: join(dir, runId),
});

test("a store of one machine is refused", async () => {
  const options = {
    actors: 1,
    trainers: 0,
    core: await nativeCore(),
    store: "unix:x",
    runId: "x",
    folder: dir,
  };
  await expect(openAgents(options)).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

describe.skipIf(noRedis !== undefined)("at a server", () => {
  test("tells actors where weights are, and leaves nothing of them behind", async () => {
    const options = await optionsOf("folder");
    const agents = await openAgents(options);
    await using store = await openStore(server.url, { run: sessionRun("folder", 1), mustExist: true });
    expect(await weightsFolder(store)).toBe(options.folder);
    expect(agents.core.processes().store).toEqual({ address: server.url, run: "folder.1" });
    mkdirSync(options.folder);
    await agents[Symbol.asyncDispose]();
    expect(existsSync(options.folder)).toBe(false);
    await using agent = await Rendezvous.open(server.url, "folder");
    expect(await agent.next(0, 50, new AbortController().signal)).toBeUndefined();
  });

  test("ranks that agents have started are processes of the run, those of an earlier epoch are not", async () => {
    await using agents = await openAgents({ ...(await optionsOf("ranks")), trainers: 2 });
    await using store = await openStore(server.url, { run: sessionRun("ranks", 1), mustExist: true });
    const say = async (rank: number, epoch: number) => {
      const member = `trainer.${rank}#${epoch}`;
      await store.kv.setLease(REGISTERS.beat(`trainer.${rank}`), member, 60_000);
      const status = { member, pid: 70 + rank, host: "there", engines: {} };
      await store.kv.set(REGISTERS.status(`trainer.${rank}`), JSON.stringify(status));
    };
    await say(1, 3);
    await say(0, 2);
    await store.kv.set(REGISTERS.epoch, "3");
    const rows = () => agents.core.processes().list;
    while (rows().length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(rows()).toEqual([{ name: "trainer.1", pid: 71, state: "alive", restarts: 2, doing: "" }]);
  });

  test("a node that gives up ends the run with its reason", async () => {
    await using agents = await openAgents(await optionsOf("gives-up"));
    await using node = await Rendezvous.open(server.url, "gives-up");
    const failed = new Promise<Error>((resolve) => {
      agents.core.engine(modelConfig, ENGINE, { onMessage: () => {}, onError: resolve });
    });
    await node.fail(1, "node 1: no GPU is left");
    expect(await failed).toMatchObject({ code: "HONE_ERR_STATE", message: "node 1: no GPU is left" });
  });
});
