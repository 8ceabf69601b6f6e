import { expect, test } from "vitest";
import { REGISTERS } from "../../lib/fleet/names.ts";
import { RankHeartbeat, type RankStatus } from "../../lib/fleet/rank-heartbeat.ts";
import { openStore } from "../../lib/streams/index.ts";
import { until } from "./small-engine.ts";

test("a rank says where it is, until others are formed", async () => {
  await using store = await openStore("memory:", { run: "test" });
  await store.kv.set(REGISTERS.epoch, "3");
  const lost: unknown[] = [];
  const onLost = (error: unknown) => lost.push(error);
  const heartbeat = new RankHeartbeat({ store, rank: 1, epoch: 3, host: "here", beatMs: 5, onLost });
  const word = async () =>
    JSON.parse((await store.kv.get(REGISTERS.heartbeat(1))) ?? "{}") as Partial<RankStatus>;
  heartbeat.begin();
  await until(async () => (await word()).done === 0, "the first word");
  expect(await word()).toMatchObject({ rank: 1, epoch: 3, host: "here", pid: process.pid, busy: false });
  heartbeat.entered();
  await until(async () => (await word()).busy === true, "a call");
  heartbeat.left();
  await until(async () => (await word()).done === 1, "its end");
  expect((await word()).cpuSeconds).toBeGreaterThan(0);
  expect(lost).toEqual([]);
  await store.kv.set(REGISTERS.epoch, "4");
  await until(() => lost.length > 0, "the end of its epoch");
  expect(lost[0]).toMatchObject({ code: "HONE_ERR_STATE" });
  const last = await store.kv.get(REGISTERS.heartbeat(1));
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(await store.kv.get(REGISTERS.heartbeat(1))).toBe(last);
  heartbeat.close();
});
