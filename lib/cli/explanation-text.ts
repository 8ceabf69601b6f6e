import type { ExplainedSettings, ExplainedToken, Explanation, GradientPart } from "../explain/index.ts";
import { type Style, textTable } from "../report/index.ts";
import { visibleText } from "../shared/text/visible-text.ts";

/** Text of `hone explain`: from verdict to gradient, then one row per token. */
export function explanationText(explanation: Explanation, columns: number, style: Style): string {
  const { settings } = explanation;
  const lines = [
    ...head(explanation, style),
    "",
    ...textTable({ head: ["", ...settings.map(title)], rows: chain(explanation) }, columns),
    "",
    ...tokenTable(settings, columns, style),
    "",
    ...[...LEGEND, ...unknownOf(settings), ...pulledOf(settings)].map(style.dim),
  ];
  return lines.map((line) => line.trimEnd()).join("\n");
}

const LEGEND = [
  "then, now: the token's log-prob when it was sampled, and under the weights before the step. ratio: the ratio that the clip bounds.",
  "coefficient: slope of the step's loss in the token's log-prob; if negative, the step makes the token more likely; if 0, it has no effect.",
];

/** A line that says with which model the divergence column compares the policy; empty without such a column. */
function pulledOf([trained]: readonly ExplainedSettings[]): string[] {
  const isPulled = trained!.tokens.some(({ divergence }) => divergence !== undefined);
  return isPulled
    ? [
        `divergence: how far the token's distribution is from the ${trained!.objective.klEstimator === "full" ? "reference" : "teacher"}'s; the coefficients do not include its gradient.`,
      ]
    : [];
}

/** Settings of a custom objective that are unknown. */
function unknownOf(settings: readonly ExplainedSettings[]): string[] {
  const custom = settings.filter(({ objective }) => objective.kind === "custom");
  if (custom.length === 0) return [];
  const shared = custom.some(({ sequence }) => sequence !== undefined && sequence.loss === undefined);
  return [
    `custom objective: only its own code knows its bounds, what they clip and the weight of a sequence${shared ? "; it gave one loss for several sequences" : ""}.`,
  ];
}

function head({ step, version, from, group, ...of }: Explanation, style: Style): string[] {
  const again = from.trainedAgain;
  const way = again === 0 ? "" : `, ${again} step${again === 1 ? "" : "s"} trained again from there`;
  const verdict =
    "score" in of.verdict ? `${of.verdict.status}, score ${number(of.verdict.score)}` : "unscored";
  const why = "score" in of.verdict ? of.verdict.reason : of.verdict.cause;
  return [
    style.bold(
      `step ${step}: ${of.domain} problem ${of.problem} (${of.family}, level ${of.level}), attempt ${of.attempt}, group ${group}`,
    ),
    `weights before the step: version ${version}, from ${from.checkpoint}${way}; loss and gradient are the run's to the bit`,
    ...(of.first === undefined
      ? []
      : [`first trained in step ${of.first}; all settings use the rewards and advantages of that step`]),
    `verdict: ${verdict} (${onOneLine(why)}), ended by ${of.finish}`,
    ...of.settings.filter(({ set }) => set.length > 0).map(({ set }) => `otherwise: ${set.join(", ")}`),
  ];
}

const onOneLine = (text: string): string => visibleText(text.replaceAll("\n", "\\n").replaceAll("\t", "\\t"));

const title = ({ set }: ExplainedSettings): string => (set.length === 0 ? "as trained" : "otherwise");

const number = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value) : value.toPrecision(5);
const maybe = (value: number | undefined): string => (value === undefined ? "–" : number(value));

/** Rows of the computation from verdict to gradient; rows that no settings use are left out. */
function chain({ settings }: Explanation): string[][] {
  const row = (name: string, of: (settings: ExplainedSettings) => string) => [name, ...settings.map(of)];
  const rows = [
    row("R, reward of the verdict", ({ reward }) => maybe(reward?.verdict)),
    row("P, length penalty", penaltyCell),
    row("λ, its scale", ({ reward }) =>
      reward === undefined ? "–" : `${number(reward.penalty.scale)} (${reward.penalty.why})`,
    ),
    row(
      "reward R + λP",
      ({ reward, group }) => `${maybe(reward?.reward)}${group.byHook ? " (set by a hook)" : ""}`,
    ),
    row("rewards, each normalised", sharesCell),
    row("group", ({ group }) => `${group.size} judged, solve rate ${number(group.solveRate)}`),
    row("mean ± deviation", ({ group }) => `${number(group.mean)} ± ${number(group.deviation)}`),
    row("lowest to highest", ({ group }) => `${number(group.lowest)} to ${number(group.highest)}`),
    row("baseline", ({ reward, group }) => `${maybe(reward?.baseline)} (${group.baseline})`),
    row("divided by", ({ reward, group }) => `${maybe(reward?.divisor)} (${group.divideBy})`),
    row("advantage A", ({ reward, tokens, group }) => {
      const own = tokens.some(({ advantage }) => advantage !== undefined);
      const set = group.advantagesByHook ? " (set by a hook)" : "";
      return `${maybe(reward?.advantage)}${set}${own ? " (of the reward; tokens have their own)" : ""}`;
    }),
    row("trained", trainedCell),
    row("objective", objectiveCell),
    row("clip", ({ sequence: { clipLow, clipHigh, dualClip } = {} }) =>
      clipLow === undefined || clipHigh === undefined
        ? "–"
        : `${number(1 - clipLow)} to ${number(1 + clipHigh)}${dualClip === undefined ? "" : `; ${number(dualClip)} where A < 0`}`,
    ),
    row("sequence ratio", ({ sequence }) => maybe(sequence?.ratio)),
    row("tokens clipped", ({ sequence }) =>
      sequence?.clippedTokens === undefined ? "–" : `${sequence.clippedTokens} of ${sequence.tokens}`,
    ),
    row("sequence weight", ({ sequence }) => maybe(sequence?.weight)),
    row("loss of the sequence", ({ sequence }) => maybe(sequence?.loss)),
    row("update", ({ step }) => (step?.update ? `${step.update.number} of ${step.update.of}` : "–")),
    row("loss of the step", ({ step }) => maybe(step?.loss)),
    row("gradient's norm |g|", ({ step }) => maybe(step?.gradNorm)),
    row("clipped to", ({ step }) => maybe(step && step.gradNorm * step.gradScale)),
    ...gradientRows(settings),
  ];
  return rows.filter(([, ...cells]) => cells.some((cell) => cell !== "–"));
}

