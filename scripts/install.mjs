// npm's install step: build the native core here, or say exactly what is missing. Downloads nothing.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

if (process.env.HONE_SKIP_NATIVE === "1") {
  console.log("hone: HONE_SKIP_NATIVE=1, the native core is not built (npx hone build does it later)");
  process.exit(0);
}

/** A prebuilt binary counts only if it loads, tried in a child: a bad one can crash the process. */
function prebuildLoads() {
  if (process.env.npm_config_build_from_source || !existsSync(path.join(root, "prebuilds"))) return false;
  const file = require("node-gyp-build").path(root);
  if (!file.includes(`${path.sep}prebuilds${path.sep}`)) return false;
  const probe = spawnSync(process.execPath, ["-e", `require(${JSON.stringify(file)})`]);
  if (probe.status !== 0) console.log(`hone: ${file} does not load here: building from source`);
  return probe.status === 0;
}

if (!prebuildLoads()) {
  if (spawnSync("cmake", ["--version"]).status !== 0) {
    console.error("hone: cmake >= 3.22 is needed to build the native core.");
    console.error("      Debian/Ubuntu: apt-get install cmake g++ ninja-build");
    process.exit(1);
  }
  const build = spawnSync(process.execPath, [path.join(root, "scripts/build-native.mjs")], {
    stdio: "inherit",
  });
  process.exit(build.status ?? 1);
}
