import { afterEach, expect, test, vi } from "vitest";
import { Heartbeat, joiningRanks, MemberHeartbeat, nextGeneration } from "../../lib/fleet/heartbeat.ts";
import { Membership, readMembers } from "../../lib/fleet/membership.ts";
import { REGISTERS, SETTINGS } from "../../lib/fleet/names.ts";
import { openStore } from "../../lib/streams/index.ts";
import { until } from "./small-engine.ts";

const settings = { ...SETTINGS, beatMs: 10, aliveMs: 5_000 };
afterEach(() => void vi.restoreAllMocks());

test("what a process shows is what others see, as long as it shows it", async () => {
  await using store = await openStore("memory:", { run: "test" });
  let judged = 3;
  const word = () => ({ engines: {}, judging: { jobs: 1, judged } });
  const life = new MemberHeartbeat(
    "verifier",
    { store, index: 4, generation: 2, host: "far" },
    settings,
    word,
  );
  const failures: unknown[] = [];
  await life.begin((error) => failures.push(error));
  const membership = new Membership(store, settings);
  const seen = async () => {
    await membership.look();
    return membership.hosts[0];
  };
  expect(await seen()).toMatchObject({ member: "verifier.4#2", index: 4, pid: process.pid, host: "far" });
  expect(membership.alive, "it is no actor").toEqual([]);
  judged = 8;
  await until(async () => (await seen())?.judging?.judged === 8, "a later word");
  life.stop();
  expect(failures).toEqual([]);
});

test("who finds its place taken, or was silent for too long, does nothing more", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const life = new MemberHeartbeat("actor", { store, index: 0, generation: 1 }, settings, () => ({
    engines: {},
  }));
  const failures: unknown[] = [];
  await life.begin((error) => failures.push(error));
  life.expectAlive();
  await store.kv.delete(REGISTERS.beat("actor.0"));
  await store.kv.setLease(REGISTERS.beat("actor.0"), "actor.0#2", 60_000);
  await until(() => failures.length > 0, "the end");
  expect(failures[0]).toMatchObject({
    code: "HONE_ERR_STATE",
    message: expect.stringMatching(/^actor.0#1: /),
  });
  life.stop();
  const now = performance.now();
  vi.spyOn(performance, "now").mockReturnValue(now + settings.aliveMs + 60_000);
  expect(() => life.expectAlive()).toThrow("was replaced");
});

test("a process that cannot reach the store finds out after its lease, while the first renewal still waits", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const brief = { ...settings, aliveMs: 200 };
  const life = new MemberHeartbeat("actor", { store, index: 0, generation: 1 }, brief, () => ({
    engines: {},
  }));
  const failures: unknown[] = [];
  await life.begin((error) => failures.push(error));
  vi.spyOn(store.kv, "setLease").mockReturnValue(new Promise(() => {})); // like a cut cable: no answer and no error
  await until(() => failures.length > 0, "the end");
  expect(failures[0]).toMatchObject({
    code: "HONE_ERR_STATE",
    message: expect.stringContaining("sent no heartbeat for too long"),
  });
  life.stop();
});

test("a rank publishes how far it is, until others are formed", async () => {
  await using store = await openStore("memory:", { run: "test" });
  await store.kv.set(REGISTERS.epoch, "3");
  const training = { done: 0, busy: false, cpuSeconds: 1 };
  const heartbeat = new MemberHeartbeat("trainer", { store, index: 1, generation: 3 }, settings, () => {
    return { engines: {}, training };
  });
  const lost: unknown[] = [];
  await heartbeat.begin((error) => lost.push(error));
  const seen = async () => (await readMembers(store.kv))[0]?.training;
  expect(await seen()).toEqual(training);
  training.busy = true;
  await until(async () => (await seen())?.busy === true, "a call");
  expect(lost).toEqual([]);
  await store.kv.set(REGISTERS.epoch, "4");
  await until(() => lost.length > 0, "the end of its epoch");
  expect(lost[0]).toMatchObject({ code: "HONE_ERR_STATE" });
  expect(await readMembers(store.kv), "ranks of an earlier epoch are no members").toEqual([]);
  await store.kv.delete(REGISTERS.beat("trainer.1"));
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(await store.kv.get(REGISTERS.beat("trainer.1")), "it takes no lease again").toBeUndefined();
  heartbeat.stop();
});

