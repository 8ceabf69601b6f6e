// Measures the memory of a run of 20,000 short steps with four completions each: `hone run` while it trains and while a
// separate process writes its report, and `hone report` afterwards, above that of the same run's first step. --smoke:
// 200 steps.
import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const main = path.join(root, "dist/lib/cli/main.js");
const STEPS = smoke ? 200 : 20_000;
/** By this step caches and pools have grown to their final size. */
const BEGIN = STEPS / 20;
const CEILING_MIB = 50;
const SETTINGS = [
  "model.config.width=32",
  "model.config.layers=1",
  "model.config.heads=1",
  "model.config.mlpWidth=64",
  "warmStart.steps=0",
  `training.steps=${STEPS}`,
  "training.groupsPerStep=2",
  "training.schedule=sync",
  "rollouts.groupSize=2",
  "rollouts.maxOutputTokens=8",
  "lengthPenalty.bufferTokens=4",
  "advantages.filter=none",
  "objective.entropyCoef=0.1",
  "checkpoint.everySteps=0",
  "evaluation.problemsPerDomain=1",
  "verification.workers=1",
];

const folder = mkdtempSync(path.join(tmpdir(), "hone-bench-report-"));
const dir = path.join(folder, "run");

const residentMiB = (pid) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

/** Reads the number of steps and the run's resident MiB several times a second, until its process ends. */
function look(pid) {
  try {
    return {
      MiB: residentMiB(pid),
      step: JSON.parse(readFileSync(path.join(dir, "line.json"), "utf8")).step,
    };
  } catch {
    return { MiB: 0, step: 0 };
  }
}

async function train() {
  const argv = ["run", path.join(root, "recipes/quickstart.ts"), "--dir", dir];
  const sets = SETTINGS.flatMap((setting) => ["--set", setting]);
  const child = spawn(process.execPath, [main, ...argv, ...sets], { stdio: "ignore" });
  const looks = [];
  while (child.exitCode === null) {
    looks.push(look(child.pid));
    await pause(50);
  }
  if (child.exitCode !== 0) throw new Error(`hone run ended with ${child.exitCode}`);
  const counted = looks.filter(({ MiB, step }) => MiB > 0 && step >= BEGIN);
  const most = (some) => Math.max(...some.map(({ MiB }) => MiB)) - counted[0].MiB;
  return { training: most(counted.filter(({ step }) => step < STEPS)), report: most(counted) };
}

/**
 * The process prints the time it used and its peak memory (VmHWM) at its exit; resourceUsage would start with the
 * parent's peak.
 */
const LISTENER = `data:text/javascript,${encodeURIComponent(`
import { readFileSync, writeSync } from "node:fs";
process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  const MiB = Number(readFileSync("/proc/self/status", "utf8").split("VmHWM:")[1].split("kB")[0]) / 1024;
  writeSync(2, "cost " + JSON.stringify({ seconds: performance.now() / 1e3, cpuSeconds: (user + system) / 1e6, MiB }) + "\\n");
});`)}`;

function reportOf(runDir) {
  const argv = ["--import", LISTENER, main, "report", runDir];
  const { stderr } = spawnSync(process.execPath, argv, { encoding: "utf8" });
  const cost = /^cost (.*)$/m.exec(stderr);
  if (cost === null) throw new Error(stderr);
  return JSON.parse(cost[1]);
}

/** Makes a run folder from these files of the run and the first `steps` lines of its log. */
function part(name, files, steps = STEPS) {
  const made = path.join(folder, name);
  mkdirSync(made);
  for (const file of files) copyFileSync(path.join(dir, file), path.join(made, file));
  const log = readFileSync(path.join(dir, "steps.jsonl"));
  writeFileSync(path.join(made, "steps.jsonl"), steps === 1 ? log.subarray(0, log.indexOf(10) + 1) : log);
  return made;
}

try {
  const grown = await train();
  const small = readdirSync(dir).filter((name) => /^(?:run|summary|before)\.json$/.test(name));
  const least = reportOf(part("least", small, 1)).MiB;
  const rows = [
    { name: `hone run, MiB more than at step ${BEGIN}`, value: grown.training, ceiling: CEILING_MIB },
    { name: "the same, its report included", value: grown.report, ceiling: CEILING_MIB },
    ...[
      [`hone report of ${STEPS} steps`, dir],
      ["the same, of the log alone", part("log", [...small, "steps.digest.jsonl"])],
      ["the same, without its digest", part("undigested", small)],
    ].map(([name, of]) => {
      const { MiB, ...cost } = reportOf(of);
      return { name: `${name}, MiB above one of 1`, value: MiB - least, ...cost, ceiling: CEILING_MIB };
    }),
  ];
  process.stdout.write(`${JSON.stringify({ rows })}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
