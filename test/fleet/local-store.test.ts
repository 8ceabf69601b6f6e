import { type StdioOptions, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { HoneError } from "../../lib/errors.ts";
import { OwnRedis, openOwnFolder } from "../../lib/fleet/local-store.ts";
import { openStore } from "../../lib/streams/index.ts";
import { scriptOn } from "../fixtures/child-program.ts";
import { patient } from "../patience.ts";
import { noRedis } from "../streams/redis/redis-server.ts";

const OWN_FOLDER = await scriptOn("fleet/local-store.ts");

describe("the folder of a fleet", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "hone-own-"));
    vi.stubEnv("TMPDIR", root);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  /** Starts a process whose temporary folder is `root`. */
  const inRoot = (script: string, stdio: StdioOptions = "inherit") =>
    spawn(process.execPath, [...OWN_FOLDER.node, "--input-type=module", "-e", script], {
      env: { ...process.env, TMPDIR: root },
      stdio,
    });

  /** True if a server listens at the URL. */
  function answers(url: string): Promise<boolean> {
    const socket = connect(new URL(url).pathname);
    return once(socket, "connect").then(
      () => socket.destroy() !== undefined,
      () => false,
    );
  }

  const fleets = () => readdirSync(root).filter((name) => name.startsWith("hone-fleet-"));

  test("a folder goes with its fleet, unless its logs are wanted, and stays while others begin", async () => {
    const first = await openOwnFolder();
    const second = await openOwnFolder();
    expect(fleets()).toHaveLength(2);
    second.close(false);
    expect(existsSync(first.path)).toBe(true);
    first.close(true);
    (await openOwnFolder()).close(false);
    expect(fleets().map((name) => join(root, name))).toEqual([first.path]);
  });

  test("a process that ends at once takes its folder with it", async () => {
    const script = `
    const { writeFileSync } = await import("node:fs");
    const { openOwnFolder } = await import(${JSON.stringify(OWN_FOLDER.url)});
    const { path } = await openOwnFolder();
    writeFileSync(path + "/actor-0.log", "begun");
    process.exit(143);`;
    expect(await once(inRoot(script), "exit")).toEqual([143, null]);
    expect(fleets()).toEqual([]);
  });

  test("what a killed coordinator left is removed by the next; what is being made is not", async () => {
    const made = join(root, "hone-fleet-made");
    mkdirSync(made);
    const script = `
    const { openOwnFolder } = await import(${JSON.stringify(OWN_FOLDER.url)});
    await openOwnFolder();
    process.kill(process.pid, "SIGKILL");`;
    expect(await once(inRoot(script), "exit")).toEqual([null, "SIGKILL"]);
    expect(fleets()).toHaveLength(2);
    writeFileSync(join(root, "other"), "");
    const own = await openOwnFolder();
    expect(
      fleets()
        .map((name) => join(root, name))
        .sort(),
    ).toEqual([made, own.path].sort());
    own.close(false);
  });

  test.skipIf(noRedis !== undefined)(
    "nor is a server left that was its own",
    async () => {
      const script = `
      const { join } = await import("node:path");
      const { openOwnFolder, OWN_SERVER } = await import(${JSON.stringify(OWN_FOLDER.url)});
      const { OwnRedis } = await import(${JSON.stringify((await scriptOn("fleet/local-store.ts")).url)});
      const { path } = await openOwnFolder();
      const { url } = await OwnRedis.start(join(path, OWN_SERVER));
      (await import("node:fs")).writeSync(1, url);
      process.kill(process.pid, "SIGKILL");`;
      const killed = inRoot(script, ["ignore", "pipe", "inherit"]);
      const ended = once(killed, "exit");
      let url = "";
      for await (const chunk of killed.stdout!) url += String(chunk);
      await ended;
      expect(await answers(url)).toBe(true);
      (await openOwnFolder()).close(false);
      expect(fleets()).toEqual([]);
      while (await answers(url)) await new Promise((resolve) => setTimeout(resolve, 20)); // the server was killed, and ends soon
    },
    patient(60_000),
  );
});

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-own-redis-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test.skipIf(noRedis !== undefined)(
  "what it has answered for survives its death; disposed it is gone",
  async () => {
    const server = await OwnRedis.start(dir);
    const store = await openStore(server.url, { run: "run-1" });
    for (let i = 0; i < 5; i++) await store.append("s", String(i), Uint8Array.of(i));
    const { lines } = watching(server);
    process.kill(pidIn(dir), "SIGKILL");
    await expect.poll(() => lines.length, { timeout: patient(5_000) }).toBe(1);
    expect((await store.read("s", 0, { max: 9, waitMs: 0 })).map(({ key }) => key)).toEqual([
      "0",
      "1",
      "2",
      "3",
      "4",
    ]);
    await store.close();
    await server[Symbol.asyncDispose]();
    await expect(once(connect(join(dir, "redis.sock")), "connect")).rejects.toMatchObject({
      code: "ECONNREFUSED",
    });
  },
  patient(60_000),
);

