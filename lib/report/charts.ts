import type { StepRecord } from "../records.ts";

export type Unit = "fraction" | "score" | "tokens" | "seconds" | "steps" | "nats" | "per-second" | "number";

/** One line of a chart. `hue` picks a colour of the page's palette: the same index is the same domain everywhere. */
export interface Series {
  readonly label: string;
  readonly hue: number;
  readonly values: readonly (number | null)[];
  /** "faint": behind, without legend; "dashed": a reference. */
  readonly look?: "faint" | "dashed" | undefined;
}

export interface Chart {
  readonly title: string;
  /** What is drawn and how to read it, one or two sentences. */
  readonly note: string;
  readonly unit: Unit;
  readonly kind: "lines" | "stacked";
  /** Step numbers. */
  readonly x: readonly number[];
  readonly series: readonly Series[];
  /** Limits of the y axis; otherwise it fits the data. */
  readonly range?: readonly [number, number] | undefined;
}

interface Line {
  readonly name: string;
  readonly label: string;
  readonly hue: number;
  readonly look?: "dashed" | undefined;
}

interface Plan extends Omit<Chart, "x" | "series"> {
  readonly lines: readonly Line[];
  /** Draw the moving mean, and the steps themselves behind it. */
  readonly smooth?: boolean | undefined;
}

const NEUTRAL = 5;

/** The charts that the steps have data for, in reading order. */
export function buildCharts(steps: readonly StepRecord[], domains: readonly string[]): Chart[] {
  const levels = namesWith(steps, "length/level/");
  const plans = [
    ...scorePlans(domains),
    ...lengthPlans(domains, levels),
    mixturePlan(domains),
    ...policyPlans(),
    ...pipelinePlans(),
  ];
  return plans.map((plan) => drawn(plan, steps)).filter((chart) => chart.series.length > 0);
}

function scorePlans(domains: readonly string[]): Plan[] {
  return [
    {
      title: "Score per domain",
      note: "Mean score of the verdicts on all rollouts finished in the step, without length penalty.",
      unit: "score",
      kind: "lines",
      range: [0, 1],
      smooth: true,
      lines: domains.map((d, hue) => ({ name: `score/mean/${d}`, label: d, hue })),
    },
    {
      title: "Score and reward",
      note: "The reward is what trains: the score, or what a table makes of the verdict, with the length penalty. Without a table length costs where they part.",
      unit: "score",
      kind: "lines",
      smooth: true,
      lines: [
        { name: "score/mean", label: "score", hue: 0 },
        { name: "reward/mean", label: "reward", hue: 1 },
      ],
    },
  ];
}

function lengthPlans(domains: readonly string[], levels: readonly string[]): Plan[] {
  return [
    {
      title: "Length per domain",
      note: "Mean generated tokens, truncated completions included.",
      unit: "tokens",
      kind: "lines",
      smooth: true,
      lines: domains.map((d, hue) => ({ name: `length/mean/${d}`, label: d, hue })),
    },
    {
      title: "Length by difficulty",
      note: "Mean generated tokens by the problem's level, 0 the easiest.",
      unit: "tokens",
      kind: "lines",
      smooth: true,
      lines: levels.map((level, hue) => ({ name: `length/level/${level}`, label: `level ${level}`, hue })),
    },
    {
      title: "Truncated",
      note: "Completions cut at the token limit.",
      unit: "fraction",
      kind: "lines",
      lines: [{ name: "truncated", label: "cut", hue: 1 }],
    },
  ];
}

function mixturePlan(domains: readonly string[]): Plan {
  return {
    title: "Mixture against target",
    note: "Share of each domain among all rollouts completed so far; the target is dashed.",
    unit: "fraction",
    kind: "lines",
    lines: domains.flatMap((d, hue) => [
      { name: `mixture/completed/${d}`, label: d, hue },
      { name: `mixture/target/${d}`, label: `${d} target`, hue, look: "dashed" as const },
    ]),
  };
}

