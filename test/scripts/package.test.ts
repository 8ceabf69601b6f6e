import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
// @ts-expect-error a script, not a module with types
import { chosenModules, importedByBench, startedModules } from "../../scripts/bundle.mjs";
// @ts-expect-error a script, not a module with types
import { packPackage, READ_AT_RUN_TIME } from "../../scripts/package.mjs";
import { long } from "../long.ts";
import { patient } from "../patience.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Files of dist/ and packages that a module loads before anything on demand: its static imports, and theirs. */
function loadedAtStart(module: string): { files: string[]; bytes: number; packages: string[]; text: string } {
  const files = new Set([join(ROOT, "dist", module)]);
  const packages = new Set<string>();
  const texts: string[] = [];
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    texts.push(text);
    for (const [, from] of text.matchAll(/^(?:import|export)\b[^"'`;]*"([^"]+)";?$/gm))
      if (from!.startsWith(".")) files.add(join(dirname(file), from!));
      else if (!from!.startsWith("node:")) packages.add(from!);
  }
  const text = texts.join("\n");
  return { files: [...files], bytes: Buffer.byteLength(text), packages: [...packages].sort(), text };
}

test.each([
  { module: "lib/index.js", files: 14, kB: 850 },
  { module: "lib/cli/main.js", files: 1, kB: 4 },
  { module: "lib/rewards/pool/verifier-main.js", files: 9, kB: 300 },
])("$module loads at most $files files of $kB kB, and no package", ({ module, files, kB }) => {
  const loaded = loadedAtStart(module);
  expect(loaded.files.length).toBeLessThanOrEqual(files);
  expect(loaded.bytes / 1000).toBeLessThanOrEqual(kB);
  expect(loaded.packages).toEqual([]);
});

test.runIf(long)(
  "the package has at most 400 files, of them one of declarations for each entry point and one they share",
  async () => {
    const into = mkdtempSync(join(tmpdir(), "hone-pack-"));
    onTestFinished(() => rmSync(into, { recursive: true, force: true }));
    const { files } = (await packPackage(into, { prebuilt: false })) as { files: { path: string }[] };
    const names = files.map(({ path }) => path);
    expect(names.length).toBeLessThanOrEqual(395); // prebuilt cores are up to five more
    expect(names.filter((name) => name.startsWith("bench/") || name.endsWith(".map"))).toEqual([]);
    expect(names.filter((name) => name.startsWith("dist/") && name.endsWith(".d.ts")).length).toBeLessThan(8);
  },
  patient(120_000),
);

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
  const others = readdirSync(join(ROOT, "lib"), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.[a-z]+$/.test(name) && !name.endsWith(".ts"))
    .map((name) => join("lib", name));
  expect(others).toContain("lib/rewards/python/reward_host.py");
  const { files } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { files: string[] };
  const isIn = (list: readonly string[], name: string) =>
    list.some((one) => `${name}/`.startsWith(`${one}/`));
  for (const name of others) {
    expect(isIn(files, name), `${name} in package.json`).toBe(true);
    expect(isIn(READ_AT_RUN_TIME, name), `${name} in scripts/package.mjs`).toBe(true);
  }
});