test.skipIf(noRedis !== undefined)(
  "an interrupt from the terminal does not reach it: it is in a process group of its own",
  async () => {
    await using _ = await OwnRedis.start(dir);
    const pid = readFileSync(join(dir, "redis.pid"), "utf8").trim();
    const groupOf = (id: string) => readFileSync(`/proc/${id}/stat`, "utf8").split(") ")[1]!.split(" ")[2];
    expect(groupOf(pid)).toBe(pid);
    expect(groupOf("self")).not.toBe(pid);
  },
  patient(60_000),
);

test("where there is none that is said, with what to install", async () => {
  vi.stubEnv("PATH", dir);
  try {
    await expect(OwnRedis.start(join(dir, "data"))).rejects.toMatchObject({
      code: "HONE_ERR_USAGE",
      message: "redis-server does not start: it is not installed",
      hint: expect.stringContaining("apt-get install redis-server"),
    });
  } finally {
    vi.unstubAllEnvs();
  }
});

const pidIn = (folder: string) => Number(readFileSync(join(folder, "redis.pid"), "utf8"));
const tick = () => new Promise((resolve) => setTimeout(resolve, 20));

/** Collects what a watch receives. */
function watching(server: OwnRedis) {
  const got: { lines: string[]; failures: HoneError[] } = { lines: [], failures: [] };
  server.watch({ say: (line) => got.lines.push(line), onFailure: (error) => got.failures.push(error) });
  return got;
}

test.skipIf(noRedis !== undefined)(
  "one that something ends is started again, with what it had answered for, and each time a line says so",
  async () => {
    await using server = await OwnRedis.start(dir);
    const { lines, failures } = watching(server);
    await using store = await openStore(server.url, { run: "run-1" });
    for (const round of [1, 2]) {
      await store.append("s", String(round), Uint8Array.of(round));
      process.kill(pidIn(dir), "SIGKILL");
      await expect.poll(() => lines.length, { timeout: patient(5_000) }).toBe(round);
      await store.append("s", `${round}-after`, Uint8Array.of(round));
    }
    expect(lines[0]).toBe(
      "the run's own Redis server ended by SIGKILL; starting it again from its append-only file",
    );
    const entries = await store.read("s", 0, { max: 9, waitMs: 0 });
    expect(entries.map(({ key }) => key)).toEqual(["1", "1-after", "2", "2-after"]);
    expect([lines.length, failures]).toEqual([2, []]);
  },
  patient(60_000),
);

test.skipIf(noRedis !== undefined)(
  "one that ended before it was watched is started again too, and none after the end",
  async () => {
    const server = await OwnRedis.start(dir);
    const pid = pidIn(dir);
    process.kill(pid, "SIGKILL");
    while (existsSync(`/proc/${pid}/exe`)) await tick();
    const { lines } = watching(server);
    await using store = await openStore(server.url, { run: "run-1" });
    await store.kv.set("x", "1");
    expect(lines).toHaveLength(1);
    const next = pidIn(dir);
    await server[Symbol.asyncDispose]();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([lines.length, pidIn(dir), existsSync(`/proc/${next}/exe`)]).toEqual([1, next, false]);
  },
  patient(60_000),
);

