import { execFileSync } from "node:child_process";
import type { Job } from "../../lib/launch/index.ts";

export const jobOf = (changes: Partial<Job> = {}): Job => ({
  name: "apriel-15b",
  nodes: 8,
  gpusPerNode: 8,
  hone: ["node", "/opt/hone/main.js"],
  agent: ["/shared/it's here.ts", "--dir", "/shared/runs/apriel-15b"],
  dir: "/shared/runs/apriel-15b",
  graceSeconds: 120,
  maxRestarts: 20,
  ...changes,
});

/** Throws bash's error if the script has a syntax error. */
export const expectBash = (script: string): void => void execFileSync("bash", ["-n"], { input: script });

/** The lines of a script that are not comments. */
export const orders = (text: string): string[] =>
  text.split("\n").filter((line) => line.trim() !== "" && !/^\s*#(?!SBATCH|!)/.test(line));
