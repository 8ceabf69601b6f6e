import { expect, test } from "vitest";
import { CallLog } from "../../lib/fleet/call-log.ts";
import { STREAMS } from "../../lib/fleet/names.ts";
import { openStore } from "../../lib/streams/index.ts";
import { until } from "./small-engine.ts";

test("calls lie in the log of their epoch, in their order, until they are forgotten", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const failures: Error[] = [];
  const log = new CallLog(store, (error) => failures.push(error));
  const left = async (epoch: number) => (await store.depth(STREAMS.commands(epoch))).items;
  expect(log.epoch).toBe(0);
  log.begin(3);
  for (let number = 0; number < 5; number++) log.say(number, Uint8Array.of(number));
  await until(async () => (await left(3)) === 5, "all calls");
  const read = await store.read(STREAMS.commands(3), 0, { max: 9, waitMs: 0 });
  expect(read.map(({ payload }) => payload[0])).toEqual([0, 1, 2, 3, 4]);
  await log.forget(3);
  expect(await left(3)).toBe(2);
  await log.forget(77);
  log.begin(4);
  log.say(5, Uint8Array.of(5));
  await until(async () => (await left(4)) === 1, "a call of the next epoch");
  expect(await left(3)).toBe(0);
  expect(failures).toEqual([]);
});
