import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { ownModule, ownThread } from "../lib/own-module.ts";
import { ROOT } from "./fixtures/command-line.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-own-module-"));
  const text = (how: string) => `
    import { parentPort } from "node:worker_threads";
    const said${how === "source" ? ": string" : ""} = "${how}";
    if (parentPort) parentPort.postMessage(said); else console.log(said);`;
  writeFileSync(join(dir, "begin.ts"), text("source"));
  writeFileSync(join(dir, "begin.js"), text("compiled"));
  writeFileSync(join(dir, "package.json"), '{ "type": "module" }');
});
afterAll(() => rmSync(dir, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

const here = (name: string) => pathToFileURL(join(dir, name)).href;

test.each([
  ["asking.ts", "source"],
  ["asking.js", "compiled"],
])("beside %s a process and a thread begin with the %s", async (asking, how) => {
  vi.stubEnv("HONE_FROM_DIST", undefined);
  const { path, execArgv } = ownModule("begin", here(asking));
  expect(execFileSync(process.execPath, [...execArgv, path], { cwd: dir, encoding: "utf8" }).trim()).toBe(
    how,
  );
  const thread = ownThread("begin", here(asking), {});
  expect(await once(thread, "message")).toEqual([how]);
  await thread.terminate();
});

test("where dist/ is said to be as new as the sources, it is taken", () => {
  vi.stubEnv("HONE_FROM_DIST", "1");
  expect(ownModule("role-main", new URL("../lib/fleet/supervisor.ts", import.meta.url).href)).toEqual({
    path: join(ROOT, "dist/lib/fleet/role-main.js"),
    execArgv: [],
  });
});
