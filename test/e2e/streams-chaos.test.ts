/**
 * SIGKILL ends producers, forwarders and the server at random moments, and they are started again: every payload that
 * the server confirmed arrives exactly once. HONE_CHAOS_SEED=N uses other moments.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CounterRandom } from "../../lib/random.ts";
import { openStore } from "../../lib/streams/index.ts";
import { longest, soak } from "../long.ts";
import { patient } from "../patience.ts";
import { Client } from "../streams/client.ts";
import { HOUR_MS } from "../streams/place.ts";
import { noRedis, RedisServer } from "../streams/redis/redis-server.ts";
import { SocketPlace } from "../streams/socket/socket-place.ts";

const SEED = Number(process.env["HONE_CHAOS_SEED"] ?? 1);
/** The number of processes that are killed. */
const CRASHES = 8;
/** The least number of payloads that must be kept. */
const MANY = 25;
const LIMIT_MS = patient(60_000);

interface Target {
  readonly url: string;
  /** Kills the server and starts it again. */
  restart?(): Promise<void>;
}

/** Kills and replaces processes CRASHES times; returns the keys that producers reported as kept. */
async function wearDown({ url, restart }: Target, random: CounterRandom): Promise<string[]> {
  let names = 0;
  const producer = () => new Client(url, "r", "append", `p${++names}-`);
  const forwarder = () => new Client(url, "r", "forward");
  const kinds = [producer, producer, forwarder, forwarder];
  const living = kinds.map((start) => start());
  const dead: Client[] = [];
  for (const client of living) await client.hear("open");
  for (let crash = 0; crash < CRASHES; ++crash) {
    await sleep(random.int(20, 300));
    if (restart !== undefined && crash % 3 === 2) await restart();
    const at = random.int(0, living.length - 1);
    await living[at]!.kill();
    dead.push(living[at]!);
    living[at] = kinds[at]!();
  }
  await living[0]!.hear("appended", MANY);
  for (const client of living.slice(0, 2)) await client.kill();
  const kept = [...dead, ...living].flatMap(({ said }) => said.filter((line) => line.startsWith("appended")));
  const store = await openStore(url, { run: "r", mustExist: true });
  const { items } = await store.depth("s");
  let cursor = 0;
  while (cursor < items) {
    const entries = await store.read("out", cursor, { max: 100, waitMs: LIMIT_MS });
    if (entries.length === 0) break;
    cursor = entries.at(-1)!.offset;
  }
  for (const client of living) await client.kill();
  await store.close();
  return kept.map((line) => line.split(" ")[1]!);
}

async function everythingOnce(url: string, kept: readonly string[]): Promise<void> {
  await using store = await openStore(url, { run: "r", mustExist: true });
  const all = { max: 100_000, waitMs: 0 };
  const [sent, arrived] = [await store.read("s", 0, all), await store.read("out", 0, all)];
  const keysOf = (entries: typeof sent) => entries.map(({ key }) => key);
  expect(kept.length).toBeGreaterThanOrEqual(MANY);
  expect(new Set(keysOf(arrived)).size).toBe(arrived.length);
  expect(keysOf(arrived).toSorted()).toEqual(keysOf(sent).toSorted());
  expect(kept.filter((key) => !keysOf(sent).includes(key))).toEqual([]);
  for (const { key, payload } of arrived) expect(Buffer.from(payload).toString()).toBe(`payload of ${key}`);
  expect(await store.depth("s")).toMatchObject({ dead: 0 });
  expect(await store.lease("s", "g", { ...all, leaseMs: HOUR_MS })).toEqual([]);
}

describe("none is lost and none comes twice", () => {
  let server: RedisServer;
  beforeAll(async () => {
    if (noRedis === undefined) server = await RedisServer.start();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  test.skipIf(!longest || noRedis !== undefined)(
    "over a Redis server that is killed too",
    async () => {
      const restart = async () => {
        await server.kill();
        await server.restart();
      };
      const kept = await wearDown({ url: server.url, restart }, new CounterRandom(SEED, 1));
      await everythingOnce(server.url, kept);
    },
    4 * LIMIT_MS,
  );

  test.runIf(longest || soak)(
    "over a socket of a process that lives on",
    async () => {
      await using place = await SocketPlace.serve();
      const kept = await wearDown({ url: place.url }, new CounterRandom(SEED, 2));
      await everythingOnce(place.url, kept);
    },
    4 * LIMIT_MS,
  );
});
