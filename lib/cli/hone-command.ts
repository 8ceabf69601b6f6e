import { fileURLToPath } from "node:url";

/** What stands before a verb to run this command again, from source or from dist/. */
export function honeCommand(): string[] {
  const main = import.meta.url.endsWith(".ts") ? "main.ts" : "main.js";
  return [process.execPath, ...process.execArgv, fileURLToPath(new URL(main, import.meta.url))];
}
