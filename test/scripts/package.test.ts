import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
// @ts-expect-error a script, not a module with types
import { chosenModules, importedByBench, startedModules } from "../../scripts/bundle.mjs";
// @ts-expect-error a script, not a module with types
import { packToTry, READ_AT_RUN_TIME } from "../../scripts/package.mjs";
import { long } from "../long.ts";
import { patient } from "../patience.ts";

const ROOT = join(import.meta.dirname, "../..");

const importsOf = (text: string): string[] =>
  [...text.matchAll(/^(?:import|export)\b[^"'`;]*"([^"]+)";?$/gm)].map(([, from]) => from!);

/** The modules that a file of dist/ imports; each file is read once. */
const imported = new Map<string, string[]>();
const importsIn = (file: string): string[] => {
  const known = imported.get(file) ?? importsOf(readFileSync(file, "utf8"));
  imported.set(file, known);
  return known;
};

/** The files of dist/ that a module imports statically, directly or through other files. */
function filesAtStart(module: string): Set<string> {
  const files = new Set([join(ROOT, "dist", module)]);
  for (const file of files)
    for (const from of importsIn(file)) if (from.startsWith(".")) files.add(join(dirname(file), from));
  return files;
}

/** The files of dist/ and the packages that a module imports statically, directly or through other files. */
function loadedAtStart(module: string): { files: string[]; bytes: number; packages: string[]; text: string } {
  const files = [...filesAtStart(module)];
  const all = files.flatMap(importsIn);
  const packages = new Set(all.filter((from) => !from.startsWith(".") && !from.startsWith("node:")));
  const text = files.map((file) => readFileSync(file, "utf8")).join("\n");
  return { files, bytes: Buffer.byteLength(text), packages: [...packages].sort(), text };
}

test.each([
  { module: "lib/index.js", files: 21, kB: 850 },
  { module: "lib/cli/main.js", files: 1, kB: 4 },
  { module: "lib/rewards/pool/verifier-main.js", files: 10, kB: 51 },
  { module: "lib/rewards/pool/verifier-watchdog.js", files: 3, kB: 8 },
  { module: "lib/fleet/role-main.js", files: 10, kB: 90 },
  { module: "lib/text/chat-template.js", files: 8, kB: 160 },
  { module: "lib/verifiers/index.js", files: 20, kB: 700, packages: ["piscina"] },
])("$module loads at most $files files of $kB kB", ({ module, files, kB, packages = [] }) => {
  const loaded = loadedAtStart(module);
  expect(loaded.files.length).toBeLessThanOrEqual(files);
  expect(loaded.bytes / 1000).toBeLessThanOrEqual(kB);
  expect(loaded.packages).toEqual(packages);
});

test("verifiers and chat templates load neither the addon nor a recipe's schema", () => {
  const addon = "lib/native/load.ts";
  const schema = "lib/config/schema.ts";
  expect(loadedAtStart("lib/index.js").text).toContain(`// ${schema}\n`);
  expect(loadedAtStart("lib/native/index.js").text).toContain(`// ${addon}\n`);
  for (const module of ["lib/verifiers/index.js", "lib/text/chat-template.js"]) {
    expect(loadedAtStart(module).text).not.toContain(`// ${schema}\n`);
    expect(loadedAtStart(module).text).not.toContain(`// ${addon}\n`);
  }
});

test("no file of dist/ imports itself, however far around: a class would be undefined where it is extended", () => {
  const names = readdirSync(join(ROOT, "dist"), { recursive: true, encoding: "utf8" });
  const starts = names.filter((name) => name.endsWith(".js"));
  for (const name of starts) {
    const itself = join(ROOT, "dist", name);
    const beyond = importsIn(itself).filter((from) => from.startsWith("."));
    for (const from of beyond)
      expect(filesAtStart(join(dirname(name), from)).has(itself), `${name} by ${from}`).toBe(false);
  }
});

test("no file of dist/ imports one that runs by itself: the process that loads it would do that work, and end by it", () => {
  const names = readdirSync(join(ROOT, "dist"), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".js"));
  const runs = files.filter((name) => /^lib\/(?!chunks\/).*(?:main|-worker|-watchdog)\.js$/.test(name));
  expect(runs).toContain("lib/fleet/role-main.js");
  for (const name of files) {
    const from = importsIn(join(ROOT, "dist", name)).map((each) => join(dirname(name), each));
    expect(
      from.filter((each) => runs.includes(each) && each !== name),
      name,
    ).toEqual([]);
  }
});

test.runIf(long)(
  "the package has at most 400 files, few of them declarations, and its verifiers and chat templates stand alone",
  async () => {
    const into = mkdtempSync(join(tmpdir(), "hone-pack-"));
    onTestFinished(() => rmSync(into, { recursive: true, force: true }));
    const { files, filename } = (await packToTry(into)) as {
      files: { path: string }[];
      filename: string;
    };
    const names = files.map(({ path }) => path);
    expect(names.length).toBeLessThanOrEqual(395); // up to five prebuilt cores may be added
    expect(names.filter((name) => name.startsWith("bench/") || name.endsWith(".map"))).toEqual([]);
    expect(names.filter((name) => name.startsWith("dist/") && name.endsWith(".d.ts")).length).toBeLessThan(
      10,
    );
    // Runs the pages' examples with the package alone, without a core.
    const installed = join(into, "node_modules/hone-rl");
    mkdirSync(installed, { recursive: true });
    execFileSync("tar", ["-xzf", join(into, filename), "-C", installed, "--strip-components=1"]);
    for (const name of ["piscina", "@lezer"])
      symlinkSync(join(ROOT, "node_modules", name), join(into, "node_modules", name));
    const printed = (page: string) => {
      const example = /^```js\n(.*?)^```$/ms.exec(readFileSync(join(ROOT, "docs/how-to", page), "utf8"))![1]!;
      return execFileSync(process.execPath, ["--input-type=module", "-e", example], {
        cwd: into,
        encoding: "utf8",
      });
    };
    expect(printed("verifiers.md")).toMatch(/status: 'correct', score: 1, reason: 'equal'.*finished 42/s);
    expect(printed("chat-template.md")).toBe("<|user|>What is 2 + 2?\n<|assistant|>\n");
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
