// npm test: vitest without the files that start processes, browsers or servers (test/retried.ts), which is half of its
// time; npm run test:processes: those files. npm test -- FILES runs the files it is given, whatever they start.
// npm run test:native: the C++ tests (ctest, under ASan and UBSan). npm run test:long: the files with tests that both
// leave out for their length. npm run test:all: everything. One closing line counts what ran.
// HONE_TEST_NATIVE says which: unset or 0 vitest alone; 1 both; only the C++ tests; compile nothing but compiles them;
// ran vitest, and the closing line counts what the last run of all C++ tests counted; core,engine/step the C++ tests of
// those modules and programs. HONE_TEST_ALL (test/long.ts) adds long tests and runs every file.
// HONE_TEST_FILES=no-processes|processes|long says which files run (vitest.config.ts).
// HONE_SANITIZE=off|thread|... builds them otherwise.
import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { stepTeller } from "./build-progress.mjs";
import { nvccVersion } from "./cuda-resources.mjs";
import {
  countCases,
  PASSED,
  programResult,
  skipLines,
  sourcesHash,
  testPattern,
  testPrograms,
} from "./native-tests.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const jobs = String(process.env.HONE_JOBS ?? availableParallelism());
const RESOURCES = path.join(root, "scripts/cuda-resources.mjs");
const SANITIZERS = "address,undefined";
const sanitize = process.env.HONE_SANITIZE ?? SANITIZERS;
const asked = process.env.HONE_TEST_NATIVE || "0";
const modules = /^([01]|only|compile|ran)$/.test(asked) ? [] : asked.split(",").filter(Boolean);
const args = process.argv.slice(2);
const BUILD_LINE_MS = 10_000;
const build = path.join(root, "build", `tests-${sanitize.replaceAll(",", "-")}`);
const counted = path.join(build, "count.json"); // of the last run of all of them that came to its end

/** Runs a command and tells `onLine` what it prints; its status and all of its output. */
function follow(command, argv, onLine) {
  const child = spawn(command, argv, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (part) => {
    text += part;
    const lines = (rest + part).split("\n");
    rest = lines.pop();
    for (const line of lines) onLine(line);
  });
  return new Promise((resolve) => {
    child.on("error", (error) => {
      console.error(`hone: cannot run ${command}: ${error.message}`);
      process.exit(1);
    });
    child.on("close", (status) => resolve({ status, text }));
  });
}

/** Configures and compiles the programs of `modules`, or all. Ends the process where they do not compile. */
async function compile() {
  rmSync(counted, { force: true });
  const ninja = spawnSync("ninja", ["--version"]).status === 0 ? ["-G", "Ninja"] : [];
  const options = [
    "-DHONE_TESTS=ON",
    "-DHONE_ADDON=OFF",
    "-DHONE_CUDA=OFF",
    "-DHONE_WERROR=ON",
    // Threads under ThreadSanitizer cannot be fibers.
    `-DHONE_CUDA_SHIM=${sanitize.includes("thread") ? "OFF" : "ON"}`,
    `-DHONE_SANITIZE=${sanitize}`,
    // One test program for each module compiles in a third of the time of one for each file.
    `-DHONE_TEST_MODULES=${modules.length === 0 ? "ON" : "OFF"}`,
    "-DCMAKE_BUILD_TYPE=Release",
    // Instrumented code is checked, not timed, and compiles fastest at -O0; what runs long has -O1 (CMakeLists.txt).
    `-DCMAKE_CXX_FLAGS_RELEASE=${sanitize === "off" ? "-O1" : "-O0"}`,
  ];
  const sources = readdirSync(path.join(root, "test/csrc"), { recursive: true });
  const targets = modules.length === 0 ? [] : ["--target", ...testPrograms(sources, modules)];
  const tell = stepTeller(console.log, { what: "compiling the C++ tests", everyMs: BUILD_LINE_MS });
  for (const argv of [
    ["-S", root, "-B", build, ...ninja, ...options],
    ["--build", build, "-j", jobs, ...targets],
  ]) {
    const step = await follow("cmake", argv, tell);
    if (step.status !== 0) {
      console.error(step.text.slice(-8000));
      process.exit(1);
    }
  }
}

/** Builds and runs the C++ tests; counts of cases. A line a program; a failing one's output is shown whole. */
async function nativeTests() {
  await compile();
  const only = modules.length === 0 ? [] : ["-R", testPattern(modules)];
  const tests = await follow("ctest", ["--test-dir", build, "-V", "-j", jobs, ...only], (line) => {
    const result = programResult(line);
    if (result !== undefined) console.log(result);
  });
  const text = tests.text.replaceAll(/^\d+: /gm, "");
  const count = countCases(text, tests.status === 0);
  if (tests.status !== 0) console.log(text);
  for (const line of skipLines(text)) console.log(line);
  console.log(`native: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  if (modules.length === 0) writeFileSync(counted, JSON.stringify(count));
  if (modules.length === 0 && count.failed === 0 && sanitize === SANITIZERS) record(count);
  return count;
}

/** Writes PASSED. Outside of .ci/run, which compiles the kernels by itself, nvcc compiles them for it first. */
function record(count) {
  const check = process.env.CI ? undefined : spawnSync(process.execPath, [RESOURCES], { stdio: "inherit" });
  if (check !== undefined && check.status !== 0) count.failed += 1;
  if (count.failed > 0) return;
  const { passed, skipped } = count;
  const run = { sources: sourcesHash(root), passed, skipped, nvcc: check && nvccVersion() };
  writeFileSync(path.join(root, PASSED), `${JSON.stringify(run, null, 2)}\n`);
}

if (asked === "compile") {
  await compile();
  process.exit(0);
}
const isOfNative = asked !== "0" && args.length === 0;
const ran = asked === "ran" && isOfNative;
const native = ran ? JSON.parse(readFileSync(counted, "utf8")) : isOfNative ? await nativeTests() : undefined;
if (!/^([01]|ran)$/.test(asked)) process.exit(native?.failed ? 1 : 0);
// A landing and npm run test:all set HONE_TEST_ALL.
const { HONE_TEST_ALL: all, HONE_TEST_FILES: files = all || args.length > 0 ? "" : "no-processes" } =
  process.env;
const vitest = path.join(
  path.dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
  "vitest.mjs",
);
const suite = spawnSync(process.execPath, [vitest, "run", ...args], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, HONE_TEST_FILES: files, HONE_NATIVE_COUNT: native ? JSON.stringify(native) : "" },
});
process.exit(suite.status === 0 && !native?.failed ? 0 : 1);
