import { afterEach, expect, test } from "vitest";
import { ActorWeights } from "../../lib/fleet/actor.ts";
import { ActorEngine } from "../../lib/fleet/actor-engine.ts";
import { encodeRequest, type TransferPlan } from "../../lib/fleet/messages.ts";
import { ACTORS, SETTINGS, STREAMS } from "../../lib/fleet/names.ts";
import { decodeOutcome } from "../../lib/fleet/outcomes.ts";
import type { EngineMessage } from "../../lib/native/face.ts";
import { deferred } from "../../lib/shared/async/deferred.ts";
import { deadLettersOf, openStore, type StreamStore } from "../../lib/streams/index.ts";
import { type StandInEngine, standInCore } from "../orchestration/stand-in-core.ts";
import { ENGINE, request, until } from "./small-engine.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function engineOf(store?: StreamStore, length?: () => number, leaseMs = SETTINGS.leaseMs) {
  const at = store ?? (await openStore("memory:", { run: "test" }));
  if (store === undefined) closing.push(() => at.close());
  const core = standInCore(length ? { length } : {});
  const failures: unknown[] = [];
  const spec = { engine: "e", config: "{}", options: ENGINE };
  const commitOf = (version: number) => async (to: unknown) => (to as StandInEngine).take(version, 5);
  const transport = {
    receive: async ({ version }: TransferPlan) => ({ commit: commitOf(version) }),
    relay: async () => {},
    forget: async () => {},
    close: async () => {},
  };
  const weights = new ActorWeights(transport, spec);
  const engine = new ActorEngine(
    spec,
    {
      store: at,
      core,
      settings: { ...SETTINGS, leaseMs },
      member: "actor.0#1",
      onFailure: (error) => failures.push(error),
      expectAlive: () => {},
    },
    weights,
  );
  const commit = async (update: number, version: number, mine: boolean, sharers = 1) => {
    await weights.commit(update, version, mine ? engine.face : undefined);
    await engine.resume(mine, sharers);
  };
  closing.push(() => engine.close());
  const take = async (version: number, update = version) => {
    await weights.receive(
      { update, engine: "e", version, way: "folder", withinMs: 1000, groups: [] },
      "actor.0#1",
    );
    await commit(update, version, true);
  };
  const ask = (number: number, version: number, count = 2, every = 0) =>
    at.append(
      STREAMS.requests("e"),
      String(number),
      encodeRequest({
        number,
        version,
        request: { ...request(number, count, length ? 1e9 : 20), ...(every && { recordEveryTokens: every }) },
      }),
    );
  const outcomes = async () => {
    const entries = await at.read(STREAMS.outcomes("e"), 0, { max: 100, waitMs: 0 });
    return entries.map(({ payload }) => decodeOutcome(payload));
  };
  return { store: at, engine, core, failures, take, commit, ask, outcomes };
}

test("without weights, or with others than are current, nothing is leased", async () => {
  const { commit, engine, ask, outcomes, take, store } = await engineOf();
  await ask(0, 0);
  await commit(1, 0, false);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await store.depth(STREAMS.requests("e"), { group: ACTORS })).items).toBe(1);
  await take(0, 2);
  await until(async () => (await outcomes()).length === 1, "the outcome");
  expect(engine.stats().version).toBe(0);
});

test("no more is leased than there is room for", async () => {
  const { core, ask, take, store } = await engineOf(undefined, () => 1e9);
  await take(0);
  for (let number = 0; number < 9; number++) await ask(number, 0, 4);
  await until(() => core.engines[0]!.stats().running === ENGINE.maxRunning, "a full engine");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(core.engines[0]!.stats().waiting).toBe(0);
  const another = await store.lease(STREAMS.requests("e"), ACTORS, { max: 9, leaseMs: 1000, waitMs: 0 });
  expect(another).toHaveLength(9 - ENGINE.maxRunning / 4);
});