function policyPlans(): Plan[] {
  return [
    {
      title: "Clip fraction",
      note: "Sequences whose gradient the clip stopped; above: ratio too high with a positive advantage.",
      unit: "fraction",
      kind: "lines",
      lines: [
        { name: "clip/sequences", label: "clipped", hue: NEUTRAL },
        { name: "clip/high", label: "above", hue: 1 },
        { name: "clip/low", label: "below", hue: 0 },
      ],
    },
    {
      title: "Sequence ratio",
      note: "Policy against the weights that sampled, geometric mean over a sequence's tokens.",
      unit: "number",
      kind: "lines",
      lines: [
        { name: "ratio/p99", label: "p99", hue: 1 },
        { name: "ratio/p50", label: "median", hue: NEUTRAL },
        { name: "ratio/p1", label: "p1", hue: 0 },
      ],
    },
    {
      title: "Entropy",
      note: "Of the sampling distribution, nats per token.",
      unit: "nats",
      kind: "lines",
      lines: [
        { name: "entropy/mean", label: "mean", hue: 0 },
        { name: "entropy/p90", label: "p90", hue: NEUTRAL },
      ],
    },
    {
      title: "Gradient norm",
      note: "Before clipping.",
      unit: "number",
      kind: "lines",
      smooth: true,
      lines: [{ name: "grad/norm", label: "norm", hue: 3 }],
    },
    {
      title: "Groups",
      note: "Kept for training; solved by every rollout; solved by none.",
      unit: "fraction",
      kind: "lines",
      range: [0, 1],
      smooth: true,
      lines: [
        { name: "groups/kept", label: "kept", hue: 2 },
        { name: "groups/solved-all", label: "solved by all", hue: 0 },
        { name: "groups/solved-none", label: "solved by none", hue: 1 },
      ],
    },
  ];
}

const TIME_STAGES = ["waiting", "packing", "forward", "backward", "optimizer", "publishing", "other"];

function pipelinePlans(): Plan[] {
  return [
    {
      title: "Lag",
      note: "Optimizer steps between the weights that sampled a rollout's oldest token and those that trained on it.",
      unit: "steps",
      kind: "lines",
      lines: [
        { name: "lag/mean", label: "mean", hue: 0 },
        { name: "lag/max", label: "max", hue: NEUTRAL },
      ],
    },
    {
      title: "Time per stage",
      note: "The trainer's step, split; the engine generates beside it.",
      unit: "seconds",
      kind: "stacked",
      lines: TIME_STAGES.map((stage, hue) => ({ name: `time/${stage}`, label: stage, hue })),
    },
    {
      title: "Throughput",
      note: "Tokens per second of wall time, both at once.",
      unit: "per-second",
      kind: "lines",
      smooth: true,
      lines: [
        { name: "speed/generated", label: "generated", hue: 2 },
        { name: "speed/trained", label: "trained", hue: 3 },
      ],
    },
  ];
}

function drawn({ lines, smooth, ...plan }: Plan, steps: readonly StepRecord[]): Chart {
  const series: Series[] = [];
  const window = smoothingWindow(steps.length);
  for (const { name, label, hue, look } of lines) {
    const values = steps.map((s) => s.metrics[name] ?? null);
    if (values.every((v) => v === null)) continue;
    if (smooth === true && window > 1) {
      series.push({ label, hue, values, look: "faint" }, { label, hue, values: movingMean(values, window) });
    } else {
      series.push({ label, hue, values, look });
    }
  }
  const note = smooth === true && window > 1 ? `${plan.note} Bold: mean over ${window} steps.` : plan.note;
  return {
    ...plan,
    note,
    x: steps.map((s) => s.step),
    series: plan.kind === "stacked" ? nonZero(series) : series,
  };
}

/** Odd, about a twentieth of the run; 1 (none) below a dozen steps. */
export function smoothingWindow(steps: number): number {
  return steps < 12 ? 1 : Math.max(3, 2 * Math.floor(steps / 40) + 1);
}

/** Centred mean over `window` entries, shorter at the ends; null entries do not count; null where all are. */
export function movingMean(values: readonly (number | null)[], window: number): (number | null)[] {
  const reach = Math.floor(window / 2);
  return values.map((_, i) => {
    const near = values.slice(Math.max(0, i - reach), i + reach + 1).filter((v) => v !== null);
    return near.length === 0 ? null : near.reduce((a, b) => a + b, 0) / near.length;
  });
}

/** A stack needs no layer that is never seen: one that never reaches a hundredth of the whole. */
function nonZero(series: readonly Series[]): Series[] {
  const sum = (s: Series) => s.values.reduce<number>((a, v) => a + (v ?? 0), 0);
  const total = series.reduce((a, s) => a + sum(s), 0);
  return series.filter((s) => sum(s) >= 0.01 * total);
}

/** The rest of every metric name that begins with `prefix`, in numeric order. */
function namesWith(steps: readonly StepRecord[], prefix: string): string[] {
  const found = new Set<string>();
  for (const { metrics } of steps) {
    for (const name in metrics) if (name.startsWith(prefix)) found.add(name.slice(prefix.length));
  }
  return [...found].sort((a, b) => Number(a) - Number(b));
}
