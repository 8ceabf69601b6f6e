import { readFileSync } from "node:fs";

/** As a launcher's process printed it by `env`; environments/ says whose by its name. */
export function environmentOf(name: string, changes: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const lines = readFileSync(new URL(`environments/${name}.env`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n");
  const captured = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2) as [string, string]));
  return { ...captured, ...changes };
}
