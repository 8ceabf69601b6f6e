import { bottleneck, type ProcessStatus, stagesOf } from "../metrics/index.ts";
import type { StepRecord } from "../records.ts";
import {
  clip,
  duration,
  flow,
  padEnd,
  padStart,
  percent,
  progressBar,
  type Style,
  short,
  sparkline,
  stackedBar,
  wholeCells,
  width,
} from "./ansi.ts";
import { processWords } from "./process-lines.ts";

/** State of the run that the frame draws. Steps are those of the training phase, oldest first. */
export interface FrameState {
  readonly title: string;
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  /** Time since the phase began. Seconds. */
  readonly elapsedSeconds: number;
  /** A few words about the current phase, such as "loss 0.412". */
  readonly note: string;
  /** True if the phase has ended, done or stopped: no time remains then. */
  readonly isOver?: boolean;
  readonly domains: readonly string[];
  /** The caller may reduce every record but the last to what `trendsOf` keeps. */
  readonly steps: readonly StepRecord[];
  /** Processes of the run; empty if unknown. */
  readonly processes?: readonly ProcessStatus[];
}

/** Least and most columns of a sparkline; between them it takes what the row leaves. */
const SPARK = { least: 4, most: 16 };
const WIDEST = 100;
/** Smallest share of a step with which a stage is named in the legend; smaller stages are only in the bar. */
const LEAST_NAMED = 0.01;

const TRENDS = ["score/mean", "length/mean"] as const;

/** Values of earlier steps that the frame draws. */
export function trendsOf({ step, version, metrics }: StepRecord): StepRecord {
  const drawn = Object.entries(metrics).filter(([name]) => TRENDS.some((trend) => name.startsWith(trend)));
  return { step, version, metrics: Object.fromEntries(drawn) };
}

/** The live frame as lines of at most `room` columns, however few; a pure function, so that a test can check it. */
export function renderFrame(state: FrameState, room: number, style: Style): string[] {
  const columns = wholeCells(room);
  const wide = Math.min(columns, WIDEST);
  const lines = [
    headline(state, wide, style),
    progressBar(state.done / Math.max(1, state.total), wide, style),
  ];
  const last = state.steps.at(-1);
  if (last !== undefined) {
    lines.push("", ...domainTable(state, last.metrics, wide, style), "");
    lines.push(...healthLines(last.metrics, wide, style), ...timeLines(last.metrics, wide, style));
  }
  const processes = processWords(state.processes ?? [], wide - 1, style);
  if (processes.length > 0) lines.push("", ...processes.map((line) => ` ${line}`));
  return lines.map((line) => clip(line, columns));
}

function headline(state: FrameState, columns: number, style: Style): string {
  const left = ` ${style.bold(state.title)}  ${state.phase} ${state.done}/${state.total}  ${state.note}`;
  const perUnit = state.elapsedSeconds / Math.max(1, state.done);
  const hasRest = state.done > 0 && state.isOver !== true;
  const eta = hasRest ? `ETA ${duration(perUnit * (state.total - state.done))}` : "";
  const right = style.dim(`${duration(state.elapsedSeconds)}  ${eta} `);
  return padEnd(left, columns - width(right)) + right;
}

type Metrics = Readonly<Record<string, number>>;

function domainTable(state: FrameState, now: Metrics, columns: number, style: Style): string[] {
  const nameWidth = Math.max(6, ...state.domains.map((d) => d.length)) + 1;
  const left = columns - (1 + nameWidth + 7 + 8 + 16);
  const spark = Math.min(SPARK.most, Math.max(SPARK.least, Math.floor(left / 2)));
  const trend = trendOver(state.steps, spark);
  const scores = scoreLimits(state.steps);
  const isMixed = state.domains.length > 1; // a single domain has no mixture
  const head =
    padEnd("", nameWidth) +
    padEnd("score", spark + 7) +
    padEnd("tokens", spark + 8) +
    (isMixed ? padStart("mix / target", 16) : "");
  const rows = state.domains.map((domain, i) => {
    const paint = (text: string) => style.hue(i, text);
    const target = now[`mixture/target/${domain}`];
    const mix = now[`mixture/completed/${domain}`];
    return (
      padEnd(domain, nameWidth) +
      trend(`score/mean/${domain}`, paint, scores, 2) +
      trend(`length/mean/${domain}`, paint, undefined, 1) +
      (isMixed ? padStart(`${share(mix)} / ${share(target)} %`, 16) : "")
    );
  });
  const all =
    padEnd("all", nameWidth) +
    trend("score/mean", style.bold, scores, 2) +
    trend("length/mean", style.bold, undefined, 1) +
    padStart(`MAD ${percent(now["mixture/completed/mad"], 2)}`, 16);
  return [style.dim(head), ...rows, ...(isMixed ? [all] : [])].map((line) => ` ${line}`);
}

