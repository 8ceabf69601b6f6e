// npm's install step. It takes the prebuilt CPU core of the package if that loads. It builds the core here if nvcc is
// installed, so that CUDA is compiled in, or if there is no prebuilt core. It says exactly what is missing, and
// downloads nothing.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const OLDEST_CMAKE = [3, 22];

if (process.env.HONE_SKIP_NATIVE === "1") {
  console.log("hone: HONE_SKIP_NATIVE=1, the native core is not built (npx hone build does it later)");
  process.exit(0);
}
if (process.platform !== "linux" || !["x64", "arm64"].includes(process.arch)) {
  console.error(
    `hone: runs on Linux on x86-64 (x64) or arm64, not on ${process.platform} on ${process.arch}.`,
  );
  console.error("      With Docker: docker run -it node:22-bookworm");
  process.exit(1);
}

/** True if an addon loads. A child process tries it, because a bad addon can crash the process. */
function loads(file) {
  return spawnSync(process.execPath, ["-e", `require(${JSON.stringify(file)})`]).status === 0;
}

function prebuildLoads() {
  if (process.env.npm_config_build_from_source || !existsSync(path.join(root, "prebuilds"))) return false;
  const file = require("node-gyp-build").path(root);
  if (!file.includes(`${path.sep}prebuilds${path.sep}`)) return false;
  const isGood = loads(file);
  if (!isGood) console.log(`hone: ${file} does not load here: building from source`);
  return isGood;
}

/**
 * In a checkout, `npx hone` first installs the checkout into a folder of npx, where the existing build is sufficient.
 */
function isBuiltForNpx() {
  const file = path.join(root, "build/Release/hone.node");
  return process.env.npm_command === "exec" && existsSync(file) && loads(file);
}

/** Returns the missing build tools, as a text. */
function missingTools() {
  const output = (command) => spawnSync(command, ["--version"], { encoding: "utf8" }).stdout ?? "";
  const has = (...commands) => commands.some((command) => command !== undefined && output(command) !== "");
  const missing = [];
  const cmake = /version (\d+)\.(\d+)/.exec(output("cmake"));
  const isOld = cmake && (Number(cmake[1]) - OLDEST_CMAKE[0] || Number(cmake[2]) - OLDEST_CMAKE[1]) < 0;
  if (!cmake || isOld)
    missing.push(`cmake >= ${OLDEST_CMAKE.join(".")}${isOld ? ` (here: ${cmake[1]}.${cmake[2]})` : ""}`);
  if (!has(process.env.CXX, "c++", "g++", "clang++")) missing.push("a C++20 compiler");
  if (!has("ninja", "make")) missing.push("ninja or make");
  return missing;
}

/** True if nvcc is in one of the places where CMakeLists.txt looks for it. */
function hasNvcc() {
  if ((process.env.HONE_CMAKE_ARGS ?? "").includes("-DHONE_CUDA=OFF")) return false;
  const { CUDACXX, CUDA_PATH, CUDA_HOME, PATH = "" } = process.env;
  const homes = [CUDA_PATH, CUDA_HOME, "/usr/local/cuda", "/opt/cuda"].filter(Boolean);
  const files = [...PATH.split(path.delimiter), ...homes.map((home) => path.join(home, "bin"))];
  return CUDACXX !== undefined || files.some((folder) => existsSync(path.join(folder, "nvcc")));
}

/** Ends the installation: with the prebuilt core if it loads, with an error if there is none. */
function endWithout(reason, todo) {
  console.error(`hone: ${reason}.`);
  console.error(`      ${todo}`);
  if (isPrebuilt) console.error("      The prebuilt core works meanwhile, on CPUs only.");
  process.exit(isPrebuilt ? 0 : 1);
}

if (isBuiltForNpx()) process.exit(0);
const isPrebuilt = prebuildLoads();
const cuda = hasNvcc();
if (isPrebuilt && !cuda) process.exit(0);
const missing = missingTools();
if (missing.length > 0) {
  const what = cuda ? "the native core with CUDA" : "the native core";
  endWithout(
    `to build ${what}, this machine lacks ${missing.join(", ")}`,
    `Debian/Ubuntu: apt-get install cmake g++ ninja-build${isPrebuilt ? ", then npx hone build --cuda" : ""}`,
  );
}
const script = path.join(root, "scripts/build-native.mjs");
const build = spawnSync(process.execPath, [script], { stdio: "inherit" });
if (build.status !== 0)
  endWithout("the native core does not compile here", "The compiler's message is above.");
