import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openStore } from "../../../lib/streams/index.ts";
import { openDatabase } from "../../../lib/streams/sqlite/database.ts";
import { SqliteDriver } from "../../../lib/streams/sqlite/driver.ts";
import { Client } from "../client.ts";
import { streamsConform } from "../conformance.ts";
import { waitsConform } from "../conformance-waits.ts";
import { ALL, append, bytes, HOUR_MS } from "../place.ts";
import { noSqlite, SqliteFile, SqliteSuite } from "./sqlite-file.ts";

const QUERIES = ["", "?synchronous=off"] as const;
for (const query of QUERIES) {
  const suite = new SqliteSuite(query);
  afterAll(() => suite[Symbol.asyncDispose]());
  streamsConform(suite.driver);
  waitsConform(suite.driver);
}

describe.skipIf(noSqlite !== undefined).each(QUERIES)("a file of streams, %j", (query) => {
  test("has all that a process appended before it was killed, and each lease goes on to another", async () => {
    await using file = new SqliteFile(query);
    await using store = await file.open();
    await using producer = new Client(file.url, "r", "append");
    await producer.hear("appended", 25);
    await append(store, "s", ["mine"]); // beside it, in the same file
    await producer.kill();
    const said = producer.said
      .filter((line) => line.startsWith("appended"))
      .map((line) => line.split(" ")[1]);
    const entries = await store.read("s", 0, ALL);
    expect(entries.map(({ offset }) => offset)).toEqual(entries.map((_, i) => i + 1));
    const kept = entries.map(({ key }) => key).filter((key) => key !== "mine");
    expect(kept.slice(0, said.length)).toEqual(said);
    expect(kept.length).toBeLessThanOrEqual(said.length + 1);
    expect(entries.map(({ key, payload }) => [key, Buffer.from(payload).toString()])).toEqual(
      entries.map(({ key }) => [key, `payload of ${key}`]),
    );

    await using reader = new Client(file.url, "r", "lease");
    await reader.hear("leased k0");
    await reader.kill();
    const [again] = await store.lease("s", "g", { max: 1, leaseMs: HOUR_MS, waitMs: 60_000 });
    expect(again).toMatchObject({ deliveries: again!.key === "k0" ? 2 : 1 });
    expect(await store.depth("s", { group: "g" })).toMatchObject({ items: entries.length });
  });

  test("is of one run; who knows the run refuses one that is new, deleted or exchanged", async () => {
    await using file = new SqliteFile(query);
    await expect(file.open({ mustExist: true })).rejects.toMatchObject({ why: "lost" });
    await using store = await file.open();
    await append(store, "s", ["x"]);
    await expect(openStore(file.url, { run: "other" })).rejects.toMatchObject({
      why: "lost",
      details: { found: `${file.path} is of run r` },
    });
    await using known = await file.open({ mustExist: true });
    expect(await known.depth("s")).toMatchObject({ items: 1 });
    renameSync(file.path, `${file.path}.away`);
    await expect(store.append("s", "y", bytes("y"))).rejects.toMatchObject({ why: "lost" });
    writeFileSync(file.path, "");
    await expect(known.read("s", 0, ALL)).rejects.toMatchObject({ why: "lost" });
    rmSync(file.path);
    renameSync(`${file.path}.away`, file.path);
    expect(await store.append("s", "y", bytes("y"))).toBe(2);
  });

  test("does what is asked at the same moment as something that it refuses", async () => {
    await using file = new SqliteFile(query);
    await using store = await file.open();
    const calls = [
      store.append("s", "x", bytes("x")),
      store.read("s", 99, ALL),
      store.append("s", "y", bytes("y")),
    ];
    expect(await Promise.allSettled(calls)).toMatchObject([
      { value: 1 },
      { reason: { why: "ahead" } },
      { value: 2 },
    ]);
  });

  test("is looked at while a process that was stopped amid a write keeps the others from writing", async () => {
    await using file = new SqliteFile(query);
    await using store = await file.open();
    await append(store, "s", ["x"]);
    await using writer = new Client(file.url, "r", "write");
    await writer.hear("writing");
    writer.signal("SIGSTOP");
    const appended = store.append("s", "y", bytes("y"));
    const looked = await Promise.all([store.read("s", 0, ALL), store.depth("s"), store.kv.list("k")]);
    expect(looked).toMatchObject([[{ key: "x" }], { items: 1 }, new Map()]);
    const settled = appended.catch(() => {}).then(() => "settled");
    // several times as long as the thread waits at a stretch
    expect(await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, 400, "waits"))])).toBe(
      "waits",
    );
    await writer.kill();
    expect(await appended).toBe(2);
  });
});

describe.skipIf(noSqlite !== undefined)("a file of streams", () => {
  test("does what follows an order that waits for another's writes after it", async () => {
    await using file = new SqliteFile("?synchronous=off");
    await using store = await file.open();
    const other = await openDatabase(file.path);
    other.exec("BEGIN IMMEDIATE");
    const first = store.append("s", "x", bytes("x"));
    await new Promise((resolve) => setTimeout(resolve, 20)); // it is the thread's by then
    other.exec("ROLLBACK");
    other.close();
    expect(await Promise.all([first, store.append("s", "y", bytes("y"))])).toEqual([1, 2]);
    expect(await store.append("s", "z", bytes("z"))).toBe(3);
  });

  test("tells those who attend to a topic of it, in whatever process, and nobody of anything else", async () => {
    await using file = new SqliteFile();
    await (await file.open()).kv.set("made", "1");
    const [writer, reader] = await Promise.all([0, 1].map(() => SqliteDriver.open(file.path, "r", true)));
    try {
      const news: (string | undefined)[] = [];
      reader!.onNews((topic) => news.push(topic));
      reader!.attend("s");
      reader!.attend("s/dead");
      const size = { samples: 0, tokens: 0 };
      const say = (stream: string, key: string) =>
        writer!.run("append", { stream, key, payload: bytes(key), size });
      await say("other", "a");
      await writer!.run("set", { key: "x", value: "1" });
      await say("s", "b");
      const lease = { stream: "s", group: "g", token: "t", max: 1, leaseMs: HOUR_MS, maxDeliveries: 9 };
      const { leases } = await writer!.run("lease", lease);
      await expect.poll(() => news).toEqual(["s"]);
      const held = { stream: "s", group: "g", token: "t", offset: leases[0]!.offset };
      await writer!.run("release", { ...held, end: "retry" });
      await expect.poll(() => news).toEqual(["s", "s"]);
      await writer!.run("lease", lease);
      await writer!.run("release", { ...held, end: { dead: "given up" } });
      await expect.poll(() => news).toEqual(["s", "s", "s/dead"]);
    } finally {
      await writer!.close();
      await reader!.close();
    }
  });

  test("that cannot be opened is named", async () => {
    await using file = new SqliteFile();
    await expect(openStore(`sqlite:${join(file.dir, "no/where.db")}`, { run: "r" })).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      message: expect.stringContaining("where.db"),
    });
    writeFileSync(join(file.dir, "text.db"), "this is no database, though it is long enough ".repeat(50));
    await expect(openStore(`sqlite:${join(file.dir, "text.db")}`, { run: "r" })).rejects.toMatchObject({
      message: expect.stringContaining("text.db: file is not a database"),
    });
  });
});