test.skipIf(noRedis !== undefined)(
  "one that cannot be started again is given up after six ends in a row, with the end of its log",
  async () => {
    await using server = await OwnRedis.start(join(dir, "data"));
    const { lines, failures } = watching(server);
    writeFileSync(join(dir, "redis-server"), "#!/bin/sh\necho no memory\nexit 1\n", { mode: 0o755 });
    vi.stubEnv("PATH", `${dir}:${process.env["PATH"]}`);
    try {
      process.kill(pidIn(join(dir, "data")), "SIGKILL");
      while (failures.length === 0) await tick();
    } finally {
      vi.unstubAllEnvs();
    }
    expect(failures).toMatchObject([
      {
        code: "HONE_ERR_IO",
        message:
          "the run's own Redis server ended 6 times in a row, the last time at its start (redis-server does not start: no memory), and is not started again; its log ends with:\n  no memory",
        hint: expect.stringContaining("--resume"),
      },
    ]);
    expect(lines).toHaveLength(5);
  },
  patient(60_000),
);

/** The sockets on which a process listens, from /proc/net: state "0A" of TCP, the flag __SO_ACCEPTCON of Unix sockets. */
function listening(pid: string): { tcp: string[]; unix: string[] } {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  const own = new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
  const rows = (file: string) =>
    readFileSync(`/proc/net/${file}`, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/));
  const tcp = ["tcp", "tcp6"].flatMap(rows).filter((row) => row[3] === "0A" && own.has(row[9]!));
  const unix = rows("unix").filter((row) => row[3] === "00010000" && own.has(row[6]!));
  return { tcp: tcp.map((row) => row[1]!), unix: unix.map((row) => row.slice(7).join(" ")) };
}

test.skipIf(noRedis !== undefined)(
  "it listens at a socket in a folder of its user alone, and at no port",
  async () => {
    await using server = await OwnRedis.start(join(dir, "a b"));
    const pid = readFileSync(join(dir, "a b", "redis.pid"), "utf8").trim();
    const path = join(dir, "a b", "redis.sock");
    expect(listening(pid)).toEqual({ tcp: [], unix: [path] });
    expect([statSync(join(dir, "a b")), statSync(path)].map(({ mode }) => mode & 0o777)).toEqual([
      0o700, 0o700,
    ]);
    await using store = await openStore(server.url, { run: "run-1" });
    await store.kv.set("x", "1");
    expect(await store.kv.get("x")).toBe("1");
  },
  patient(60_000),
);

/** Connects as another user; returns "connected", or the error's code. */
function connectAs(uid: number, path: string): string {
  const script = `require("node:net").connect(${JSON.stringify(path)})
    .on("connect", () => { console.log("connected"); process.exit(); })
    .on("error", ({ code }) => { console.log(code); process.exit(); })`;
  const options = { uid, gid: uid, cwd: "/", encoding: "utf8" } as const;
  return spawnSync(process.execPath, ["-e", script], options).stdout.trim();
}

const notRoot = process.getuid?.() !== 0;
test.skipIf(noRedis !== undefined || notRoot)(
  "another user of the machine cannot connect",
  async () => {
    const OTHER_USER = 65_534;
    chmodSync(dir, 0o755);
    const own = join(dir, "own");
    await using _ = await OwnRedis.start(own);
    const path = join(own, "redis.sock");
    expect(connectAs(OTHER_USER, path)).toBe("EACCES");
    chmodSync(own, 0o755);
    expect(connectAs(OTHER_USER, path)).toBe("EACCES"); // the socket's own mode refuses
    chmodSync(path, 0o777);
    expect(connectAs(OTHER_USER, path)).toBe("connected"); // so only the modes refuse other users
  },
  patient(60_000),
);

test("a folder whose path is too long for a Unix socket is refused, with what to do", async () => {
  const long = join(dir, "x".repeat(110 - dir.length));
  await expect(OwnRedis.start(long)).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: `${long}/redis.sock has 122 bytes, and the path of a Unix socket has 107 at most`,
    hint: expect.stringContaining("TMPDIR=/tmp"),
  });
  expect(readdirSync(dir)).toEqual([]);
});

test(
  "one that does not start says why",
  async () => {
    vi.stubEnv("PATH", dir);
    writeFileSync(join(dir, "redis-server"), "#!/bin/sh\necho no memory\nexit 1\n", { mode: 0o755 });
    try {
      await expect(OwnRedis.start(join(dir, "data"))).rejects.toMatchObject({
        code: "HONE_ERR_IO",
        message: "redis-server does not start: no memory",
      });
    } finally {
      vi.unstubAllEnvs();
    }
  },
  patient(60_000),
);
