// npm test: the C++ tests (ctest, under ASan and UBSan), then vitest; one closing line counts both.
// HONE_TEST_NATIVE=0 leaves the C++ part out; HONE_SANITIZE=off|thread|... builds it otherwise.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const jobs = String(process.env.HONE_JOBS ?? availableParallelism());

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, ...options });
  if (result.error) {
    console.error(`hone: cannot run ${command}: ${result.error.message}`);
    process.exit(1);
  }
  return result;
}

/** Builds and runs every C++ test; returns counts of cases. A failing program's output is shown whole. */
function nativeTests() {
  const sanitize = process.env.HONE_SANITIZE ?? "address,undefined";
  const build = path.join(root, "build", `tests-${sanitize.replaceAll(",", "-")}`);
  const options = ["-DHONE_TESTS=ON", "-DHONE_ADDON=OFF", "-DHONE_CUDA=OFF", "-DHONE_WERROR=ON"];
  // Threads under ThreadSanitizer cannot be fibers.
  options.push(`-DHONE_CUDA_SHIM=${sanitize.includes("thread") ? "OFF" : "ON"}`);
  const ninja = spawnSync("ninja", ["--version"]).status === 0 ? ["-G", "Ninja"] : [];
  // Instrumented code is checked, not timed, and compiles fastest at -O0; what runs long has -O1 (CMakeLists.txt).
  const flags = [
    ...options,
    `-DHONE_SANITIZE=${sanitize}`,
    "-DCMAKE_BUILD_TYPE=Release",
    `-DCMAKE_CXX_FLAGS_RELEASE=${sanitize === "off" ? "-O1" : "-O0"}`,
  ];
  for (const args of [
    ["-S", root, "-B", build, ...ninja, ...flags],
    ["--build", build, "-j", jobs],
  ]) {
    const step = run("cmake", args, { stdio: ["ignore", "pipe", "inherit"] });
    if (step.status !== 0) {
      console.error(step.stdout.slice(-8000));
      process.exit(1);
    }
  }
  const tests = run("ctest", ["--test-dir", build, "-V", "-j", jobs]);
  const text = tests.stdout.replaceAll(/^\d+: /gm, "");
  const count = { passed: 0, failed: 0, skipped: 0 };
  for (const [, cases, , skipped] of text.matchAll(/^(\d+) cases, (\d+) failures, (\d+) skipped$/gm)) {
    count.passed += Number(cases) - Number(skipped);
    count.skipped += Number(skipped);
  }
  const broken = [...text.matchAll(/^FAIL /gm)].length;
  count.failed = tests.status === 0 ? 0 : Math.max(1, broken);
  count.passed -= broken;
  console.log(tests.status === 0 ? text.slice(text.lastIndexOf("\n\n") + 1).trim() : text);
  console.log(`native: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  return count;
}

const args = process.argv.slice(2);
const native = process.env.HONE_TEST_NATIVE === "0" || args.length > 0 ? undefined : nativeTests();
const vitest = path.join(
  path.dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
  "vitest.mjs",
);
const suite = run(process.execPath, [vitest, "run", ...args], {
  stdio: "inherit",
  env: { ...process.env, HONE_NATIVE_COUNT: native ? JSON.stringify(native) : "" },
});
process.exit(suite.status === 0 && !native?.failed ? 0 : 1);
