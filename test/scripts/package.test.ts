import { expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import { importedByBench, startedModules } from "../../scripts/package.mjs";

test("modules that processes and threads begin with are entries of the bundle", () => {
  const source =
    'const main = ownModule("role-main", import.meta.url);\nownThread("watchdog", import.meta.url, {});';
  expect(startedModules("lib/fleet/supervisor.ts", source)).toEqual([
    "lib/fleet/role-main",
    "lib/fleet/watchdog",
  ]);
});

test("modules that benches import are entries too", () => {
  const source = 'import { a } from "../dist/lib/random.js";\nconst b = await built("domains/index.js");';
  expect(importedByBench(source)).toEqual(["lib/random", "lib/domains/index"]);
});
