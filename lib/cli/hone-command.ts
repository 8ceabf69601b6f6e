import { fileURLToPath } from "node:url";

/** Command line that runs this command again, from source or from dist/, without a verb. */
export function honeCommand(): string[] {
  const main = import.meta.url.endsWith(".ts") ? "main.ts" : "main.js";
  return [process.execPath, ...process.execArgv, fileURLToPath(new URL(main, import.meta.url))];
}
