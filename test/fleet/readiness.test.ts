import { expect, test } from "vitest";
import { REGISTERS, SETTINGS } from "../../lib/fleet/names.ts";
import { awaitReadiness, readyProcesses } from "../../lib/fleet/readiness.ts";
import { Roster } from "../../lib/fleet/roster.ts";
import { openStore, type StreamStore } from "../../lib/streams/index.ts";

const heartbeat = (store: StreamStore, rank: number, epoch: number) =>
  store.kv.set(REGISTERS.heartbeat(rank), JSON.stringify({ rank, epoch, pid: 100 + rank, host: "a" }));
async function beat(store: StreamStore, place: "actor.3" | "verifier.0", generation: number) {
  const member = `${place}#${generation}`;
  await store.kv.set(REGISTERS.beat(place), member);
  await store.kv.set(REGISTERS.word(place), JSON.stringify({ member, pid: 7, host: "b", engines: {} }));
}

test("ranks of the epoch of now, then actors and hosts, each with its epoch, host and process", async () => {
  await using store = await openStore("memory:", { run: "readyProcesses" });
  const roster = new Roster(store, SETTINGS);
  await store.kv.set(REGISTERS.epoch, "2");
  await heartbeat(store, 1, 2);
  await heartbeat(store, 0, 1); // of an earlier one, which has ended
  await beat(store, "verifier.0", 1);
  await beat(store, "actor.3", 4);
  expect(await readyProcesses(store, roster)).toEqual([
    { role: "trainer", rank: 1, epoch: 2, host: "a", pid: 101 },
    { role: "actor", rank: 3, epoch: 4, host: "b", pid: 7 },
    { role: "verifier", rank: 0, epoch: 1, host: "b", pid: 7 },
  ]);
});

test("waits for who is missing, and names them when they do not come", async () => {
  const all = ["trainer.0", "actor.0", "actor.1"];
  const here = { epoch: 1, host: "a", pid: 1 };
  let looks = 0;
  const look = async () => {
    looks += 1;
    const actors = [0, 1].slice(0, looks).map((rank) => ({ role: "actor" as const, rank, ...here }));
    return [{ role: "trainer" as const, rank: 0, ...here }, ...actors];
  };
  expect(await awaitReadiness(look, all, 60_000)).toHaveLength(3);
  expect(looks).toBe(2);
  await expect(awaitReadiness(look, [...all, "actor.2", "trainer.1"], 0)).rejects.toMatchObject({
    code: "HONE_ERR_COLLECTIVE",
    message: "actor.2, trainer.1 of 5 processes were not there within 0 s",
  });
});
