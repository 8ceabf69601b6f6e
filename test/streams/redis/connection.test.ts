import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { openStore } from "../../../lib/streams/index.ts";
import { RedisDriver } from "../../../lib/streams/redis/driver.ts";
import { patient } from "../../patience.ts";
import { Client } from "../client.ts";
import { ALL, append, bytes, HOUR_MS, numbered } from "../place.ts";
import { freePort, noRedis, RedisServer } from "./redis-server.ts";

const LEASED = { ...ALL, leaseMs: HOUR_MS };

afterEach(() => vi.unstubAllEnvs());

describe.skipIf(noRedis !== undefined)("a Redis server", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  const ask = (...args: string[]) =>
    spawnSync("redis-cli", ["-p", String(server.port), ...args], { encoding: "utf8" }).stdout.trim();

  test("that is killed in the middle of appends and comes back has each once", async () => {
    await using store = await openStore(server.url, { run: "killed" });
    const keys = numbered(300);
    const appends = keys.map((key) => store.append("s", key, bytes(key)));
    await appends[20];
    await server.kill();
    const waiting = store.lease("s", "g", { ...LEASED, max: 1, waitMs: 60_000 });
    await server.restart();
    const offsets = await Promise.all(appends);
    expect(offsets.toSorted((a, b) => a - b)).toEqual(keys.map((_, i) => i + 1));
    const entries = await store.read("s", 0, ALL);
    expect(entries.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
    for (const [i, key] of keys.entries()) expect(entries[offsets[i]! - 1]!.key).toBe(key);
    expect(await waiting).toHaveLength(1);
    const late = store.kv.waitFor("x", { waitMs: 60_000 });
    await store.kv.set("x", "1"); // notifications arrive again over the new connection
    expect(await late).toBe("1");
  });

  test("keeps a lease over its own death, and its leaseholder's death gives it to another", async () => {
    await using store = await openStore(server.url, { run: "orphan" });
    await append(store, "s", ["x"]);
    await using client = new Client(server.url, "orphan", "lease");
    await client.hear("leased x");
    await client.kill();
    await server.kill();
    await server.restart();
    const [again] = await store.lease("s", "g", { ...LEASED, waitMs: 60_000 });
    expect(again).toMatchObject({ key: "x", deliveries: 2 });
    expect(await store.forward(again!, "out", "x", bytes("x"))).toBe(1);
  });

  test("keeps nothing of a run that is forgotten, and all of every other", async () => {
    const names = ["over", "over-not", "not/over"];
    const stores = await Promise.all(names.map((run) => openStore(server.url, { run })));
    for (const store of stores) {
      await append(store, "s", ["x"]);
      await store.lease("s", "g", { ...LEASED, max: 1, waitMs: 0 });
      await store.kv.setLease("held", "by", HOUR_MS);
    }
    const kept = (run: string) =>
      ask("keys", "*")
        .split("\n")
        .filter((key) => key.startsWith(`hone:{${run}}:`)).length;
    const before = names.map(kept);
    expect(Math.min(...before)).toBeGreaterThan(8);
    await stores[0]!.forget();
    expect(names.map(kept)).toEqual([0, before[1], before[2]]);
    expect(await stores[1]!.kv.get("held")).toBe("by");
    for (const store of stores) await store.close();
  });

  test("that is forgotten piece by piece, beside thousands of others' keys", async () => {
    await using store = await openStore(server.url, { run: "big" });
    await Promise.all(numbered(2_500).map((key) => append(store, `s/${key}`, ["x"])));
    await store.forget();
    expect(ask("keys", "hone:{big}:*")).toBe("");
  });

  test("that allows no deletion says so", async () => {
    await using own = await RedisServer.start();
    const cli = (...args: string[]) => spawnSync("redis-cli", ["-p", String(own.port), ...args]);
    cli("acl", "setuser", "runner", "on", ">pw", "~*", "&*", "+@all", "-scan");
    await using store = await openStore(own.url.replace("://", "://runner:pw@"), { run: "kept" });
    await append(store, "s", ["x"]);
    await expect(store.forget()).rejects.toMatchObject({ code: "HONE_ERR_IO", message: /NOPERM|scan/ });
  });

  test("that lets nobody listen is left with no connection, which would keep the process", async () => {
    await using own = await RedisServer.start();
    const cli = (...args: string[]) =>
      spawnSync("redis-cli", ["-p", String(own.port), ...args], { encoding: "utf8" }).stdout;
    cli("acl", "setuser", "deaf", "on", ">pw", "~*", "resetchannels", "+@all");
    const opening = openStore(own.url.replace("://", "://deaf:pw@"), { run: "unheard" });
    await expect(opening).rejects.toThrow(/NOPERM|channel/);
    await vi.waitFor(() => expect(cli("client", "list")).not.toContain("user=deaf"), {
      timeout: patient(2_000),
    });
  });

  test("that says nothing is waited for once; what follows gives up sooner, until it answers again", async () => {
    await using silent = await RedisServer.start();
    const driver = await RedisDriver.open(silent.url, "silent", false, 2_000);
    const ask = () => driver.run("get", { key: "x" });
    silent.signal("SIGSTOP");
    await expect(ask()).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      message: expect.stringMatching(/no answer for 2 s/),
    });
    await expect(ask()).rejects.toMatchObject({ message: expect.stringMatching(/no answer for 1 s/) });
    silent.signal("SIGCONT");
    await vi.waitFor(async () => expect(await ask()).toBeNull(), { timeout: 20_000 });
    silent.signal("SIGSTOP");
    await expect(ask()).rejects.toMatchObject({ message: expect.stringMatching(/no answer for 2 s/) });
    await driver.close();
  });

  test("whose answers are lost is asked again, and answers what it had answered", async () => {
    await using proxy = await LossyProxy.before(server.port);
    await using store = await openStore(proxy.url, { run: "lossy" });
    await append(store, "s", ["x", "y", "z"]);
    const lossy = <T>(call: () => Promise<T>): Promise<T> => {
      proxy.loseNextAnswer();
      return call();
    };
    expect(await lossy(() => store.append("s", "w", bytes("w")))).toBe(4);
    expect(await lossy(() => store.kv.cas("epoch", null, "1"))).toBe(true);
    expect(await lossy(() => store.kv.delete("epoch", "1"))).toBe(true);
    const leases = await lossy(() => store.lease("s", "g", { ...LEASED, max: 3 }));
    expect(leases.map(({ key, deliveries }) => [key, deliveries])).toEqual([
      ["x", 1],
      ["y", 1],
      ["z", 1],
    ]);
    expect(await lossy(() => store.forward(leases[0]!, "out", "x", bytes("x")))).toBe(1);
    expect(leases.map(({ isAgain }) => isAgain)).toEqual([false, false, false]);
    expect(await store.release(leases[1]!, "retry")).toBe(true);
    const [again] = await lossy(() => store.lease("s", "g", { ...LEASED, max: 1 }));
    expect(again).toMatchObject({ key: "y", deliveries: 1, isAgain: true });
    expect(await lossy(() => store.release(again!, "done"))).toBe(true);
    expect(await lossy(() => store.release(leases[2]!, { dead: "bad" }))).toBe(true);
    expect(await lossy(() => store.trim("s", 3))).toBe(2);
    expect(proxy.lost).toBe(9);
    expect(await store.depth("s", { group: "g" })).toMatchObject({ items: 1, dead: 1 });
    expect(await store.depth("out")).toMatchObject({ items: 1 });
  });

  test("that is gone when a run ends keeps nobody waiting for long", async () => {
    const gone = await RedisServer.start();
    await using store = await openStore(gone.url, { run: "forgotten" });
    await append(store, "s", ["x"]);
    await gone[Symbol.asyncDispose]();
    await expect(store.forget()).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      message: "the Redis server: no answer for 3 s",
    });
  });

  test("has all keys of a run under one hash tag", async () => {
    await using store = await openStore(server.url, { run: "tag" });
    await append(store, "s", ["x", "y"]);
    const [x] = await store.lease("s", "g", LEASED);
    await store.release(x!, { dead: "bad" });
    await store.pin("s", "c", 0);
    await store.kv.setLease("k", "v", HOUR_MS);
    const keys = ask("KEYS", "*tag*").split("\n");
    expect(keys.filter((key) => !key.startsWith("hone:{tag}:"))).toEqual([]);
    expect(new Set(keys.map((key) => key.split(":")[2]))).toEqual(
      new Set("id c kv ku s m k z p g gs l h r".split(" ")),
    );
  });

  test("that was emptied is refused, at once and by whoever knows the run", async () => {
    const store = await openStore(server.url, { run: "known" });
    await append(store, "s", ["x"]);
    await using again = await openStore(server.url, { run: "known", mustExist: true });
    expect(await again.depth("s")).toMatchObject({ items: 1 });
    ask("FLUSHALL");
    for (const call of [() => store.append("s", "y", bytes("y")), () => again.read("s", 0, ALL)])
      await expect(call()).rejects.toMatchObject({
        why: "lost",
        message: "the store does not hold run known: it was emptied or replaced after the run had opened it",
      });
    await expect(openStore(server.url, { run: "known", mustExist: true })).rejects.toMatchObject({
      why: "lost",
    });
    await using fresh = await openStore(server.url, { run: "known" });
    await fresh.append("s", "z", bytes("z"));
    await expect(store.append("s", "y", bytes("y"))).rejects.toMatchObject({ why: "lost" });
    await store.close();
  });

  test("that forgets is refused, unless it is asked for", async () => {
    await using forgetful = await RedisServer.start(["--appendonly", "no"]);
    await expect(openStore(forgetful.url, { run: "r" })).rejects.toMatchObject({
      code: "HONE_ERR_USAGE",
      hint: expect.stringContaining("--appendonly yes"),
    });
    await using store = await openStore(`${forgetful.url}?appendonly=no`, { run: "r" });
    expect(await append(store, "s", ["x"])).toEqual([1]);
    await using evicting = await RedisServer.start([
      "--maxmemory",
      "1gb",
      "--maxmemory-policy",
      "allkeys-lru",
    ]);
    await expect(openStore(evicting.url, { run: "r" })).rejects.toThrow(
      /drops keys when it is full \(allkeys-lru\)/,
    );
  });

  test("with a password takes it from address, environment or file, and tells it to nobody", async () => {
    await using locked = await RedisServer.start(["--requirepass", "s3cret"]);
    const [, host] = locked.url.split("//");
    await expect(openStore(locked.url, { run: "r" })).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
    await expect(openStore(`redis://:wr0ng@${host}`, { run: "r" })).rejects.toMatchObject({
      code: "HONE_ERR_USAGE", // agents do not retry this code, unlike that of a server that is down
      message: expect.stringMatching(/^redis:\/\/:\*\*\*@.*WRONGPASS/),
    });
    await using first = await openStore(`redis://:s3cret@${host}`, { run: "r" });
    await first.kv.set("x", "1");
    vi.stubEnv("HONE_REDIS_PASSWORD", "s3cret");
    await using second = await openStore(locked.url, { run: "r" });
    expect(await second.kv.get("x")).toBe("1");
    const file = join(locked.dir, "secret");
    writeFileSync(file, "s3cret\n");
    vi.stubEnv("HONE_REDIS_PASSWORD", "other");
    vi.stubEnv("HONE_REDIS_PASSWORD_FILE", file);
    await using store = await openStore(locked.url, { run: "r" });
    expect(await store.kv.get("x")).toBe("1");
  });

  test("over TLS is believed only with a certificate that somebody known vouches for", async ({ skip }) => {
    const [port, dir] = [await freePort(), server.dir];
    const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
    const made = spawnSync("openssl", [
      ..."req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1".split(
        " ",
      ),
      ...["-keyout", key, "-out", cert],
    ]);
    if (made.status !== 0) skip("no openssl");
    await using secure = await RedisServer.start(
      [
        "--port",
        "0",
        "--tls-port",
        String(port),
        "--tls-cert-file",
        cert,
        "--tls-key-file",
        key,
        "--tls-auth-clients",
        "no",
      ],
      port,
    );
    const url = secure.url.replace("redis:", "rediss:");
    await expect(openStore(url, { run: "r" })).rejects.toMatchObject({
      code: "HONE_ERR_USAGE",
      message: expect.stringMatching(/certificate/),
    });
    vi.stubEnv("HONE_REDIS_CA", cert);
    await using store = await openStore(url, { run: "r" });
    expect(await append(store, "s", ["x"])).toEqual([1]);
  });
});

/** A proxy between client and server; on demand it cuts the connection instead of forwarding an answer. */
class LossyProxy implements AsyncDisposable {
  lost = 0;
  readonly #server;
  readonly #sockets = new Set<Socket>();
  #loses = false;

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const upstream = connect(port, "127.0.0.1");
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket));
      }
      client.pipe(upstream);
      upstream.on("data", (answer) => {
        // Other connections carry notifications, which are not answers.
        if (!this.#loses || String(answer).includes("message")) return client.write(answer);
        this.#loses = false;
        this.lost += 1;
        client.destroy();
        return upstream.destroy();
      });
    });
  }

  static async before(port: number): Promise<LossyProxy> {
    const proxy = new LossyProxy(port);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  loseNextAnswer(): void {
    this.#loses = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
