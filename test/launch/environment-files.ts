import { readFileSync } from "node:fs";

/** Returns the environment of a launcher's process, as `env` printed it in environments/<name>.env. */
export function environmentOf(name: string, changes: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const lines = readFileSync(new URL(`environments/${name}.env`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n");
  const captured = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2) as [string, string]));
  return { ...captured, ...changes };
}
