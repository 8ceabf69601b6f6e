// Compares what `hone simulate` predicts of the quick start on several processes with measured runs: one, two and three
// actors and a trainer, in both schedules. Right before each of them a synchronous run of one actor and one trainer is
// made and fitted, so that both see the machine at about the same speed; the first row repeats that run itself and
// shows how much the machine varies between two runs. Medians of three rounds (`--rounds N`), with the least and the
// most. In the asynchronous schedule the simulation takes its answers from the round's own run of one actor, because
// that schedule learns differently. The unit is seconds a step, over the steps after the fifth. `others` is the largest
// share of the machine that other processes used in a round: above some 0.05 a row measures them too.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const recipe = path.join(root, "recipes/quickstart.ts");
const folder = mkdtempSync(path.join(tmpdir(), "hone-bench-"));
const FIRST = smoke ? 1 : 5;
const STEPS = smoke ? 8 : 40;
const ACTORS = smoke ? [1] : [1, 2, 3];
const ROUNDS = smoke
  ? 1
  : Number(/^[1-9]$/.exec(process.argv[process.argv.indexOf("--rounds") + 1] ?? "")?.[0] ?? 3);
const SCHEDULES = smoke ? ["sync"] : ["sync", "async"];
const COMMON = {
  "training.steps": STEPS,
  // After a warm start of 20 steps few groups have different rewards, and a fit needs steps that trained.
  ...(smoke && { "training.groupsPerStep": 8, "advantages.filter": "none" }),
  "warmStart.steps": smoke ? 20 : 300,
  "checkpoint.everySteps": 0,
  "evaluation.problemsPerDomain": 1,
  "evaluation.attempts": 1,
};

/** Runs a command; returns its output and the share of the machine's processors that other processes used meanwhile. */
function hone(verb, flags, settings) {
  const words = Object.entries(settings).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const hone = [
    process.execPath,
    path.join(root, "dist/lib/cli/main.js"),
    verb,
    recipe,
    ...flags,
    ...words,
    "--json",
  ];
  const [ticks, begun] = [machineTicks(), performance.now()];
  // `times` adds up the processes that bash waited for, and those that they waited for
  const argv = ["-c", '"$@"; status=$?; times >&2; exit $status', "bash", ...hone];
  const ran = spawnSync("bash", argv, { encoding: "utf8", maxBuffer: 1 << 28 });
  const all = (availableParallelism() * (performance.now() - begun)) / 1000;
  const others = ((machineTicks() - ticks) / 100 - secondsOf(ran.stderr)) / all;
  if (ran.status === 0) return { out: JSON.parse(ran.stdout), others };
  process.stderr.write(ran.stderr);
  process.exit(1);
}

const processes = (schedule, actors) => ({
  ...COMMON,
  "training.schedule": schedule,
  "hardware.processes.actors": actors,
  "hardware.processes.trainers": 1,
});
const average = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Hundredths of a second of processor time that the machine has given to all processes; NaN where the system does not
 * report it.
 */
function machineTicks() {
  if (!existsSync("/proc/stat")) return Number.NaN;
  const [, user, nice, system] = readFileSync("/proc/stat", "utf8").split("\n")[0].split(/\s+/).map(Number);
  return user + nice + system;
}

/** Reads the seconds from the last line of `times`. */
const secondsOf = (text) =>
  text
    .trim()
    .split("\n")
    .at(-1)
    .split(" ")
    .map((each) => /^(\d+)m([\d.]+)s$/.exec(each))
    .reduce((sum, [, minutes, rest]) => sum + 60 * Number(minutes) + Number(rest), 0);

/** Trains a run; returns its folder, its seconds a step, and the share of the machine that others used meanwhile. */
function run(schedule, actors, name) {
  const dir = path.join(folder, name);
  const { others } = hone("run", ["--dir", dir, "--start-from", warm], processes(schedule, actors));
  const lines = readFileSync(path.join(dir, "steps.jsonl"), "utf8").trim().split("\n");
  const records = lines.map((text) => JSON.parse(text)).filter(({ metrics }) => "time/step" in metrics);
  const late = records.filter(({ step }) => step > FIRST).map(({ metrics }) => metrics["time/step"]);
  return { dir, seconds: average(late), others };
}

function foretold(fitted, schedule, actors, answers) {
  const flags = ["--fit", fitted, ...(answers === undefined ? [] : ["--answers", answers])];
  const { steps } = hone("simulate", flags, processes(schedule, actors)).out.run;
  return (steps.at(-1).end - steps[FIRST - 1].end) / (steps.length - FIRST);
}

/** Runs one round; returns the predicted and the measured times by schedule and number of actors. */
function round(number) {
  let answers;
  return SCHEDULES.flatMap((schedule) =>
    ACTORS.map((actors) => {
      const name = `${number}-${schedule}-${actors}`;
      const fitted = run("sync", 1, `${name}-fitted`);
      const measured = run(schedule, actors, name);
      if (schedule === "async") answers ??= measured.dir;
      const others = Math.max(fitted.others, measured.others);
      return {
        schedule,
        actors,
        predicted: foretold(fitted.dir, schedule, actors, answers),
        measured: measured.seconds,
        others,
      };
    }),
  );
}

const base = path.join(folder, "base");
hone("run", ["--dir", base], { ...COMMON, "training.steps": 1 });
const warm = path.join(base, "checkpoints/warm-start");
const rounds = Array.from({ length: ROUNDS }, (_, number) => round(number));
const rows = rounds[0].map(({ schedule, actors }, i) => {
  const seen = rounds.map((rows) => rows[i]);
  const ratios = seen.map(({ predicted, measured }) => predicted / measured).toSorted((a, b) => a - b);
  return {
    name: `${schedule}, ${actors} actors and a trainer: predicted / measured`,
    value: ratios[Math.floor(ratios.length / 2)],
    aim: "0.85 to 1.15",
    least: ratios[0],
    most: ratios.at(-1),
    predicted: seen.map(({ predicted }) => predicted),
    measured: seen.map(({ measured }) => measured),
    others: Math.max(...seen.map(({ others }) => others)),
  };
});
rmSync(folder, { recursive: true });
process.stdout.write(`${JSON.stringify({ rows })}\n`);
