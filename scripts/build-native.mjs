// Builds the native core with cmake-js. npm install, node-gyp (binding.gyp) and `npx hone build` all end here.
// HONE_CMAKE_ARGS="-DNAME=VALUE ..." overrides options; HONE_JOBS limits parallel compiles.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const cmakeJs = path.join(path.dirname(require.resolve("cmake-js/package.json")), "bin/cmake-js");

const flag = process.argv.indexOf("--config");
const config = (flag > 0 ? process.argv[flag + 1] : undefined) ?? process.env.HONE_BUILD_TYPE ?? "Release";
// Every option every time: cmake-js keeps stale cache values otherwise.
const options = {
  HONE_CUDA: "AUTO",
  HONE_CUDA_SHIM: "OFF",
  HONE_MARCH: "default",
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

const flags = ["-d", root, "-O", path.join(root, "build/cmake"), "-B", config];
for (const [name, value] of Object.entries(options)) flags.push(`--CD${name}=${value}`);
const env = { ...process.env };
for (const name of ["MAKEFLAGS", "MAKELEVEL", "MFLAGS"]) delete env[name]; // we may run inside node-gyp's make

function run(...args) {
  const result = spawnSync(process.execPath, [cmakeJs, ...args, ...flags], { stdio: "inherit", env });
  if (result.status !== 0) process.exit(result.status ?? 1);
}
run("configure");
run("build", "-p", String(process.env.HONE_JOBS ?? availableParallelism()));