function sharesCell({ reward }: ExplainedSettings): string {
  if (reward?.shares === undefined) return "–";
  const sum = reward.shares.reduce((all, { weight, normalised }) => all + weight * normalised, 0);
  const each = reward.shares.map(
    ({ name, weight, normalised }) => `${name} ${number(weight)} × ${number(normalised)}`,
  );
  return `${onOneLine(each.join(", "))}: ${number(sum)}`;
}

function penaltyCell({ reward }: ExplainedSettings): string {
  if (reward === undefined) return "–";
  const { kind, tokens, maxOutputTokens: L, bufferTokens: B = 0, penalty } = reward.penalty;
  if (kind === "none") return "0 (none)";
  return `${number(penalty)} (${tokens} tokens, L ${L}, ramp from ${L - B})`;
}

function objectiveCell({ objective: { kind, slopes } }: ExplainedSettings): string {
  if (slopes === undefined) return kind;
  return `${kind}, ${onOneLine("module" in slopes ? slopes.module : slopes.function)}`;
}

function trainedCell({ sequence, step, group, reward }: ExplainedSettings): string {
  if (sequence !== undefined) return `sequence ${sequence.sequence} of ${step!.sequences}`;
  if (group.dropped !== undefined) return `no: ${group.dropped}`;
  return reward === undefined ? "no: unscored" : "no: overlong";
}

function gradientRows(settings: readonly ExplainedSettings[]): string[][] {
  const row = (name: string, of: (part: GradientPart) => number, which: "sequence" | "token") => [
    name,
    ...settings.map(({ gradient }) => maybe(gradient?.[which] && of(gradient[which]!))),
  ];
  return (["sequence", "token"] as const).flatMap((which) => [
    row(`|g_x| of the ${which}`, ({ norm }) => norm, which),
    row("  cosine to g", ({ cosine }) => cosine, which),
    row("  share <g_x, g>/|g|²", ({ share }) => share, which),
  ]);
}

/** Colours each token: green where the step raises its probability, red where it lowers it, dim where it does neither. */
function tokenTable(settings: readonly ExplainedSettings[], columns: number, style: Style): string[] {
  const [trained, ...others] = settings;
  const taught = trained!.tokens.some(({ advantage }) => advantage !== undefined);
  const pulled = trained!.tokens.some(({ divergence }) => divergence !== undefined);
  const names = [
    "token",
    "version",
    "then",
    "now",
    ...(taught ? ["A"] : []),
    ...(pulled ? ["divergence"] : []),
    "ratio",
    "clipped",
    "coefficient",
  ];
  const head = [...names, ...others.flatMap(() => ["· ratio", "· clipped", "· coefficient"])];
  const rows = trained!.tokens.map((token, i) => [
    `${String(token.index).padStart(4)} ${onOneLine(token.text)}`,
    token.lag === 0 ? String(token.version) : `${token.version} (−${token.lag})`,
    token.given ? "–" : token.behavior.toFixed(4),
    token.given ? "–" : token.now.toFixed(4),
    ...(taught ? [maybe(token.advantage)] : []),
    ...(pulled ? [maybe(token.divergence)] : []),
    ...termCells(token),
    ...others.flatMap(({ tokens }) => termCells(tokens[i]!)),
  ]);
  const paint = (line: string, row: number) => {
    if (row < 0) return style.bold(line);
    const { coefficient } = trained!.tokens[row]!;
    return coefficient === 0 ? style.dim(line) : style.hue(coefficient < 0 ? 2 : 5, line);
  };
  return textTable({ head, rows, paint }, columns);
}

function termCells(token: ExplainedToken): string[] {
  if (token.given) return ["–", "given", "0"];
  const { ratio, tokenRatio, clipped, bounded, weight, tokenWeight, tokenPenalty, coefficient } = token;
  const rule = tokenWeight === 0 ? "not chosen" : tokenPenalty ? `held × ${number(tokenPenalty)}` : undefined;
  const sides = [clipped, bounded && `w ${bounded}`, rule].filter((side) => side !== undefined).join(", ");
  const times = weight === undefined ? "" : ` × w ${weight.toFixed(4)}`;
  return [
    `${(ratio ?? tokenRatio).toFixed(5)}${times}`,
    sides || "–",
    coefficient === 0 ? "0" : coefficient.toExponential(4),
  ];
}
