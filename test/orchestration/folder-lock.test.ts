import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockFolder } from "../../lib/orchestration/folder-lock.ts";

// Mutants tried: named after the path, not released, a busy folder taken for a place without sockets.

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-lock-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
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
  const path = new URL("../../lib/orchestration/folder-lock.ts", import.meta.url).href;
  const script = `import(${JSON.stringify(path)}).then(async ({ lockFolder }) => { await lockFolder(${JSON.stringify(dir)}); console.log("held"); setInterval(() => {}, 1000); })`;
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), "-e", script], {
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
  const path = new URL("../../lib/orchestration/folder-lock.ts", import.meta.url).href;
  const script = `import(${JSON.stringify(path)}).then(({ lockFolder }) => lockFolder(${JSON.stringify(dir)}))`;
  execFileSync(process.execPath, ["--import", import.meta.resolve("tsx"), "-e", script], { timeout: 20_000 });
});