test("where others lease too a part of the room is asked for at once, and all of it by one alone", async () => {
  const { commit, ask, take, store } = await engineOf(undefined, () => 1e9);
  const asked: number[] = [];
  const lease = store.lease.bind(store);
  store.lease = (stream, group, options) => {
    asked.push(options.max);
    return lease(stream, group, options);
  };
  await take(0);
  await ask(0, 0, 1);
  await until(() => asked.length === 2, "the next call");
  expect(asked).toEqual([1, ENGINE.maxRunning - 1]); // leases one first, because its number of attempts is unknown
  await commit(1, 0, true, 2);
  await ask(1, 0, 1);
  await until(() => asked.length === 3, "a call as one of two");
  expect(asked[2]).toBe(Math.max(1, Math.floor((ENGINE.maxRunning - 2) / 8)));
});

test("a request of a version that is not here waits for it, and goes back where others get it first", async () => {
  const { commit, ask, take, store, outcomes } = await engineOf();
  await take(0);
  await ask(0, 1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await outcomes()).toEqual([]);
  await commit(7, 1, false);
  const [lease] = await store.lease(STREAMS.requests("e"), ACTORS, { max: 1, leaseMs: 1000, waitMs: 1000 });
  expect(lease).toMatchObject({ key: "0" });
});

test("a request that many updates gave back is sampled all the same", async () => {
  const { commit, ask, take, store, outcomes } = await engineOf();
  await ask(0, 9);
  const lease = store.lease.bind(store);
  let leased = 0;
  store.lease = async (...args) => {
    const leases = await lease(...args);
    leased += leases.length;
    return leases;
  };
  for (let version = 0; version < 8; version++) {
    await take(version);
    await until(() => leased > version, "the request");
    await commit(100 + version, version + 1, false);
  }
  await take(9);
  await until(async () => (await outcomes()).length === 1, "the outcome");
  expect((await outcomes())[0]).not.toHaveProperty("poison");
});

test("what is sampled while it closes is handed over before it is closed", async () => {
  let length = 1e9;
  const { engine, core, ask, take, store, outcomes } = await engineOf(undefined, () => length, 60_000);
  const slow = deferred<void>();
  const { lease, forward } = store;
  store.lease = (...args) => lease.apply(store, args).finally(() => engineCloses && slow.promise);
  store.forward = async (...args) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return forward.apply(store, args);
  };
  let engineCloses = false;
  await take(0);
  await ask(0, 0, 1);
  await until(() => core.engines[0]!.stats().running === 1, "a running request");
  engineCloses = true;
  const closed = engine.close();
  length = 1;
  await until(() => core.engines[0]!.stats().running === 0, "the completion");
  slow.resolve();
  await closed;
  expect(await outcomes()).toMatchObject([{ number: 0 }]);
});

test("what somebody else has taken over is dropped, and its late outcome is refused", async () => {
  let slow = 1e9;
  const { engine, core, ask, take, store, outcomes, failures } = await engineOf(undefined, () => slow, 150);
  await take(0);
  await ask(0, 0, ENGINE.maxRunning); // the engine is full, so it leases no more
  await until(() => core.engines[0]!.stats().running === ENGINE.maxRunning, "a running request");
  const renew = store.renew.bind(store);
  store.renew = async () => true; // as if the process had been stopped
  await new Promise((resolve) => setTimeout(resolve, 200));
  const [lease] = await store.lease(STREAMS.requests("e"), ACTORS, { max: 1, leaseMs: 60_000, waitMs: 1000 });
  expect(lease).toMatchObject({ key: "0", deliveries: 2 });
  slow = 1;
  await until(() => core.engines[0]!.stats().running === 0, "the late outcome");
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await outcomes()).toEqual([]);
  expect(failures).toEqual([]);
  store.renew = renew;
  await engine.abort(5);
});

test("a request that ended several actors is given up, one that cannot be read becomes a dead letter", async () => {
  const { ask, take, store, outcomes } = await engineOf();
  await ask(0, 0);
  for (let i = 0; i < 5; i++) {
    const leases = await store.lease(STREAMS.requests("e"), ACTORS, { max: 1, leaseMs: 0, waitMs: 0 });
    expect(leases).toHaveLength(1);
  }
  await store.append(STREAMS.requests("e"), "bad", Uint8Array.of(1, 2, 3));
  await take(0);
  await until(async () => (await outcomes()).length === 1, "the outcome");
  expect((await outcomes())[0]).toMatchObject({ number: 0, poison: true });
  const dead = deadLettersOf(STREAMS.requests("e"));
  await until(async () => (await store.depth(dead)).items === 1, "the dead letter");
});

