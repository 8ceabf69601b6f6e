import { type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openOwnFolder } from "../../lib/fleet/own-folder.ts";
import { scriptOn } from "../fixtures/child-program.ts";
import { patient } from "../patience.ts";
import { noRedis } from "../streams/redis/redis-server.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "hone-own-"));
  vi.stubEnv("TMPDIR", root);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

const OWN_FOLDER = await scriptOn("fleet/own-folder.ts");

/** A process of its own, whose temporary folder is `root`. */
const inRoot = (script: string, stdio: StdioOptions = "inherit") =>
  spawn(process.execPath, [...OWN_FOLDER.node, "--input-type=module", "-e", script], {
    env: { ...process.env, TMPDIR: root },
    stdio,
  });

/** Whether anybody listens there. */
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
      const { OwnRedis } = await import(${JSON.stringify((await scriptOn("fleet/own-redis.ts")).url)});
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
    while (await answers(url)) await new Promise((resolve) => setTimeout(resolve, 20)); // it is killed, and ends soon
  },
  patient(60_000),
);
