// What it costs to cut the quick start into processes. In the synchronous schedule one process, an actor and a trainer, and
// two of each do the same work to the bit, so that what they take more of the processors is streams, weight updates and
// collectives (and what a process has of its own: a garbage collector, timers). Steps 20 to 80 of each, by the processor
// time of all its processes with one thread each, in turns; the median of three.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const [FEW, MANY] = smoke ? [0, 2] : [20, 80];
const ROUNDS = smoke ? 1 : 3;
const SETTINGS = {
  "training.schedule": "sync",
  "warmStart.steps": smoke ? 2 : 100,
  "checkpoint.everySteps": 0,
  "evaluation.problemsPerDomain": 1,
  "evaluation.attempts": 1,
};
const WAYS = [
  { name: "one process", settings: {} },
  { name: "an actor and a trainer", settings: { actors: 1, trainers: 1 } },
  { name: "two actors and two trainers", settings: { actors: 2, trainers: 2 } },
];

/** Processor seconds of everything that a run of so many steps starts, and the hash of its weights. */
function run({ settings }, steps) {
  const folder = mkdtempSync(path.join(tmpdir(), "hone-bench-"));
  const all = { ...SETTINGS, "training.steps": steps };
  for (const [name, value] of Object.entries(settings)) all[`hardware.processes.${name}`] = value;
  const words = Object.entries(all).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const argv = [process.execPath, path.join(root, "dist/recipes/quickstart.js"), "--dir", folder, ...words];
  const env = { ...process.env, HONE_THREADS: "1" };
  // `times` adds up the processes that bash waited for, and theirs
  const ran = spawnSync("bash", ["-c", '"$@" >&2; status=$?; times; exit $status', "bash", ...argv], {
    encoding: "utf8",
    env,
    maxBuffer: 1 << 27,
  });
  if (ran.status !== 0) {
    process.stderr.write(ran.stderr);
    process.exit(1);
  }
  const events = readFileSync(path.join(folder, "events.jsonl"), "utf8").trim().split("\n");
  rmSync(folder, { recursive: true });
  const seconds = ran.stdout
    .trim()
    .split("\n")
    .at(-1)
    .split(" ")
    .map((text) => /^(\d+)m([\d.]+)s$/.exec(text))
    .reduce((sum, [, minutes, rest]) => sum + 60 * Number(minutes) + Number(rest), 0);
  return { seconds, weights: JSON.parse(events.at(-1)).w };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const spent = WAYS.map(() => []);
for (let round = 0; round < ROUNDS; round++) {
  const hashes = WAYS.map((way, i) => {
    const [few, many] = [FEW > 0 ? run(way, FEW) : { seconds: 0 }, run(way, MANY)];
    spent[i].push((many.seconds - few.seconds) / (MANY - FEW));
    return many.weights;
  });
  if (hashes[1] !== hashes[0]) {
    process.stderr.write(`not the same work: ${hashes.join(", ")}\n`);
    process.exit(1);
  }
}

const rows = WAYS.map(({ name }, i) => ({
  name: `processor seconds a step, ${name}`,
  value: median(spent[i]),
}));
for (const [i, { name }] of WAYS.entries())
  if (i > 0)
    rows.push({
      name: `processor time of ${name}, beside one process`,
      value: median(spent[i].map((value, round) => value / spent[0][round])),
      aim: 1.03,
    });
process.stdout.write(`${JSON.stringify({ rows })}\n`);
