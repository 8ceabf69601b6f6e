/** @import { ChartSpec, ChartLine } from "./chart-data.js" */
/** @import { RunInfo } from "../wire.ts" */

const DOMAIN_HUE = 0;
const NEUTRAL = 5;
const QUANTILES = [1, 5, 25, 50, 75, 95, 99];

/**
 * By chart, the metric that represents all its lines when several runs have one line each. @type {{ [id: string]:
 * [name: string, says: string, unit?: string] }}
 */
const MAIN_LINES = {
  success: ["success", "rollouts judged correct, over all domains"],
  length: ["length/mean", "generated tokens, mean"],
  ratio: ["ratio/p50", "the median"],
  mismatch: ["mismatch/policy/mean", "older weights, mean"],
  mixture: ["mixture/trained/mad", "mean distance of the domains' shares from their targets"],
  lag: ["lag/mean", "mean lag", "steps"],
  time: ["time/step", "the whole step"],
  nothing: ["verdict/unscored", "unscored rollouts"],
};

/**
 * The twelve charts of docs/reference/metrics.md's first screen, for what these runs have.
 * @param {readonly RunInfo[]} runs @param {readonly string[]} stages of a step
 * @param {boolean} [everyLine] also where there are several runs @returns {ChartSpec[]}
 */
export function firstScreen(runs, stages, everyLine = false) {
  const lines = linesOf(runs);
  const specs = [...answerCharts(lines), ...trainingCharts(lines, stages)];
  return runs.length > 1 && !everyLine ? specs.map((spec) => oneLineEach(spec, lines.has)) : specs;
}

/**
 * A chart with one line for each of several runs.
 * @param {ChartSpec} spec @param {(name: string) => boolean} has @returns {ChartSpec}
 */
export function oneLineEach(spec, has) {
  if (spec.lines.length < 2) return spec;
  const [name = "", says = "", unit = spec.unit] = MAIN_LINES[spec.id] ?? [];
  const { stacked: _, range: __, rightUnit: ___, absent: ____, ...rest } = spec;
  const line = has(name) ? one(name, says) : { ...spec.lines[0], hue: 0, right: false };
  return { ...rest, unit, note: `A line a run: ${has(name) ? says : line.label}.`, lines: [line] };
}

const one = (/** @type {string} */ name, /** @type {string} */ label, hue = 0) => ({ name, label, hue });

/** The metrics that runs have, as lines of charts. @param {readonly RunInfo[]} runs */
function linesOf(runs) {
  const names = [...new Set(runs.flatMap((run) => [...run.names]))];
  const domains = [...new Set(runs.flatMap((run) => [...run.domains]))];
  const has = (/** @type {string} */ name) => names.includes(name);
  const rest = (/** @type {string} */ prefix) =>
    names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const each = (/** @type {string} */ prefix, /** @type {readonly string[]} */ list = rest(prefix)) =>
    list.filter((one) => has(prefix + one)).map((label, hue) => ({ name: prefix + label, label, hue }));
  const byDomain = (/** @type {string} */ prefix) =>
    domains.flatMap((label, hue) =>
      has(prefix + label) ? [{ name: prefix + label, label, hue: hue + DOMAIN_HUE }] : [],
    );
  return { has, rest, each, byDomain };
}

/** Charts of the policy's answers. @param {ReturnType<typeof linesOf>} lines @returns {ChartSpec[]} */
function answerCharts({ has, byDomain }) {
  return [
    {
      id: "score",
      title: "Score",
      note: "Mean score of the verdicts of finished rollouts.",
      unit: "score",
      lines: [one("score/mean", "mean")],
    },
    {
      id: "success",
      title: "Solved",
      note: "Rollouts judged correct, by domain.",
      unit: "fraction",
      lines: byDomain("success/"),
    },
    {
      id: "length",
      title: "Length",
      note: "Generated tokens; dashed, at the right: cut at the limit.",
      unit: "tokens",
      rightUnit: "fraction",
      lines: [one("length/mean", "mean"), { ...one("truncated", "truncated", 1), right: true }],
    },
    {
      id: "entropy",
      title: "Entropy",
      note: "Of the sampling distribution, mean over tokens.",
      unit: "nats",
      lines: [one("entropy/mean", "mean")],
    },
    {
      id: "ratio",
      title: "Sequence ratio",
      note: "New over old probability, quantiles; dashed, at the right: sequences clipped.",
      unit: "–",
      rightUnit: "fraction",
      lines: [
        ...QUANTILES.filter((q) => has(`ratio/p${q}`)).map((q) =>
          one(`ratio/p${q}`, `p${q}`, q === 50 ? 0 : q < 50 ? 2 : 3),
        ),
        { ...one("clip/sequences", "clipped", 1), right: true },
      ],
    },
  ];
}

/** Charts of training. @param {ReturnType<typeof linesOf>} lines @param {readonly string[]} stages @returns {ChartSpec[]} */
function trainingCharts({ has, rest, each, byDomain }, stages) {
  return [
    {
      id: "mismatch",
      title: "Engine against trainer",
      note: "Difference of log-probs. Same weights and keys, largest: 0 on the CPU. Dashed, at the right: older weights, mean.",
      unit: "nats",
      rightUnit: "nats",
      lines: [
        one("mismatch/kernel/max", "same"),
        one("mismatch/stale-kv/max", "older keys", 2),
        { ...one("mismatch/policy/mean", "older weights", 1), right: true },
      ],
    },
    {
      id: "groups",
      title: "Groups without a signal",
      note: "Every member scored the same: nothing to learn.",
      unit: "fraction",
      lines: [one("groups/zero-score-std", "zero spread")],
    },
    {
      id: "mixture",
      title: "Mixture trained",
      note: "Share of each domain in all rollouts trained so far.",
      unit: "fraction",
      lines: several(byDomain("mixture/trained/")),
    },
    {
      id: "lag",
      title: "Lag",
      note: "Share of the rollouts trained whose oldest token is so many steps old.",
      unit: "fraction",
      range: [0, 1],
      absent: 0,
      lines: each(
        "lag/share/",
        rest("lag/share/").sort((a, b) => parseInt(a, 10) - parseInt(b, 10)),
      ),
    },
    {
      id: "grad",
      title: "Gradient norm",
      note: "Before clipping.",
      unit: "–",
      lines: [one("grad/norm", "norm", 3)],
    },
    {
      id: "time",
      title: "Time per step",
      note: "The trainer's step, split; the engine generates beside it.",
      unit: "s",
      stacked: true,
      lines: each("time/", stages),
    },
    {
      id: "nothing",
      title: "Should be nothing",
      note: "Unscored rollouts, each verifier's time-outs; at the right: steps skipped.",
      quiet: "0 at every step",
      unit: "fraction",
      rightUnit: "steps",
      lines: troubles(has, each("verifier/timeouts/")),
    },
  ];
}

/** The lines of a mixture; none for a single domain. @param {ChartLine[]} lines */
const several = (lines) => (lines.length > 1 ? lines : []);

/** @param {(name: string) => boolean} has @param {ChartLine[]} timeouts @returns {ChartLine[]} */
function troubles(has, timeouts) {
  return [
    { name: "verdict/unscored", label: "unscored", hue: 1 },
    ...timeouts.map(({ name, label }, i) => ({ name, label: label, hue: 2 + i })),
    { name: "step/skipped-total", label: "skipped", hue: NEUTRAL, right: true },
  ].filter(({ name }) => has(name));
}
