import { type PlainTable, textTable } from "../report/index.ts";
import { LEAST_UPDATE_MS, UpdateRate } from "../shared/weights/weight-update.ts";
import type { Machine } from "./machine.ts";
import type { SimulatedRun } from "./run-facts.ts";
import type { SweptVariant } from "./sweep.ts";

const percent = (share: number, digits = 0): string => `${(100 * share).toFixed(digits)} %`;
const count = (value: number): string => Math.round(value).toLocaleString("en");

/** Formats seconds: "12.3 s", "8.5 min", "36.1 h". */
export function duration(seconds: number): string {
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  return seconds < 7200 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** Results of a run, in whole lines of at most 80 columns. */
export function runText(name: string, machine: Machine, run: SimulatedRun): string {
  const { steps, seconds, busy, lag, tokens } = run;
  const gpus = machine.gpus === 0 ? "" : `, ${count(run.gpuHours)} GPU-hours`;
  const rows = [
    ["time", `${duration(seconds)} for ${steps.length} steps${gpus}`],
    ["a step", `${duration(run.secondsPerStep)}, ${count(run.rolloutsPerStep)} rollouts completed`],
    ["rollouts", `${count(run.meanTokens)} tokens on average, ${duration(run.line.seconds)} in the pipeline`],
    [
      "an engine",
      `${count(run.tokensPerSecondPerActor)} tokens/s, ${run.running.toFixed(1)} sequences at once`,
    ],
    [
      "busy",
      `engines ${percent(busy.actors)}, trainer ${percent(busy.trainers)}, verifiers ${percent(busy.verifiers)}`,
    ],
    [
      "lag",
      `mean ${lag.mean.toFixed(2)}, by token ${lag.token.toFixed(2)}, p95 ${lag.p95}, most ${lag.max} steps`,
    ],
    ...updateRow(machine),
    ["preempted", `${count(run.preemptions)} times; ${count(tokens.wasted)} tokens lost to failures`],
  ];
  const lines = rows.map(([what, text]) => `  ${what!.padEnd(10)} ${text}`);
  return [
    `${name}, simulated: ${machine.actors} engines, ${machine.trainers} trainers (${machine.from})`,
    ...lines,
    "",
    ...mixtureLines(run),
    "",
    waiting(run),
  ].join("\n");
}

/** Size and seconds of an update of the actors' weights, and the time limit of an actor's part in the first one. */
function updateRow({ actor, trainer: { update } }: Machine): string[][] {
  if (update === undefined) return [];
  const within = new UpdateRate().withinMs(LEAST_UPDATE_MS, update.bytes) / 1000;
  const text = `${(update.bytes / 1e9).toFixed(1)} GB in ${duration(update.seconds)} (deadline ${duration(within)}), engines pause ${duration(actor.updatePause)}`;
  return [["an update", text]];
}

function mixtureLines({ mixture, steps }: SimulatedRun): string[] {
  const { targets, first, shares } = mixture;
  const head = ["completed", "target", "first step", `step ${steps.length}`];
  const rows = Object.keys(targets).map((domain) => [
    `  ${domain}`,
    percent(targets[domain]!, 1),
    percent(first.shares[domain]!, 1),
    percent(shares[domain]!, 2),
  ]);
  const off = `  ${count(first.rollouts)} in the first step; mean deviation at the end ${(100 * mixture.mad).toFixed(3)} points`;
  return [...textTable({ head, rows }, 80), off];
}

/** Names the bottleneck, and what would help. */
function waiting({ busy, steps }: SimulatedRun): string {
  const waits = steps.reduce((sum, step) => sum + step.waiting, 0) / steps.at(-1)!.end;
  if (busy.actors < 0.9 && busy.trainers < 0.9)
    return `Engines and trainer wait for each other (the trainer ${percent(waits)} of the time):\nmore credits, a larger maxLag or more verifiers would help (--sweep lag).`;
  return busy.trainers > busy.actors || busy.trainers > 0.9
    ? "The trainer is the bottleneck: more of the GPUs for training would help (--sweep split)."
    : `The trainer waits for rollouts ${percent(waits)} of the time: more of the GPUs for\ngeneration would help (--sweep split).`;
}

const HEAD = ["", "time", "a step", "GPU-hours", "engines", "trainer", "lag", "most"];

/** One row per cell. */
export function sweepTable(swept: readonly SweptVariant[]): PlainTable {
  return { head: HEAD, rows: swept.map(sweepRow) };
}

function sweepRow({ name, own, run }: SweptVariant): string[] {
  const { seconds, secondsPerStep, gpuHours, busy, lag } = run;
  return [
    own ? `${name} *` : name,
    duration(seconds),
    duration(secondsPerStep),
    count(gpuHours),
    percent(busy.actors),
    percent(busy.trainers),
    lag.mean.toFixed(1),
    `${lag.max}`,
  ];
}

const BAR = 40;

/** The table, and one bar per cell, as long as its time. */
export function sweepText(name: string, swept: readonly SweptVariant[]): string {
  const longest = Math.max(...swept.map(({ run }) => run.seconds));
  const width = Math.max(...swept.map((variant) => variant.name.length));
  const bars = swept.map(({ name: cell, run }) => {
    const length = Math.max(1, Math.round((BAR * run.seconds) / longest));
    return `  ${cell.padEnd(width)}  ${"█".repeat(length)} ${duration(run.seconds)}`;
  });
  const best = swept.reduce((a, b) => (b.run.seconds < a.run.seconds ? b : a));
  return [
    `${name}, simulated (engines and trainer: share of time busy; * as asked for)`,
    ...textTable(sweepTable(swept), 80),
    "",
    ...bars,
    "",
    `Least time: ${best.name}, ${duration(best.run.seconds)}.`,
  ].join("\n");
}
