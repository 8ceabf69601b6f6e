import { type Figure, figureSvg, type Html, html, htmlDocument, htmlTable } from "../report/index.ts";
import type { Machine } from "./machine.ts";
import type { SimulatedRun } from "./run-facts.ts";
import type { SweptVariant } from "./sweep.ts";
import { runText, sweepTable } from "./tables.ts";
import type { Axis } from "./variants.ts";

const X: Readonly<Record<Axis, string>> = {
  split: "GPUs that generate",
  lag: "maxLag",
  nodes: "nodes",
};

/** A sweep as one self-contained HTML page. */
export function sweepPage(name: string, axis: Axis, swept: readonly SweptVariant[]): string {
  return page(
    name,
    `simulated, by ${X[axis]}; * as asked for`,
    html`${htmlTable(sweepTable(swept))}${figures(sweepFigures(axis, swept))}`,
  );
}

/** Figures along an axis: time, utilisation and lag. */
export function sweepFigures(axis: Axis, swept: readonly SweptVariant[]): Figure[] {
  const x = { label: X[axis] };
  const along = (label: string, hue: number, of: (run: SimulatedRun) => number) => ({
    label,
    hue,
    points: swept.map((variant) => [variant.x, of(variant.run)] as const),
  });
  const gpuHours = swept.some(({ run }) => run.gpuHours > 0);
  return [
    {
      title: "Hours",
      note: "Of the whole run.",
      x,
      y: { label: "hours" },
      lines: [along("hours", 0, ({ hours }) => hours)],
    },
    ...(gpuHours
      ? [
          {
            title: "GPU-hours",
            note: "Hours of all GPUs, those that wait included.",
            x,
            y: { label: "GPU-hours" },
            lines: [along("GPU-hours", 1, (run) => run.gpuHours)],
          },
        ]
      : []),
    {
      title: "Busy",
      note: "Share of the time.",
      x,
      y: { label: "busy", percent: true, range: [0, 1] as const },
      lines: [
        along("engines", 0, ({ busy }) => busy.actors),
        along("trainer", 1, ({ busy }) => busy.trainers),
        along("verifiers", 2, ({ busy }) => busy.verifiers),
      ],
    },
    {
      title: "Lag",
      note: "Steps between the weights that sampled a rollout's first token and those it trains.",
      x,
      y: { label: "steps" },
      lines: [along("mean", 0, ({ lag }) => lag.mean), along("most", 1, ({ lag }) => lag.max)],
    },
  ];
}

/** A run as one self-contained HTML page. */
export function runPage(name: string, machine: Machine, run: SimulatedRun): string {
  const text = html`<div class="card"><pre>${runText(name, machine, run)}</pre></div>`;
  return page(name, "simulated", html`${text}${figures(runFigures(run))}`);
}

/** Seconds of the steps, how far the mixture is off, and lag, along the run. */
export function runFigures({ steps, mixture }: SimulatedRun): Figure[] {
  const x = { label: "step" };
  const along = (label: string, hue: number, of: (step: SimulatedRun["steps"][number]) => number) => ({
    label,
    hue,
    points: steps.map((step, i) => [i + 1, of(step)] as const),
  });
  const share = (domain: string) => (step: SimulatedRun["steps"][number]) => {
    const all = Object.values(step.completed).reduce((sum, count) => sum + count, 0);
    return step.completed[domain]! / Math.max(1, all) - mixture.targets[domain]!;
  };
  return [
    {
      title: "A step",
      note: "Seconds that the trainer waits for rollouts, and that it trains.",
      x,
      y: { label: "seconds" },
      lines: [
        along("waiting", 0, ({ waiting }) => waiting),
        along("training", 1, ({ training }) => training),
      ],
    },
    {
      title: "Off the mixture",
      note: "Share of a domain among the rollouts completed so far, less its target.",
      x,
      y: { label: "share", percent: true },
      lines: Object.keys(mixture.targets).map((domain, hue) => along(domain, hue, share(domain))),
    },
    {
      title: "Lag",
      note: "Of the rollouts of a step, at their first token.",
      x,
      y: { label: "steps" },
      lines: [along("mean", 0, ({ lag }) => lag.mean), along("most", 1, ({ lag }) => lag.max)],
    },
  ];
}

function page(name: string, lead: string, main: Html): string {
  return htmlDocument(
    `${name} – Hone simulation`,
    html`<header><h1>${name}</h1><p class="lead">${lead}</p></header>
${main}
<footer>Written by Hone: a model of a run, no measurement (docs/how-to/simulate.md).</footer>`,
  );
}

const figures = (all: readonly Figure[]): Html =>
  html`<div class="charts figures">${all.map(figureOf)}</div>`;

const figureOf = (figure: Figure): Html =>
  html`<figure class="card"><figcaption><h3>${figure.title}</h3><p>${figure.note}</p></figcaption>${figureSvg(figure)}</figure>`;
