import type { Figure, FigureLine, FigureMark } from "../report/index.ts";
import { curveOf } from "./curves.ts";
import { bySeed, type CellResult, domainsOf, MEAN } from "./results.ts";
import { spreadOf } from "./spread.ts";
import { mixtureDomains, type Stage } from "./tables.ts";

const BAND = "Line: mean over seeds; band: one standard deviation to each side.";
const STEP = { label: "step" };

interface CurvePlan {
  readonly metric: string;
  readonly title: string;
  readonly note: string;
  readonly percent?: boolean;
  readonly smooth?: boolean;
}

const CURVES: readonly CurvePlan[] = [
  {
    metric: "score/mean",
    title: "Score",
    note: "Of the rollouts of a step, without length penalty.",
    smooth: true,
  },
  {
    metric: "reward/mean",
    title: "Reward",
    note: "The reward that is trained on: score plus length penalty.",
    smooth: true,
  },
  { metric: "length/mean", title: "Length", note: "Generated tokens of a rollout.", smooth: true },
  {
    metric: "entropy/mean",
    title: "Entropy",
    note: "Of the sampling distribution, nats per token.",
    smooth: true,
  },
  {
    metric: "groups/kept",
    title: "Groups kept",
    note: "Share of groups that the filter keeps for training.",
    percent: true,
    smooth: true,
  },
  {
    metric: "clip/sequences",
    title: "Clip fraction",
    note: "Sequences whose gradient the clip stopped.",
    percent: true,
    smooth: true,
  },
  { metric: "lag/mean", title: "Lag", note: "Of a step's rollouts, in steps.", smooth: true },
];

/** Training curves of all cells, superimposed. @param only titles; default: every logged metric */
export function curveFigures(cells: readonly CellResult[], only?: readonly string[]): Figure[] {
  const wanted = CURVES.filter(({ title }) => only === undefined || only.includes(title));
  return wanted.flatMap((plan) => overlaid(cells, plan));
}

function overlaid(cells: readonly CellResult[], plan: CurvePlan): Figure[] {
  const lines = cells.flatMap((cell, hue) => lineOf(cell, plan.metric, cell.name, hue, plan.smooth ?? false));
  if (!lines.some(varies)) return [];
  const smoothed = plan.smooth ? " Moving mean of each run." : "";
  const { title, percent = false } = plan;
  return [{ title, note: `${plan.note}${smoothed} ${BAND}`, x: STEP, y: { label: "", percent }, lines }];
}

/** True if a metric varies: a constant metric gets no figure. */
const varies = ({ points }: FigureLine): boolean => points.some(([, value]) => value !== points[0]![1]);

function lineOf(cell: CellResult, metric: string, label: string, hue: number, smooth: boolean): FigureLine[] {
  const curve = curveOf(cell, metric, smooth);
  if (curve === undefined) return [];
  const points = curve.steps.map((step, i) => [step, curve.mean[i]!] as const);
  const band = cell.runs.length > 1 ? { low: curve.low, high: curve.high } : undefined;
  return [{ label, hue, points, band }];
}

/** Accuracy against tokens, a panel for the mean and, with `domains`, for each domain. */
export function scatterFigures(cells: readonly CellResult[], domains: boolean): Figure[] {
  const panels = [MEAN, ...(domains ? domainsOf(cells) : [])];
  return panels.flatMap((domain) => {
    const marks = cells.flatMap((cell, hue) => markOf(cell, domain, "after", cell.name, hue));
    if (marks.length === 0) return [];
    const title = `Accuracy against tokens: ${domain === MEAN ? "mean of the domains" : domain}`;
    const note = "Held-out problems. Bars: one standard deviation over seeds. Up and to the left is better.";
    return [
      { title, note, x: { label: "tokens per answer" }, y: { label: "accuracy", percent: true }, marks },
    ];
  });
}

function markOf(
  cell: CellResult,
  domain: string,
  when: "before" | "after",
  label: string,
  hue: number,
): FigureMark[] {
  const x = spreadOf([...bySeed(cell, "meanTokens", domain, when).values()]);
  const y = spreadOf([...bySeed(cell, "solveRate", domain, when).values()]);
  if (x === undefined || y === undefined) return [];
  return [{ label, hue, x: x.mean, y: y.mean, xError: x.deviation ?? 0, yError: y.deviation ?? 0 }];
}

const STAGE_NOTE: Readonly<Record<Stage, string>> = {
  completed: "all rollouts that completed so far",
  trained: "all rollouts that were trained on so far",
};

/** The distance of each arm from its mixture, then each arm's shares with their targets dashed. */
export function mixtureFigures(arms: readonly CellResult[], stage: Stage): Figure[] {
  const far = overlaid(arms, {
    metric: `mixture/${stage}/mad`,
    title: `Distance from the mixture, ${stage}`,
    note: `Mean over the domains of the distance of a domain's share among ${STAGE_NOTE[stage]} from its target.`,
    percent: true,
  });
  const shares = arms.flatMap((arm) => {
    const lines = mixtureDomains(arms).flatMap((domain, hue) => [
      ...lineOf(arm, `mixture/target/${domain}`, `${domain}, target`, hue, false).map(asReference),
      ...lineOf(arm, `mixture/${stage}/${domain}`, domain, hue, false),
    ]);
    const note = `Share among ${STAGE_NOTE[stage]}; dashed: target. ${BAND}`;
    if (lines.length === 0) return [];
    return [
      {
        title: `Mixture over time, ${arm.name}: ${stage}`,
        note,
        x: STEP,
        y: { label: "share", percent: true },
        lines,
      },
    ];
  });
  return [...far, ...shares];
}

const asReference = ({ label, hue, points }: FigureLine): FigureLine => ({
  label,
  hue,
  points,
  look: "reference",
});