test("an aborted request is dropped before and after it comes", async () => {
  const { engine, core, ask, take, store } = await engineOf(undefined, () => 1e9);
  await engine.abort(1);
  await take(0);
  for (const number of [0, 1]) await ask(number, 0);
  await until(() => core.engines[0]!.stats().running === 2, "a running request");
  await engine.abort(0);
  await until(() => core.engines[0]!.stats().running === 0, "nothing to run");
  await until(
    async () => (await store.depth(STREAMS.requests("e"), { group: ACTORS })).items === 0,
    "both to be done",
  );
});

const HOUR_MS = 3_600_000;
const byOther = (store: StreamStore) =>
  store.lease(STREAMS.requests("e"), ACTORS, { max: 9, leaseMs: HOUR_MS, waitMs: 0 });

test("what it holds when it is closed goes back at once, and none of it counts as a death", async () => {
  const { engine, core, ask, take, store, failures, outcomes } = await engineOf(
    undefined,
    () => 1e9,
    HOUR_MS,
  );
  await take(0);
  for (const [number, version] of [
    [0, 0],
    [1, 0],
    [2, 7],
  ] as const)
    await ask(number, version); // the last request waits for its version
  await until(() => core.engines[0]!.stats().running === 4, "what can run");
  await until(async () => (await byOther(store)).length === 0, "the last one to be leased");
  await engine.close();
  const back = await byOther(store);
  expect(back.map(({ key, deliveries, isAgain }) => [key, deliveries, isAgain])).toEqual([
    ["0", 1, true],
    ["1", 1, true],
    ["2", 1, true],
  ]);
  expect([await outcomes(), failures]).toEqual([[], []]);
});

test("what is sampled of a request goes back with it, also what was in no note yet", async () => {
  let length = 1e9;
  const first = await engineOf(undefined, () => length, HOUR_MS);
  const { store } = first;
  await first.take(0);
  await first.ask(0, 0, 2, 1e6);
  await until(() => first.engine.stats().decodeTokens > 40, "some tokens of each");
  await first.engine.close();
  expect((await store.depth(STREAMS.notes("e"))).items).toBe(1);
  length = first.engine.stats().decodeTokens / 2 + 3;
  const other = await engineOf(store, () => length, HOUR_MS);
  await other.take(0);
  await until(async () => (await other.outcomes()).length === 1, "the outcome");
  expect(other.engine.stats()).toMatchObject({ decodeTokens: 6 });
  const [outcome] = await other.outcomes();
  expect((outcome as { readonly message: EngineMessage }).message.token).toHaveLength(2 * length);
});

test("a request that is leased while it closes goes back, and is not a fault of the request", async () => {
  const { engine, ask, take, store, failures, outcomes } = await engineOf(undefined, undefined, HOUR_MS);
  const lease = store.lease.bind(store);
  let closing: Promise<void> | undefined;
  store.lease = async (...args) => {
    const leases = await lease(...args);
    if (leases.length > 0) closing ??= engine.close();
    return leases;
  };
  await ask(0, 0);
  await take(0);
  await until(() => closing !== undefined, "the lease");
  await closing;
  expect(await byOther(store)).toMatchObject([{ key: "0", deliveries: 1 }]);
  expect([await outcomes(), failures]).toEqual([[], []]);
});

test("closing waits until the store has what came of requests", async () => {
  const { engine, ask, take, store, outcomes } = await engineOf(undefined, undefined, HOUR_MS);
  const forward = store.forward.bind(store);
  let isAsked = false;
  store.forward = async (...args) => {
    isAsked = true;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return forward(...args);
  };
  await take(0);
  await ask(0, 0);
  await until(() => isAsked, "an outcome on its way");
  await engine.close();
  expect(await outcomes()).toHaveLength(1);
});