test("ranks that were all stopped for long go on", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const parts = { store, index: 0, generation: 1 };
  await store.kv.set(REGISTERS.epoch, "1");
  const heartbeat = new MemberHeartbeat("trainer", parts, settings, () => ({ engines: {} }));
  const failures: unknown[] = [];
  await heartbeat.begin((error) => failures.push(error));
  const now = performance.now();
  vi.spyOn(performance, "now").mockReturnValue(now + settings.aliveMs + 60_000);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(failures).toEqual([]);
  heartbeat.stop();
});

test("a lease is waited for until it expires, renewed after a failure, and given back", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const fast = { beatMs: 5, aliveMs: 60 };
  const of = (holder: string) => new Heartbeat(store.kv, { key: "lease", holder }, fast);
  const [first, second] = [of("a"), of("b")];
  await first.begin(() => {});
  expect(await second.acquire(), "the first one lives").toBe(false);
  first.stop();
  expect(await second.acquire(), "its lease has expired").toBe(true);
  const failures: unknown[] = [];
  await second.begin((error) => failures.push(error));
  await store.kv.delete("lease");
  await store.kv.setLease("lease", "c", 30);
  await until(() => failures.length > 0, "another holder");
  await until(async () => (await store.kv.get("lease")) === "b", "the lease again");
  await second.close();
  expect(await store.kv.get("lease")).toBeUndefined();
});

test("each process of a place has the next number, and the one before is alive no more", async () => {
  await using store = await openStore("memory:", { run: "test" });
  expect(await nextGeneration(store, "verifier.0")).toBe(1);
  await store.kv.setLease(REGISTERS.beat("verifier.0"), "verifier.0#1", 60_000);
  await store.kv.setLease(REGISTERS.beat("actor.0"), "actor.0#1", 60_000);
  expect(await nextGeneration(store, "verifier.0")).toBe(2);
  expect(await store.kv.get(REGISTERS.beat("verifier.0"))).toBeUndefined();
  expect(await store.kv.get(REGISTERS.beat("actor.0")), "another place").toBe("actor.0#1");
  expect(await nextGeneration(store, "actor.0")).toBe(1);
});

test("two who fill one place do not both succeed", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const both = [1, 2].map(() => nextGeneration(store, "actor.1"));
  const ends = await Promise.allSettled(both);
  expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const refused = ends.find(({ status }) => status === "rejected") as PromiseRejectedResult;
  expect(refused.reason).toMatchObject({ code: "HONE_ERR_STATE", hint: expect.stringContaining("agents") });
});

test("who joins has a rank after those of its role that the run began with, each once", async () => {
  await using store = await openStore("memory:", { run: "test" });
  const both = await Promise.all([2, 3].map((count) => joiningRanks(store.kv, "actor", 4, count)));
  expect(both.map((ranks) => ranks.length)).toEqual([2, 3]);
  expect(both.flat().sort()).toEqual([4, 5, 6, 7, 8]);
  expect(await joiningRanks(store.kv, "verifier", 1, 2)).toEqual([1, 2]);
});

test("what a process held is others' at once, and counts as delivered unless it was killed", async () => {
  await using store = await openStore("memory:", { run: "test" });
  await store.append("jobs", "1", Uint8Array.of(1));
  const take = async (epoch: number) => {
    store.fence(REGISTERS.generation("verifier.0"), String(epoch));
    const leases = await store.lease("jobs", "g", { max: 1, leaseMs: 3_600_000, waitMs: 0 });
    store.fence("own", "1"); // restores the supervisor's fence
    return leases;
  };
  await store.kv.set("own", "1");
  expect(await nextGeneration(store, "verifier.0")).toBe(1);
  expect(await take(1)).toMatchObject([{ deliveries: 1 }]);
  expect(await nextGeneration(store, "actor.0", "killed"), "another place").toBe(1);
  expect(await take(1)).toEqual([]);
  expect(await nextGeneration(store, "verifier.0", "killed")).toBe(2);
  expect(await take(2)).toMatchObject([{ deliveries: 1 }]);
  expect(await nextGeneration(store, "verifier.0", "failed")).toBe(3);
  expect(await take(3)).toMatchObject([{ deliveries: 2 }]);
  expect(await nextGeneration(store, "verifier.0"), "of an agent that was started again").toBe(4);
  expect(await take(4)).toMatchObject([{ deliveries: 3 }]);
});
