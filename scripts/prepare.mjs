// Compiles lib/ and recipes/ to dist/ in a checkout. Installed packages carry dist/ already.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
let tsc;
try {
  tsc = path.join(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
} catch {
  console.log("hone: no TypeScript here (--omit=dev): dist/ is not built");
  process.exit(0);
}
const build = spawnSync(process.execPath, [tsc, "-p", path.join(root, "tsconfig.build.json")], {
  stdio: "inherit",
});
process.exit(build.status ?? 1);
