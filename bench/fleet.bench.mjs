// Measures what it costs to divide the quick start into processes. With schedule "sync" one process, an actor with a
// trainer, and two of each do the same work to the bit, so the additional processor time is due to streams, weight
// updates and collectives (and to each process's own garbage collector, compiler and timers). Counts the processor time
// of all threads of all processes from the record of step 20 to that of step 80 within one run, with one core thread
// each; the ways take turns, and the result is the median of three. The time is divided into: threads of Gloo and of
// the communicators (collectives and weight transfers); and beyond those of one process, JavaScript threads (messages,
// the store, heartbeats), V8's threads (compiler, garbage collector) and the core's threads (the same tokens sampled
// and trained in smaller batches; checksums of weights, which each actor packs again); and the wall time of a step that
// a weight update takes. "streams, collectives and updates" is the sum of the first three: threads that exist only for
// them, and all JavaScript that one process does not need. A floor for comparison: the same messages over sockets
// between processes that do nothing else (fleet-floor.mjs). Each process compiles in its first steps: `node
// bench/fleet.bench.mjs --steps 140..200 [--rounds 1]` counts later ones. `--set path=value`, repeatable, changes the
// recipe for all, for example to a larger model.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { messagesAlone } from "./fleet-floor.mjs";
import { KINDS, spentBelow } from "./fleet-threads.mjs";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const option = (name) => process.argv[process.argv.indexOf(name) + 1] ?? "";
const given = process.argv.flatMap((word, i) => (word === "--set" ? ["--set", process.argv[i + 1]] : []));
const chosen = /^(\d+)\.\.(\d+)$/.exec(option("--steps"));
const [FROM, TO] = smoke ? [1, 3] : (chosen?.slice(1).map(Number) ?? [20, 80]);
const ROUNDS = smoke ? 1 : Number(/^[1-9]$/.exec(option("--rounds"))?.[0] ?? 3);
const LOOK_MS = 5;
const SETTINGS = {
  "training.schedule": "sync",
  "training.steps": TO,
  "warmStart.steps": smoke ? 2 : 100,
  "checkpoint.everySteps": 0,
  "evaluation.problemsPerDomain": 1,
  "evaluation.attempts": 1,
  ...(smoke && { "training.groupsPerStep": 4 }),
};
const WAYS = [
  { name: "one process", settings: {} },
  { name: "an actor and a trainer", settings: { actors: 1, trainers: 1 } },
  { name: "two actors and two trainers", settings: { actors: 2, trainers: 2 } },
].slice(0, smoke ? 2 : 3);
const marks = pathToFileURL(path.join(root, "bench/fleet-marks.mjs")).href;

const lines = (file) =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

/**
 * The processor time that all processes below `child` had used when the step's record was written; undefined if the
 * run ended earlier.
 */
async function spentAt(step, { child, file, marked }) {
  while (child.exitCode === null) {
    const written = existsSync(file) ? readFileSync(file, "latin1").split("\n").length - 1 : 0;
    if (written >= step) return { spent: spentBelow(child.pid, marked), written };
    await pause(LOOK_MS);
  }
  return undefined;
}

/**
 * Processor seconds a step, in total and by kind of thread, the share of updates in a step's time, and the hash of
 * the weights.
 */
async function run({ settings }) {
  const folder = mkdtempSync(path.join(tmpdir(), "hone-bench-"));
  const [dir, marked] = ["run", "threads"].map((name) => path.join(folder, name));
  mkdirSync(marked);
  const all = { ...SETTINGS };
  for (const [name, value] of Object.entries(settings)) all[`hardware.processes.${name}`] = value;
  const words = Object.entries(all)
    .flatMap(([name, value]) => ["--set", `${name}=${value}`])
    .concat(given);
  const argv = [path.join(root, "dist/recipes/quickstart.js"), "--dir", dir, ...words];
  const preloaded = `${process.env["NODE_OPTIONS"] ?? ""} --import ${marks}`;
  const env = { ...process.env, HONE_THREADS: "1", HONE_BENCH_THREADS: marked, NODE_OPTIONS: preloaded };
  const child = spawn(process.execPath, argv, { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const watched = { child, file: path.join(dir, "steps.jsonl"), marked };
  const [first, last] = [await spentAt(FROM, watched), await spentAt(TO, watched)];
  if ((await ended) !== 0 || last === undefined) throw new Error(`the run ended before step ${TO}: ${said}`);
  const measured = lines(watched.file)
    .slice(first.written, last.written)
    .map(({ metrics }) => metrics);
  const { w: weights } = lines(path.join(dir, "events.jsonl")).at(-1);
  rmSync(folder, { recursive: true });
  const sum = (name) => measured.reduce((all, row) => all + (row[name] ?? 0), 0);
  const aStep = (of) => (last.spent[of] - first.spent[of]) / (last.written - first.written);
  return {
    ...Object.fromEntries(["seconds", ...KINDS].map((of) => [of, aStep(of)])),
    updates: sum("time/publishing") / sum("time/step"),
    weights,
  };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const spent = WAYS.map(() => []);
const floors = WAYS.map(() => []);
for (let round = 0; round < ROUNDS; round++) {
  for (const [i, { settings }] of WAYS.entries())
    if (i > 0)
      floors[i].push(await messagesAlone(settings.actors, settings.trainers, smoke ? 60 : undefined));
  for (const [i, way] of WAYS.entries()) spent[i].push(await run(way));
  const hashes = spent.map((runs) => runs.at(-1).weights);
  if (hashes[1] !== hashes[0]) throw new Error(`not the same work: ${hashes.join(", ")}`);
}

/** Applies `of` to each round's measurements and those of one process in the same round; returns the median. */
const over = (i, of) => median(spent[i].map((values, round) => of(values, spent[0][round])));

const rows = WAYS.map(({ name }, i) => ({
  name: `processor seconds a step, ${name}`,
  value: over(i, ({ seconds }) => seconds),
}));
/** The shares into which the processor time of several processes is divided. */
const SHARES = [
  ["Gloo's threads", ({ gloo }) => gloo],
  ["the communicators' threads", ({ ranks }) => ranks],
  ["JavaScript threads beyond one process's", ({ script }, one) => script - one.script],
];
const OWN = [
  ["V8's compiler and collector beyond one process's", ({ v8 }, one) => v8 - one.v8],
  ["the core's threads beyond one process's", ({ core }, one) => core - one.core],
];
for (const [i, { name }] of WAYS.entries())
  if (i > 0)
    rows.push(
      {
        name: `processor time of ${name}, beside one process`,
        value: over(i, ({ seconds }, one) => seconds / one.seconds),
      },
      {
        name: `of a step: streams, collectives and updates, ${name}`,
        value: over(i, (all, one) => SHARES.reduce((sum, [, of]) => sum + of(all, one), 0) / all.seconds),
        aim: 0.03,
      },
      ...[...SHARES.map((one) => ["of it", ...one]), ...OWN.map((one) => ["not in it:", ...one])].map(
        ([where, words, of]) => ({
          name: `${where} ${words}, ${name}`,
          value: over(i, (all, one) => of(all, one) / all.seconds),
        }),
      ),
      {
        name: `floor: messages alone, of a step, ${name}`,
        value: median(floors[i].map((floor, round) => floor / spent[i][round].seconds)),
      },
      {
        name: `updates of weights, of a step's wall time, ${name}`,
        value: over(i, ({ updates }) => updates),
      },
    );
process.stdout.write(`${JSON.stringify({ rows })}\n`);