/** Limits of the score's sparkline: [0, 1], or further where a custom reward went beyond. */
function scoreLimits(steps: readonly StepRecord[]): readonly [number, number] {
  const seen = steps.flatMap(({ metrics }) =>
    Object.keys(metrics).flatMap((name) => (name.startsWith("score/mean") ? [metrics[name]!] : [])),
  );
  return [Math.min(0, ...seen), Math.max(1, ...seen)];
}

function share(fraction: number | undefined): string {
  return fraction === undefined ? "–" : (100 * fraction).toFixed(1);
}

/** Sparkline and last known value of one metric; without limits the line spans the values seen, from 0. */
function trendOver(steps: readonly StepRecord[], spark: number) {
  return (
    name: string,
    paint: (text: string) => string,
    limits: readonly [number, number] | undefined,
    digits: number,
  ): string => {
    const values = steps.map((s) => s.metrics[name] ?? Number.NaN);
    const known = values.filter(Number.isFinite);
    const [low, high] = limits ?? [0, Math.max(1e-9, ...known)];
    const last = known.at(-1);
    const number = last === undefined ? "–" : last.toFixed(digits);
    return `${paint(sparkline(values, spark, low, high))} ${padEnd(number, limits === undefined ? 7 : 6)}`;
  };
}

function healthLines(m: Metrics, columns: number, style: Style): string[] {
  const rows: [string, string | undefined][][] = [
    [
      ["reward", m["reward/mean"]?.toFixed(3)],
      ["truncated", maybe(m["truncated"], percent)],
      ["entropy", m["entropy/mean"]?.toFixed(3)],
      ["groups kept", maybe(m["groups/kept"], (v) => percent(v, 0))],
      ["grad norm", m["grad/norm"]?.toFixed(2)],
    ],
    [
      ["lag", maybe(m["lag/mean"], (v) => `${v.toFixed(1)} (max ${m["lag/max"]})`)],
      ["ratio p1..p99", maybe(m["ratio/p1"], (v) => `${v.toFixed(3)}..${m["ratio/p99"]?.toFixed(3)}`)],
      ["clipped", maybe(m["clip/sequences"], percent)],
      ["lag-0 mismatch", maybe(m["mismatch/lag0/max"], (v) => (v === 0 ? "0 exactly" : v.toExponential(1)))],
    ],
    [
      // absent or 0 in a step whose groups were all generated before the step began
      ["generated", m["speed/generated"] ? `${short(m["speed/generated"])} tok/s` : undefined],
      ["trained", maybe(m["speed/trained"], (v) => `${short(v)} tok/s`)],
      ["engine batch", maybe(m["engine/occupancy"], (v) => percent(v, 0))],
      ["memory", maybe(m["memory/rss"], (v) => `${Math.round(v / 2 ** 20)} MiB`)],
    ],
  ];
  return rows
    .map((row) =>
      row.filter(([, value]) => value !== undefined).map(([name, value]) => `${style.dim(name)} ${value}`),
    )
    .flatMap((row) => flow(row, columns - 1))
    .map((line) => ` ${line}`);
}

function maybe(value: number | undefined, show: (value: number) => string): string | undefined {
  return value === undefined ? undefined : show(value);
}

function timeLines(m: Metrics, columns: number, style: Style): string[] {
  const total = m["time/step"];
  if (total === undefined || total <= 0) return [];
  const stages = stagesOf(m);
  const legend = stages.flatMap(({ name, seconds }, i) => {
    const part = seconds / total;
    return part >= LEAST_NAMED ? `${style.hue(i, "■")} ${name} ${Math.round(100 * part)} %` : [];
  });
  const busiest = bottleneck(m);
  if (busiest !== undefined) legend.push(`${style.dim("busiest")} ${busiest}`);
  const label = `step ${total.toFixed(2)} s `;
  return [
    "",
    ` ${label}${stackedBar(
      stages.map(({ seconds }) => seconds),
      columns - label.length - 2,
      style,
    )}`,
    ...flow(legend, columns - 1, "  ").map((line) => ` ${line}`),
  ];
}
