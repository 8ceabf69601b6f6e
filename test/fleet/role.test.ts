import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { PROCESS_EXIT } from "../../lib/fleet/environment.ts";
import { runRole } from "../../lib/fleet/role.ts";
import { ownModule } from "../../lib/own-module.ts";
import { staticReachOf } from "../architecture/source-tree.ts";

const environment = { role: "actor", rank: 0, worldSize: 1, runId: "run-1", epoch: 1 } as const;
const { signal } = new AbortController();

test("an address that no process could use ends it for good, and says why", async () => {
  const said: string[] = [];
  const code = await runRole({ ...environment, store: "carrier-pigeon:7" }, signal, (line) =>
    said.push(line),
  );
  expect(code).toBe(PROCESS_EXIT.config);
  expect(said.join("\n")).toMatch(/^HONE_ERR_USAGE .*carrier-pigeon:7 is not an address/);
});

test("a run that the store does not know may be there the next time", async () => {
  const said: string[] = [];
  const code = await runRole({ ...environment, store: "memory:" }, signal, (line) => said.push(line));
  expect(code).toBe(PROCESS_EXIT.restart);
  expect(said.join("\n")).toMatch(/^HONE_ERR_STREAM .*run-1/);
});

test("one whose coordinator was gone before it had loaded ends at once", async () => {
  const { execArgv, path } = ownModule(
    "role-main",
    new URL("../../lib/fleet/supervisor.ts", import.meta.url).href,
  );
  const loading = `const gone = new Promise((end) => process.once("disconnect", end)); process.send(0); await gone;`;
  const before = ["--import", `data:text/javascript,${encodeURIComponent(loading)}`];
  const child = spawn(process.execPath, [...execArgv, ...before, path], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  await once(child, "message");
  child.disconnect();
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
});

test("a process loads what its role does, and nothing of what decides: it begins in a third of the time", () => {
  const loaded = staticReachOf("lib/fleet/role-main.ts");
  const entryPoints = ["config", "domains", "orchestration", "rewards", "metrics"].map(
    (module) => `lib/${module}/index.ts`,
  );
  expect(loaded.filter((file) => entryPoints.includes(file))).toEqual([]);
  expect(loaded.length).toBeLessThan(120);
});
