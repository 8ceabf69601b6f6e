import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isLocked, lockFolder } from "../../../lib/shared/files/folder-lock.ts";
import { scriptOn } from "../../fixtures/child-program.ts";

// Deliberate faults (mutants) that these tests detect: the lock is not released, names of dead processes stay, the
// others are not checked after listening.

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-lock-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const LOCK = await scriptOn("shared/files/folder-lock.ts");
const taken = {
  code: "HONE_ERR_USAGE",
  message: expect.stringContaining("belongs to a run that is under way"),
};

test("a folder has one tenant at a time, by whatever path, and is free again at once", async () => {
  const [one, alias] = [join(dir, "new/run"), join(dir, "alias")];
  const lock = await lockFolder(one);
  symlinkSync(one, alias);
  await expect(lockFolder(alias)).rejects.toMatchObject(taken);
  mkdirSync(join(dir, "other"));
  const other = await lockFolder(join(dir, "other"));
  lock[Symbol.dispose]();
  const again = await lockFolder(alias);
  again[Symbol.dispose]();
  other[Symbol.dispose]();
});

test("a process that is killed leaves no lock behind", async () => {
  const script = `import(${JSON.stringify(LOCK.url)}).then(async ({ lockFolder }) => { await lockFolder(${JSON.stringify(dir)}); console.log("held"); setInterval(() => {}, 1000); })`;
  const child = spawn(process.execPath, [...LOCK.node, "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  await expect(lockFolder(dir)).rejects.toMatchObject(taken);
  child.kill("SIGKILL");
  await once(child, "exit");
  (await lockFolder(dir))[Symbol.dispose]();
});

test("a folder that cannot be made is a typed error", async () => {
  await expect(lockFolder("/dev/null/run")).rejects.toMatchObject({ code: "HONE_ERR_IO" });
});

test("a lock keeps no process alive", () => {
  const script = `import(${JSON.stringify(LOCK.url)}).then(({ lockFolder }) => lockFolder(${JSON.stringify(dir)}))`;
  execFileSync(process.execPath, [...LOCK.node, "-e", script], {
    timeout: 100_000,
  });
});

/** Namespaces like those of two containers that share a volume: another network, other process ids. */
const NAMESPACES: readonly (readonly string[])[] = [
  ["-rn"],
  ["-rpf", "--mount-proc"],
  ["-rnpf", "--mount-proc"],
];
const noNamespaces = spawnSync("unshare", ["-rn", "true"]).status !== 0;
if (noNamespaces) console.warn("skipped, no user namespaces here: the lock across namespaces");

test.skipIf(noNamespaces).each(NAMESPACES)(
  "the lock holds across namespaces (unshare %s)",
  async (...flags) => {
    const script = `import(${JSON.stringify(LOCK.url)}).then(({ lockFolder }) => lockFolder(${JSON.stringify(dir)})).then(() => console.log("held"), (e) => console.log(e.code))`;
    const inside = () => {
      const node = [process.execPath, ...LOCK.node, "-e", script];
      return execFileSync("unshare", [...flags, ...node], { encoding: "utf8", timeout: 60_000 }).trim();
    };
    const lock = await lockFolder(dir);
    expect(inside()).toBe("HONE_ERR_USAGE");
    lock[Symbol.dispose]();
    expect(inside()).toBe("held");
  },
);

test("of many that come at once one gets the folder at a time, however long its path, and dead names are cleared", async () => {
  const deep = join(dir, "a".repeat(120), "b".repeat(120));
  for (let round = 0; round < 20; round++) {
    const locks = await Promise.allSettled(Array.from({ length: 6 }, () => lockFolder(deep)));
    const held = locks.flatMap((lock) => (lock.status === "fulfilled" ? [lock.value] : []));
    expect(held.length).toBeLessThanOrEqual(1);
    for (const lock of held) lock[Symbol.dispose]();
  }
  const script = `require("node:net").createServer().listen("/proc/self/fd/" + require("node:fs").openSync(${JSON.stringify(deep)}) + "/.lock-1-ab", () => process.kill(process.pid, 9))`;
  spawnSync(process.execPath, ["-e", script]);
  expect(readdirSync(deep)).toContain(".lock-1-ab");
  const last = await lockFolder(deep);
  expect(readdirSync(deep)).toEqual([expect.stringMatching(/^\.lock-\d+-[0-9a-f]{12}$/)]);
  last[Symbol.dispose]();
  expect(readdirSync(deep)).toEqual([]);
});

test("whether a folder is locked can be asked without taking it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-asked-"));
  expect(await isLocked(dir)).toBe(false);
  const lock = await lockFolder(dir);
  expect(await isLocked(dir)).toBe(true);
  lock[Symbol.dispose]();
  expect(await isLocked(dir)).toBe(false);
  expect(await isLocked(join(dir, "none"))).toBe(false);
  rmSync(dir, { recursive: true });
});
