import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStore, serveStore } from "../../../lib/streams/index.ts";
import { encodeFrame, FrameReader } from "../../../lib/streams/socket/frames.ts";
import { PROTOCOL } from "../../../lib/streams/socket/messages.ts";
import { patient } from "../../patience.ts";
import { signalTo } from "../../stopped.ts";
import { Client } from "../client.ts";
import { ALL, append, bytes, HOUR_MS } from "../place.ts";

const LEASED = { ...ALL, leaseMs: HOUR_MS };
const RUN = { run: "r" };
const usage = (message: RegExp) => ({ code: "HONE_ERR_USAGE", message: expect.stringMatching(message) });

let dir: string;
let path: string;
let url: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-served-"));
  path = join(dir, "s.sock");
  url = `unix:${path}`;
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("the socket", () => {
  test("is its user's alone, and goes with the store", async () => {
    const store = await serveStore(url, RUN);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await store.close();
    expect(readdirSync(dir)).toEqual([]);
  });

  test("of a process that was killed is replaced, by an empty store; one that lives is named", async () => {
    await using first = new Client(url, "r", "serve");
    await first.hear("open");
    const before = await openStore(url, RUN);
    await append(before, "s", ["x"]);
    const refused = serveStore(url, { run: "r2" });
    await expect(refused).rejects.toMatchObject(
      usage(new RegExp(`^unix:.*s.sock is served by process ${first.pid},`)),
    );
    expect(await before.depth("s")).toMatchObject({ items: 1 }); // the other server keeps working
    await first.kill();
    await before.close();
    expect(existsSync(path)).toBe(true);
    await using store = await serveStore(url, { run: "r2" });
    await using client = await openStore(url, { run: "r2", mustExist: true });
    expect(await client.depth("s")).toMatchObject({ items: 0 });
    await store.append("s", "y", bytes("y"));
    expect(await client.read("s", 0, ALL)).toMatchObject([{ offset: 1, key: "y" }]);
  });

  test("that was left behind goes to one of many that start at once", async () => {
    await using dead = new Client(url, "r", "serve");
    await dead.hear("open");
    await dead.kill();
    const begun = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => serveStore(url, { run: `r${i}` })),
    );
    const stores = begun.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    expect(stores.length).toBeLessThanOrEqual(1); // all may give up at the same moment, each with an error
    const winner = begun.findIndex(({ status }) => status === "fulfilled");
    if (winner >= 0) await (await openStore(url, { run: `r${winner}` })).close();
    for (const store of stores) await store.close();
    expect(readdirSync(dir)).toEqual([]);
  });

  test("is made for every path: folders that are not there, and however long", async () => {
    const far = `unix:${join(dir, "x".repeat(90), "y".repeat(90), "s.sock")}`;
    await using store = await serveStore(far, RUN);
    await using client = await openStore(far, RUN);
    await client.append("s", "x", bytes("x"));
    expect(await store.depth("s")).toMatchObject({ items: 1 });
    await store.close();
    expect(readdirSync(dirname(far.slice("unix:".length)))).toEqual([]);
  });

  test("what is there and no socket of ours stays there", async () => {
    writeFileSync(path, "mine");
    await expect(serveStore(url, RUN)).rejects.toMatchObject(usage(/s.sock is not a socket$/));
    expect(statSync(path).size).toBe(4);
    const other = createServer().listen(join(dir, "other.sock"));
    await once(other, "listening");
    const asked = serveStore(`unix:${join(dir, "other.sock")}`, RUN);
    await expect(asked).rejects.toMatchObject(usage(/^another program listens at .*other.sock$/));
    expect(existsSync(join(dir, "other.sock"))).toBe(true);
    other.close();
  });

  test("where none can be, that is said", async () => {
    await expect(serveStore("unix:/proc/s.sock", RUN)).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      message: expect.stringContaining("/proc"),
    });
  });
});

