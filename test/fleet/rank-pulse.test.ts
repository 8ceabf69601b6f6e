import { expect, test } from "vitest";
import { REGISTERS } from "../../lib/fleet/names.ts";
import { RankPulse, type RankWord } from "../../lib/fleet/rank-pulse.ts";
import { openStore } from "../../lib/streams/index.ts";
import { until } from "./small-engine.ts";

test("a rank says where it is, until others are formed", async () => {
  await using store = await openStore("memory:", { run: "test" });
  await store.kv.set(REGISTERS.formation, "3");
  const lost: unknown[] = [];
  const pulse = new RankPulse({ store, rank: 1, epoch: 3, beatMs: 5, onLost: (error) => lost.push(error) });
  const word = async () => JSON.parse((await store.kv.get(REGISTERS.pulse(1))) ?? "{}") as Partial<RankWord>;
  pulse.begin();
  await until(async () => (await word()).done === 0, "the first word");
  expect(await word()).toMatchObject({ rank: 1, epoch: 3, pid: process.pid, busy: false });
  pulse.entered();
  await until(async () => (await word()).busy === true, "a call");
  pulse.left();
  await until(async () => (await word()).done === 1, "its end");
  expect((await word()).cpuSeconds).toBeGreaterThan(0);
  expect(lost).toEqual([]);
  await store.kv.set(REGISTERS.formation, "4");
  await until(() => lost.length > 0, "the end of its epoch");
  expect(lost[0]).toMatchObject({ code: "HONE_ERR_STATE" });
  const last = await store.kv.get(REGISTERS.pulse(1));
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(await store.kv.get(REGISTERS.pulse(1))).toBe(last);
  pulse.close();
});
