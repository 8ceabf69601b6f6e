// npm run mutants: checks that the tests find errors. Applies the wrong edits (mutants) of test/mutants/<module>.json one at
// a time to a copy of the tree and runs the tests that must fail. Fails if a mutant survives or its text no longer occurs.
//   npm run mutants -- --only rewards,metrics --matching "stood still"    --list
// TypeScript is tested by vitest, C++ by the test programs of the mutant, built in build/mutants/cpp.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { optionsOf } from "./options.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const USAGE = `npm run mutants -- [options]
  --only a,b         modules: the files of test/mutants/
  --matching words   mutants whose file or reason has these words
  --list             says which they are and tries none`;
const lists = path.join(root, "test/mutants");
/** The time limit for building, and for a module's tests without a mutant. */
const LIMIT_MS = 900_000;
const SLOWER = 5;
const LEAST_LIMIT_MS = 120_000;
const COPIED = [
  "lib",
  "test",
  "csrc",
  "recipes",
  "scripts",
  "docs",
  "bench",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
  "CMakeLists.txt",
  "README.md",
  "biome.json",
];

/** Returns the path of the test file that corresponds to a source file. */
export const testOf = (file) =>
  file.startsWith("csrc/")
    ? `test/csrc/${file.slice(5).replace(/\.(cc|h)$/, ".test.cc")}`
    : `test/${file.slice(4).replace(/\.ts$/, ".test.ts")}`;

/** Returns modules with their mutants { file, find, replace, why, tests }; `tests` defaults to the file's own test. */
export function readMutants() {
  const modules = readdirSync(lists).filter((name) => name.endsWith(".json"));
  return modules.sort().map((name) => ({
    module: path.basename(name, ".json"),
    mutants: JSON.parse(readFileSync(path.join(lists, name), "utf8")).map((mutant) => ({
      tests: [testOf(mutant.file)],
      ...mutant,
    })),
  }));
}

/** Returns the text with the mutant in it; undefined if the text to replace does not occur exactly once. */
export function mutated(text, { find, replace }) {
  const parts = text.split(find);
  return parts.length === 2 && find !== replace ? parts.join(replace) : undefined;
}

/**
 * Makes `to` equal to `from`. Does not write files that are already equal, so that ninja, which compares times, rebuilds
 * only files that changed, such as one that had a mutant.
 */
function mirror(from, to) {
  if (!statSync(from).isDirectory()) {
    const bytes = readFileSync(from);
    if (!existsSync(to) || !bytes.equals(readFileSync(to))) writeFileSync(to, bytes);
    return;
  }
  mkdirSync(to, { recursive: true });
  const names = readdirSync(from);
  for (const name of readdirSync(to))
    if (!names.includes(name)) rmSync(path.join(to, name), { recursive: true });
  for (const name of names) mirror(path.join(from, name), path.join(to, name));
}

/** Makes a tree for mutants: copies the sources, and links the build folders and node_modules. */
function copyTree(name) {
  const tree = path.join(root, "build/mutants", name);
  mkdirSync(tree, { recursive: true });
  for (const each of COPIED) mirror(path.join(root, each), path.join(tree, each));
  const links = { build: "build", dist: "dist", node_modules: "node_modules", "../shared": "../shared" };
  for (const [link, target] of Object.entries(links)) {
    rmSync(path.join(tree, link), { force: true });
    if (existsSync(path.join(root, target))) symlinkSync(path.join(root, target), path.join(tree, link));
  }
  return tree;
}

/** Runs a command in its own process group, and kills the group: a vitest worker in an endless loop outlives vitest. */
export function run(command, args, cwd, timeout = LIMIT_MS) {
  const limits = { timeout, maxBuffer: 1 << 28, killSignal: "SIGKILL" };
  const env = { ...process.env, HONE_TEST_ALL: "landing" }; // the test that finds a mutant may be a long one
  const result = spawnSync(command, args, { cwd, env, encoding: "utf8", detached: true, ...limits });
  try {
    if (result.pid > 0) process.kill(-result.pid, "SIGKILL");
  } catch {
    // no process of the group is left
  }
  return result;
}

/** Returns the outcome by vitest's exit status and report. Only the status shows a worker that crashed. */
export function outcomeOf(status, { numFailedTests, numPassedTests, success }) {
  if (numFailedTests > 0 || (status !== 0 && numPassedTests > 0)) return "failed";
  return success && numPassedTests > 0 ? "passed" : "broken";
}

/** Returns "passed", "failed", or "broken" if the tests did not start. */
function runVitest(tree, tests, limitMs) {
  const report = path.join(tree, "mutants-report.json");
  rmSync(report, { force: true });
  const flags = ["--bail", "1", "--reporter", "json", "--outputFile", report];
  const { error, status } = run(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", ...tests, ...flags],
    tree,
    limitMs,
  );
  if (error?.code === "ETIMEDOUT") return "failed";
  if (!existsSync(report)) return "broken";
  return outcomeOf(status, JSON.parse(readFileSync(report, "utf8")));
}

/** Returns CMake's name of the program of a test source. */
const program = (test) => `test_${test.slice("test/csrc/".length, -".test.cc".length).replaceAll("/", "_")}`;

function runPrograms(tree, tests, limitMs) {
  const build = path.join(root, "build/mutants/cpp");
  if (!existsSync(path.join(build, "build.ninja"))) {
    // Tests of CUDA sources run in the emulation; if they were skipped, all their mutants would survive.
    const modules = ["HONE_TESTS=ON", "HONE_ADDON=OFF", "HONE_CUDA=OFF", "HONE_CUDA_SHIM=ON"];
    const options = [...modules, "CMAKE_BUILD_TYPE=Release", "CMAKE_CXX_FLAGS_RELEASE=-O1"];
    const flags = options.map((option) => `-D${option}`);
    const { status, stderr } = run("cmake", ["-S", tree, "-B", build, "-G", "Ninja", ...flags], tree);
    if (status !== 0) throw new Error(stderr);
  }
  const targets = tests.map(program);
  if (spawnSync("ninja", ["-C", build, ...targets], { encoding: "utf8" }).status !== 0) return "broken";
  const isFine = (target) => run(path.join(build, target), [], tree, limitMs).status === 0;
  return targets.every(isFine) ? "passed" : "failed";
}

const isNative = ({ file }) => file.startsWith("csrc/");
const runTests = (tree, mutant, tests, limitMs) =>
  isNative(mutant) ? runPrograms(tree, tests, limitMs) : runVitest(tree, tests, limitMs);

/** Returns "died", "survived", "broken" or "no longer applies". */
function tryMutant(tree, mutant, limitMs) {
  const file = path.join(tree, mutant.file);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const changed = mutated(text, mutant);
  if (changed === undefined) return "no longer applies";
  writeFileSync(file, changed);
  try {
    return { failed: "died", passed: "survived", broken: "broken" }[
      runTests(tree, mutant, mutant.tests, limitMs)
    ];
  } finally {
    writeFileSync(file, text);
  }
}

/** Returns the time limit of tests with a mutant, which may loop for ever: a multiple of their time without one. */
export const limitOf = (healthyMs) => Math.ceil(Math.max(LEAST_LIMIT_MS, SLOWER * healthyMs));

/** Returns the mutants whose file or reason contains a text, by module. Throws if there are none. */
export function chosen(all, { only, matching = "" }) {
  const wanted = only?.split(",");
  const unknown = wanted?.find((name) => !all.some(({ module }) => module === name));
  if (unknown !== undefined)
    throw new Error(`no module ${unknown}; there are ${all.map(({ module }) => module).join(", ")}`);
  const has = ({ file, why }) => file.includes(matching) || why.includes(matching);
  const modules = all
    .filter(({ module }) => wanted?.includes(module) ?? true)
    .map(({ module, mutants }) => ({ module, mutants: mutants.filter(has) }))
    .filter(({ mutants }) => mutants.length > 0);
  if (modules.length === 0) throw new Error(`no mutant has "${matching}" in its file or its reason`);
  return modules;
}

/** Counts how many of a module's mutants died, survived, and so on. Throws if its tests fail without a mutant. */
function tryModule(tree, { module, mutants }) {
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
  const begun = performance.now();
  if (runTests(tree, mutants[0], tests, LIMIT_MS) !== "passed")
    throw new Error(`${module}: the tests fail without a mutant`);
  const limitMs = limitOf(performance.now() - begun);
  const counts = { module, died: 0, survived: 0, broken: 0, "no longer applies": 0 };
  for (const mutant of mutants) {
    const end = tryMutant(tree, mutant, limitMs);
    counts[end] += 1;
    console.log(`${end.padEnd(8)}  ${mutant.file}: ${mutant.why}`);
    if (end !== "died") console.log(`          ${mutant.find}\n       -> ${mutant.replace}`);
  }
  return counts;
}

function main() {
  const text = { type: "string" };
  const values = optionsOf({ only: text, matching: text, list: { type: "boolean" } }, USAGE);
  const modules = chosen(readMutants(), values);
  if (values.list) {
    for (const { module, mutants } of modules)
      for (const { file, why } of mutants) console.log(`${module.padEnd(24)} ${file}: ${why}`);
    return;
  }
  const trees = {};
  const table = modules.map((module) => {
    const kind = isNative(module.mutants[0]) ? "ctest" : "vitest";
    trees[kind] ??= copyTree(kind);
    return tryModule(trees[kind], module);
  });
  console.table(table);
  if (table.some((counts) => counts.survived + counts.broken + counts["no longer applies"] > 0))
    process.exitCode = 1;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    main();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 2;
  }
}