describe("a client", () => {
  test("that asks for a run that is not served, or where nothing is, is refused", async () => {
    await expect(openStore(url, RUN)).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      message: `${url}: no process serves it`,
    });
    await using _ = await serveStore(url, RUN);
    await expect(openStore(url, { run: "other" })).rejects.toMatchObject({
      why: "lost",
      details: { about: "other", found: `the process that serves ${path} holds run r` },
    });
  });

  test("that was killed has appended all that resolved, and each of its leases goes on to another", async () => {
    await using store = await serveStore(url, RUN);
    await using producer = new Client(url, "r", "append");
    await producer.hear("appended", 25);
    await producer.kill();
    const said = producer.said
      .filter((line) => line.startsWith("appended"))
      .map((line) => line.split(" ")[1]);
    const kept = await store.read("s", 0, { max: 100_000, waitMs: 0 });
    expect(kept.slice(0, said.length).map(({ key }) => key)).toEqual(said);
    for (const { key, payload } of kept) expect(Buffer.from(payload).toString()).toBe(`payload of ${key}`);
    await using reader = new Client(url, "r", "lease");
    await reader.hear("leased k0");
    await reader.kill();
    const others = await store.lease("s", "g", { ...LEASED, max: kept.length - 1 });
    const [last] = await store.lease("s", "g", { ...LEASED, waitMs: 60_000 });
    expect([...others, last!].map(({ key }) => key).toSorted()).toEqual(
      kept.map(({ key }) => key).toSorted(),
    );
    expect([...others, last!].find(({ key }) => key === "k0")).toMatchObject({ deliveries: 2 });
  });

  test("that is killed amid a message has no effect; one that sends other bytes is disconnected, and disturbs no other", async () => {
    await using store = await serveStore(url, RUN);
    const open = encodeFrame([0, PROTOCOL, "r"]);
    const write = Buffer.concat(
      encodeFrame([
        1,
        "append",
        { stream: "s", key: "x", payload: bytes("x"), size: { samples: 0, tokens: 0 } },
      ]),
    );
    for (const said of [
      [...open, write.subarray(0, -1)],
      [write],
      [...encodeFrame([0, PROTOCOL + 1, "r"]), write],
      ["GET / HTTP/1.1\r\n\r\n"],
      [...open, ...encodeFrame(null)],
      [...open, ...encodeFrame([1, "constructor", {}]), ...encodeFrame([2, "nothing", {}])],
    ]) {
      const socket = connect(path).on("error", () => {});
      await once(socket, "connect");
      for (const part of said) socket.write(part);
      await sleep(20);
      socket.destroy();
    }
    await using client = await openStore(url, RUN);
    expect(await client.depth("s")).toMatchObject({ items: 0 });
    expect(await store.append("s", "y", bytes("y"))).toBe(1);
  });

  test("that does not read its answers does not fill the memory of the server", async () => {
    await using store = await serveStore(url, RUN);
    await store.append("s", "large", new Uint8Array(1 << 20));
    const socket = connect(path);
    await once(socket, "connect");
    socket.pause();
    await using other = await openStore(url, RUN);
    const question = Buffer.concat(encodeFrame([1, "read", { stream: "s", after: 0, max: 1 }]));
    socket.write(
      Buffer.concat([...encodeFrame([0, PROTOCOL, "r"]), ...Array.from({ length: 1000 }, () => question)]),
    );
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 20; i++) await other.append("s", `k${i}`, bytes("k")); // other clients are served meanwhile
    const grown = process.memoryUsage().arrayBuffers - before;
    socket.destroy(); // so that a retry of the test starts clean
    expect(grown).toBeLessThan(50 * 2 ** 20); // without a limit: 1000 MiB
  });

  test("hears of the topics that it asked for, once for each time", async () => {
    await using store = await serveStore(url, RUN);
    const socket = connect(path);
    await once(socket, "connect");
    const reader = new FrameReader();
    const heard: unknown[] = [];
    socket.on("data", (chunk) => heard.push(...reader.read(chunk)));
    const say = (...message: unknown[]) => socket.write(Buffer.concat(encodeFrame(message)));
    say(0, PROTOCOL, "r");
    say(-1, "s");
    await expect.poll(() => heard).toEqual([[0, null]]);
    await append(store, "other", ["a"]);
    await append(store, "s", ["a", "b", "c"]);
    say(1, "get", { key: "x" });
    await expect
      .poll(() => heard.slice(1))
      .toEqual([
        [-1, "s"],
        [1, null],
      ]);
    say(-1, "s");
    say(2, "get", { key: "x" });
    await expect.poll(() => heard.slice(3)).toEqual([[2, null]]);
    await append(store, "s", ["d"]);
    await expect.poll(() => heard.slice(4)).toEqual([[-1, "s"]]);
    socket.destroy();
  });
});

describe("an outage", () => {
  test("the end of the process that serves ends what waits, and refuses what follows", async () => {
    await using server = new Client(url, "r", "serve");
    await server.hear("open");
    await using client = await openStore(url, RUN);
    const gone = { code: "HONE_ERR_IO", message: `${url}: the process that served it is gone` };
    const waits = Promise.allSettled([
      client.read("s", 0, { max: 1, waitMs: HOUR_MS }),
      client.lease("s", "g", { max: 1, waitMs: HOUR_MS, leaseMs: HOUR_MS }),
      client.kv.waitFor("x", { waitMs: HOUR_MS }),
    ]);
    await client.kv.get("x"); // by now all three wait
    await server.kill();
    const ends = await Promise.race([waits, sleep(patient(5_000), [], { ref: false })]); // a waiting client checks once a minute
    expect(ends).toHaveLength(3);
    for (const end of ends) expect(end).toMatchObject({ status: "rejected", reason: gone });
    await expect(client.append("s", "x", bytes("x"))).rejects.toMatchObject(gone);
  });

  test("a process that serves and was stopped is waited for, and its leases do not run out meanwhile", async () => {
    await using server = new Client(url, "r", "serve");
    await server.hear("open");
    await using holder = await openStore(url, RUN);
    await using other = await openStore(url, RUN);
    await holder.append("s", "x", bytes("x"));
    const [held] = await holder.lease("s", "g", { ...ALL, leaseMs: 2000 });
    signalTo(server.pid, "SIGSTOP");
    const asked = other.lease("s", "g", { ...ALL, leaseMs: 2000 });
    await sleep(3000);
    const renewed = holder.renew(held!, HOUR_MS);
    signalTo(server.pid, "SIGCONT");
    expect(await asked).toEqual([]);
    expect(await renewed).toBe(true);
  });
});
