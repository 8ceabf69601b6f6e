// Writes dist/ in a checkout. Installed packages carry it already.
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
// In a checkout, `npx hone` first installs the checkout into a folder of npx, where the existing build is sufficient.
if (process.env.npm_command === "exec" && existsSync(path.join(root, "dist/lib/cli/main.js")))
  process.exit(0);
if (!existsSync(path.join(root, "node_modules/rolldown"))) {
  console.log("hone: no bundler here (--omit=dev): dist/ is not built");
  process.exit(0);
}
const { writeDist } = await import("./bundle.mjs");
await writeDist();
