import { afterEach, beforeEach, expect, test } from "vitest";
import { encodeRequest, type NumberedRequest } from "../../lib/fleet/messages.ts";
import { FollowedNotes, type NotedRequest, RolloutNotes } from "../../lib/fleet/rollout-notes.ts";
import type { AttemptTokens } from "../../lib/native/attempt-tokens.ts";
import { type Lease, openStore, type StreamStore } from "../../lib/streams/index.ts";
import { request, until } from "./small-engine.ts";

let store: StreamStore;
beforeEach(async () => {
  store = await openStore("memory:", { run: "test" });
});
afterEach(() => store.close());

const asked = (number: number, begun?: readonly AttemptTokens[]): NumberedRequest => ({
  number,
  version: 0,
  request: { ...request(number), recordEveryTokens: 2, ...(begun && { begun }) },
});

const tokens = (attempt: number, from: number, ...ids: number[]): AttemptTokens => ({
  attempt,
  from,
  tokens: Int32Array.from(ids),
  logprobs: Float32Array.from(ids, (id) => -id / 8),
  entropies: Float32Array.from(ids, (id) => id / 4),
  versions: Uint32Array.from(ids, (_, i) => 3 + i),
  oldestKv: new Uint32Array(ids.length).fill(3),
  finish: 0,
});

async function lease(number: number, leaseMs = 0) {
  await store.append("requests", String(number), encodeRequest(asked(number)));
  const [mine] = await store.lease("requests", "actors", { max: 1, leaseMs, waitMs: 0 });
  return mine!;
}

const held = (lease: Lease, number: number): NotedRequest => ({ lease, asked: { number }, unwritten: [] });

test("the next holder has what was noted under leases before its own, and nothing later", async () => {
  const [mine, first] = [new RolloutNotes(store, "notes"), await lease(7)];
  await mine.write(held(first, 7), [tokens(0, 0, 5, 6), tokens(1, 0, 9)]);
  await mine.write(held(first, 8), [tokens(0, 0, 1)]); // tokens of another request
  await mine.write(held(first, 7), [tokens(0, 2, 7)]);
  expect((await mine.resumed(first, asked(7))).request.begun).toBeUndefined();
  const [second] = await store.lease("requests", "actors", { max: 1, leaseMs: 0, waitMs: 0 });
  await mine.write(held(first, 7), [tokens(0, 3, 8)]);
  const other = new RolloutNotes(store, "notes");
  const begun = [{ ...tokens(0, 0, 5, 6, 7), versions: Uint32Array.of(3, 4, 3) }, tokens(1, 0, 9)];
  expect((await other.resumed(second!, asked(7))).request.begun).toEqual(begun);
  await other.write(held(second!, 7), [tokens(1, 1, 4)]);
  const [third] = await store.lease("requests", "actors", { max: 1, leaseMs: 1e6, waitMs: 0 });
  expect((await mine.resumed(third!, asked(7))).request.begun![1]).toMatchObject({
    tokens: Int32Array.of(9, 4),
    logprobs: Float32Array.of(-9 / 8, -4 / 8),
  });
});

test("who leaves, or is killed from outside, has not failed at it, and what it noted is taken up all the same", async () => {
  const notes = new RolloutNotes(store, "notes");
  const first = await lease(2, 1e6);
  await notes.write(held(first, 2), [tokens(0, 0, 5, 6)]);
  await store.release(first, "retry");
  const [second] = await store.lease("requests", "actors", { max: 1, leaseMs: 1e6, waitMs: 0 });
  expect(second!.deliveries).toBe(1);
  const { begun } = (await new RolloutNotes(store, "notes").resumed(second!, asked(2))).request;
  expect(begun!.map((each) => [...each.tokens])).toEqual([[5, 6]]);
});

test("what the request has begun with comes first; what does not follow is left out", async () => {
  const notes = new RolloutNotes(store, "notes");
  const first = await lease(1);
  await notes.write(held(first, 1), [tokens(0, 2, 7)]);
  await store.note(first, "notes", "1/damaged", Uint8Array.of(1, 2, 3));
  await notes.write(held(first, 1), [tokens(0, 5, 8)]);
  const [second] = await store.lease("requests", "actors", { max: 1, leaseMs: 0, waitMs: 0 });
  const { begun } = (await notes.resumed(second!, asked(1, [tokens(0, 0, 5, 6)]))).request;
  expect(begun!.map((each) => [...each.tokens])).toEqual([[5, 6, 7]]);
});

test("tokens whose note was refused go with the next one where the lease came back to the same holder", async () => {
  const [notes, first] = [new RolloutNotes(store, "notes"), await lease(3)];
  const mine = { ...held(first, 3) };
  await notes.write(mine, [tokens(0, 0, 5)]);
  const [again] = await store.lease("requests", "actors", { max: 1, leaseMs: 0, waitMs: 0 });
  await notes.write(mine, [tokens(0, 1, 6)]); // the lease had expired
  await notes.write({ ...mine, lease: again! }, [tokens(0, 2, 7)]);
  const [last] = await store.lease("requests", "actors", { max: 1, leaseMs: 1e6, waitMs: 0 });
  const { begun } = (await notes.resumed(last!, asked(3))).request;
  expect(begun!.map((each) => [...each.tokens])).toEqual([[5, 6, 7]]);
});

test("the store forgets what was noted of requests that are over", async () => {
  const under = new Map([1, 2].map((number) => [number, request(10 + number)]));
  const told: [number, number][] = [];
  const followed = new FollowedNotes(store, "notes", under);
  const closed = new AbortController();
  const onRecord = (id: number, all: readonly AttemptTokens[]) => told.push([id, all[0]!.tokens.length]);
  const following = followed.follow({ onRecord }, closed.signal).catch(() => {});
  const notes = new RolloutNotes(store, "notes");
  const leases = new Map<number, Lease>();
  for (const number of [1, 2, 3]) leases.set(number, await lease(number, 1e6));
  for (const number of [1, 2, 1, 3])
    await notes.write(held(leases.get(number)!, number), [tokens(0, 0, 5, 6)]);
  await until(() => told.length === 3, "the notes");
  expect(told).toEqual([
    [11, 2],
    [12, 2],
    [11, 2],
  ]);
  await followed.trim();
  expect((await store.depth("notes")).items).toBe(4);
  under.delete(1);
  await followed.trim();
  expect((await store.depth("notes")).items).toBe(3);
  under.delete(2);
  await followed.trim();
  expect((await store.depth("notes")).items).toBe(0);
  const late = await lease(9, 0);
  const [next] = await store.lease("requests", "actors", { max: 1, leaseMs: 1e6, waitMs: 0 });
  expect(late.key).toBe(next!.key);
  expect((await new RolloutNotes(store, "notes").resumed(next!, asked(9))).request.begun).toBeUndefined();
  closed.abort();
  await following;
});
