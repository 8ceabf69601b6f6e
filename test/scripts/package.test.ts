import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import { chosenModules, importedByBench, startedModules } from "../../scripts/bundle.mjs";
// @ts-expect-error a script, not a module with types
import { READ_AT_RUN_TIME } from "../../scripts/package.mjs";

test("modules that processes and threads begin with are entries of the bundle", () => {
  const source =
    'const main = ownModule("role-main", import.meta.url);\nownThread("watchdog", import.meta.url, {});';
  expect(startedModules("lib/fleet/supervisor.ts", source)).toEqual([
    "lib/fleet/role-main",
    "lib/fleet/watchdog",
  ]);
});

test("modules that are chosen at run time are entries, each that may be meant", () => {
  const source = `await import(\`./\${domain}/cases.ts\`); await import(\`./\${domain}.ts\`);`;
  expect(chosenModules("lib/domains/a.ts", source, ["math", "code"])).toEqual([
    "lib/domains/math/cases",
    "lib/domains/code/cases",
  ]);
});

test("modules that benches import are entries too", () => {
  const source = 'import { a } from "../dist/lib/random.js";\nconst b = await built("domains/index.js");';
  expect(importedByBench(source)).toEqual(["lib/random", "lib/domains/index"]);
});

test("what lib/ has besides TypeScript, and reads, is in the package", () => {
  const root = join(import.meta.dirname, "../..");
  const others = readdirSync(join(root, "lib"), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.[a-z]+$/.test(name) && !name.endsWith(".ts"))
    .map((name) => join("lib", name));
  expect(others).toContain("lib/rewards/python/reward_host.py");
  const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { files: string[] };
  const isIn = (list: readonly string[], name: string) =>
    list.some((one) => `${name}/`.startsWith(`${one}/`));
  for (const name of others) {
    expect(isIn(files, name), `${name} in package.json`).toBe(true);
    expect(isIn(READ_AT_RUN_TIME, name), `${name} in scripts/package.mjs`).toBe(true);
  }
});
