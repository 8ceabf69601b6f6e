// Compiles lib/ and recipes/ to dist/ in a checkout, with the language profiles of langdetect. Installed packages carry
// dist/ already.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
// In a checkout `npx hone` installs the checkout into a folder of npx first: what is compiled already will do.
if (process.env.npm_command === "exec" && existsSync(path.join(root, "dist/lib/cli/main.js")))
  process.exit(0);
const folderOf = (name) => path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
let tsc;
try {
  tsc = path.join(folderOf("typescript"), "bin/tsc");
} catch {
  console.log("hone: no TypeScript here (--omit=dev): dist/ is not built");
  process.exit(0);
}
// As npm run build:ts: several checkers find the same types several times, and little is there to collect.
const build = spawnSync(
  process.execPath,
  [tsc, "-p", path.join(root, "tsconfig.build.json"), "--checkers", "1"],
  { stdio: "inherit", env: { ...process.env, GOGC: "400" } },
);
for (const part of ["profiles", "res", "LICENSE"])
  cpSync(path.join(folderOf("langdetect"), part), path.join(root, "dist/langdetect", part), {
    recursive: true,
  });
process.exit(build.status ?? 1);
