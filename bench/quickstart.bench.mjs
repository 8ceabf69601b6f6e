// Measures the whole quick start as a user runs it: wall time, memory, tokens generated per second during training, and
// the share of a step for which the trainer waits for TypeScript: from the end of a step on its thread to the next
// call, without the waits for groups and for checkpoints. Takes half a minute; --smoke runs a tiny version, whose
// numbers mean nothing.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const folder = mkdtempSync(path.join(tmpdir(), "hone-bench-"));
const script = path.join(root, "dist/recipes/quickstart.js");
const start = performance.now();
const run = spawnSync(process.execPath, [script, "--dir", folder, ...(smoke ? ["--smoke"] : [])], {
  encoding: "utf8",
  maxBuffer: 1 << 27,
});
const wall = (performance.now() - start) / 1000;
if (run.status !== 0) {
  process.stderr.write(run.stdout + run.stderr);
  process.exit(1);
}

const summary = JSON.parse(readFileSync(path.join(folder, "summary.json"), "utf8"));
const steps = readFileSync(path.join(folder, "steps.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line).metrics);
rmSync(folder, { recursive: true });

/** The seconds over all steps except the first, whose time includes starting everything. */
const total = (...names) =>
  steps.slice(1).reduce((sum, m) => sum + names.reduce((s, name) => s + (m[`time/${name}`] ?? 0), 0), 0);
const share = (...names) => total(...names) / total("step");

const rows = [
  { name: "wall seconds, everything", value: wall, ceiling: 30 },
  { name: "peak memory, MiB", value: summary.peakRssBytes / 2 ** 20, ceiling: 1024 },
  {
    name: "tokens generated per second while training",
    value: summary.tokensPerSecond.generated,
    floor: 25_000,
  },
  { name: "orchestration, share of a step", value: share("logging", "other"), ceiling: 0.01 },
  { name: "publishing, share of a step", value: share("publishing") },
  { name: "called but without a core, share of a step", value: share("starting") },
  ...Object.entries(summary.seconds).map(([name, value]) => ({ name: `seconds, ${name}`, value })),
];
process.stdout.write(`${JSON.stringify({ rows })}\n`);
