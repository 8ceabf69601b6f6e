// What it costs to cut the quick start into processes. In the synchronous schedule one process, an actor and a trainer, and
// two of each do the same work to the bit, so that what they take more of the processors is streams, weight updates and
// collectives (and what a process has of its own: a garbage collector, a compiler, timers). Steps 20 to 80 of each, by the
// processor time of all its processes with one thread each, in turns; the median of three. Where it goes: threads that
// write to the store, Gloo's threads (collectives and weights on their way); beyond one process's, the processes'
// JavaScript threads (messages, looks at the store, timers), V8's own (compiling, collecting) and the core's (the same
// tokens sampled and trained in smaller batches, and what ranks and updates have to compute); and the wall time of a step
// that an update of weights takes.
// What each process compiles it compiles in its first steps: `node bench/fleet.bench.mjs --steps 140..200` counts others.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const chosen = /^(\d+)\.\.(\d+)$/.exec(process.argv[process.argv.indexOf("--steps") + 1] ?? "");
const [FEW, MANY] = smoke ? [0, 2] : (chosen?.slice(1).map(Number) ?? [20, 80]);
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

const KINDS = ["script", "store", "gloo", "v8", "core"];
const threads = pathToFileURL(path.join(root, "bench/fleet-threads.mjs")).href;

const lines = (file) =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

/** Processor seconds of everything that a run of so many steps starts, by kinds of threads too, and the hash of its weights. */
function run({ settings }, steps) {
  const folder = mkdtempSync(path.join(tmpdir(), "hone-bench-"));
  const [dir, counted] = ["run", "threads"].map((name) => path.join(folder, name));
  mkdirSync(counted);
  const all = { ...SETTINGS, "training.steps": steps };
  for (const [name, value] of Object.entries(settings)) all[`hardware.processes.${name}`] = value;
  const words = Object.entries(all).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const argv = [process.execPath, path.join(root, "dist/recipes/quickstart.js"), "--dir", dir, ...words];
  const preloaded = `${process.env["NODE_OPTIONS"] ?? ""} --import ${threads}`;
  const env = { ...process.env, HONE_THREADS: "1", HONE_BENCH_THREADS: counted, NODE_OPTIONS: preloaded };
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
  const events = lines(path.join(dir, "events.jsonl"));
  const measured = lines(path.join(dir, "steps.jsonl"))
    .slice(FEW)
    .map(({ metrics }) => metrics);
  const spent = readdirSync(counted).map((file) => lines(path.join(counted, file))[0]);
  rmSync(folder, { recursive: true });
  const sum = (rows, name) => rows.reduce((all, row) => all + (row[name] ?? 0), 0);
  const seconds = ran.stdout
    .trim()
    .split("\n")
    .at(-1)
    .split(" ")
    .map((text) => /^(\d+)m([\d.]+)s$/.exec(text))
    .reduce((sum, [, minutes, rest]) => sum + 60 * Number(minutes) + Number(rest), 0);
  return {
    seconds,
    ...Object.fromEntries(KINDS.map((kind) => [kind, sum(spent, kind)])),
    updates: sum(measured, "time/publishing") / sum(measured, "time/step"),
    weights: events.at(-1).w,
  };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const spent = WAYS.map(() => []);
for (let round = 0; round < ROUNDS; round++) {
  const hashes = WAYS.map((way, i) => {
    const [few, many] = [FEW > 0 ? run(way, FEW) : undefined, run(way, MANY)];
    const aStep = (of) => (many[of] - (few?.[of] ?? 0)) / (MANY - FEW);
    const parts = Object.fromEntries(KINDS.map((kind) => [kind, aStep(kind)]));
    spent[i].push({ seconds: aStep("seconds"), ...parts, updates: many.updates });
    return many.weights;
  });
  if (hashes[1] !== hashes[0]) {
    process.stderr.write(`not the same work: ${hashes.join(", ")}\n`);
    process.exit(1);
  }
}

/** The median over rounds of what `of` makes of a round's spending, and of one process's in the same round. */
const over = (i, of) => median(spent[i].map((values, round) => of(values, spent[0][round])));

const rows = WAYS.map(({ name }, i) => ({
  name: `processor seconds a step, ${name}`,
  value: over(i, ({ seconds }) => seconds),
}));
for (const [i, { name }] of WAYS.entries())
  if (i > 0)
    rows.push(
      {
        name: `processor time of ${name}, beside one process`,
        value: over(i, ({ seconds }, one) => seconds / one.seconds),
        aim: 1.03,
      },
      {
        name: `of it threads that write to the store, ${name}`,
        value: over(i, ({ store, seconds }) => store / seconds),
      },
      {
        name: `of it Gloo's threads, ${name}`,
        value: over(i, ({ gloo, seconds }) => gloo / seconds),
      },
      ...[
        ["script", "JavaScript threads"],
        ["v8", "V8's compiler and collector"],
        ["core", "the core's threads"],
      ].map(([kind, words]) => ({
        name: `of it ${words} beyond one process's, ${name}`,
        value: over(i, (all, one) => (all[kind] - one[kind]) / all.seconds),
      })),
      {
        name: `updates of weights, of a step's wall time, ${name}`,
        value: over(i, ({ updates }) => updates),
      },
    );
process.stdout.write(`${JSON.stringify({ rows })}\n`);
