// Builds the native core with cmake-js. npm install, node-gyp (binding.gyp) and `npx hone build` call it.
// --cuda makes a machine without nvcc an error. HONE_CMAKE_ARGS="-DNAME=VALUE ..." overrides options; HONE_JOBS limits
// parallel compiles. The addon goes to build/<config>/, where node-gyp-build prefers it to the package's prebuilt one.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { discardForeignCache } from "./build-cache.mjs";
import { runTelling } from "./build-progress.mjs";

const require = createRequire(import.meta.url);
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const cmakeJs = path.join(path.dirname(require.resolve("cmake-js/package.json")), "bin/cmake-js");

const flag = process.argv.indexOf("--config");
const config = (flag > 0 ? process.argv[flag + 1] : undefined) ?? process.env.HONE_BUILD_TYPE ?? "Release";
// cmake-js keeps stale cache values for options that are not given, so every call gives all of them.
const options = {
  // Sixteen files are compiled together, in half of the time; OFF, while one file is being edited, compiles each by itself.
  CMAKE_UNITY_BUILD: "ON",
  HONE_CUDA: process.argv.includes("--cuda") ? "ON" : "AUTO",
  HONE_CUDA_SHIM: "OFF",
  HONE_GLOO: "AUTO",
  HONE_MARCH: "default",
  HONE_PCH: "OFF",
  HONE_PORTABLE: "OFF",
  HONE_SANITIZE: "off",
  HONE_TESTS: "OFF",
  HONE_ADDON: "ON",
  HONE_WERROR: "OFF",
};
for (const arg of (process.env.HONE_CMAKE_ARGS ?? "").split(/\s+/).filter(Boolean)) {
  if (!/^-D[^=]+=.+$/.test(arg)) throw new Error(`HONE_CMAKE_ARGS takes only -DNAME=VALUE, got ${arg}`);
  const eq = arg.indexOf("=");
  options[arg.slice(2, eq).replace(/:.*/, "")] = arg.slice(eq + 1);
}

const build = path.join(root, "build/cmake");
const flags = ["-d", root, "-O", build, "-B", config];
for (const [name, value] of Object.entries(options)) flags.push(`--CD${name}=${value}`);
const env = { ...process.env };
for (const name of ["MAKEFLAGS", "MAKELEVEL", "MFLAGS"]) delete env[name]; // this script may run inside node-gyp's make

async function run(...args) {
  const status = await runTelling(process.execPath, [cmakeJs, ...args, ...flags], env);
  if (status !== 0) process.exit(status);
}
// The published package has its C++ sources as one archive, since most installations never need them.
if (!existsSync(path.join(root, "csrc"))) {
  const { status, error } = spawnSync("tar", ["-xzf", "csrc.tgz"], { cwd: root, stdio: "inherit" });
  if (status !== 0) {
    console.error(`hone: csrc.tgz is not unpacked: ${error?.message ?? `tar ended with ${status}`}`);
    process.exit(1);
  }
}
discardForeignCache(build, root);
await run("configure");
await run("build", "-p", String(process.env.HONE_JOBS ?? availableParallelism()));
