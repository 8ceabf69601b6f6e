import { flow, PLAIN, percent, type Style } from "./ansi.ts";
import { fallenDomains, headlineSetting, meanChange } from "./held-out-change.ts";
import type { EvaluationTable, Imperfections, RunSummary, Score } from "./summary.ts";
import { textTable } from "./text-table.ts";

/** Most columns of a line of prose; longer lines are hard to read. */
const WIDEST_TEXT = 98;

/**
 * The before/after tables of a run as text of at most `columns`, one per sampling setting, with the note on what the
 * numbers mean.
 */
export function beforeAfterText(summary: RunSummary, style: Style = PLAIN, columns = 80): string {
  const blocks = summary.before.map((before, i) => settingBlock(before, summary.after[i], style, columns));
  const notes = honestyNotes(summary).map((note) => wrap(note, columns).join("\n"));
  return [...blocks, ...notes].join("\n\n");
}

/** Names a sampling setting: "T=1", "T=0.6, top-p 0.95". */
export function settingName(table: Pick<EvaluationTable, "temperature" | "topP">): string {
  const nucleus = table.topP === undefined || table.topP === 1 ? "" : `, top-p ${table.topP}`;
  return `T=${table.temperature}${nucleus}`;
}

/** Names of a table's rows: domains, the mean if there are several domains, then validation sets. */
export function scoreRows(
  before: EvaluationTable,
  after: EvaluationTable | undefined,
): { readonly name: string; readonly was: Score; readonly is: Score | undefined }[] {
  const domains = Object.entries(before.domains);
  return [
    ...domains.map(([name, was]) => ({ name, was, is: after?.domains[name] })),
    ...(domains.length > 1 ? [{ name: "mean", was: before.mean, is: after?.mean }] : []),
    ...Object.entries(before.sets ?? {}).map(([name, was]) => ({ name, was, is: after?.sets?.[name] })),
  ];
}

function settingBlock(
  before: EvaluationTable,
  after: EvaluationTable | undefined,
  style: Style,
  columns: number,
): string {
  const rows = scoreRows(before, after).map(({ name, was, is }) => [`  ${name}`, ...scoreCells(was, is)]);
  const mean = Object.keys(before.domains).length;
  const head = ["", "score", "", "solved", "tokens", "", "truncated", "n"];
  const paint = (line: string, row: number) =>
    row === -1 ? style.dim(line) : row === mean ? style.bold(line) : line;
  const lines = textTable({ head, rows, paint }, columns);
  return [`${style.bold(settingName(before))}  before -> after`, ...lines].join("\n");
}

function scoreCells(was: Score, is: Score | undefined): string[] {
  const pair = (show: (score: Score) => string) => `${show(was)} -> ${is === undefined ? "–" : show(is)}`;
  return [
    pair((s) => `${s.score.toFixed(3)} ±${s.standardError.toFixed(3)}`),
    is === undefined ? "" : signed(100 * (is.score - was.score), 1, " pt"),
    pair((s) => s.solveRate.toFixed(3)),
    pair((s) => s.meanTokens.toFixed(1)),
    is === undefined || was.meanTokens === 0
      ? ""
      : signed(100 * (is.meanTokens / was.meanTokens - 1), 0, " %"),
    pair((s) => percent(s.truncation)),
    pair((s) => String(s.n)),
  ];
}

/** "+31.2 pt", "−40 %": with a real minus sign. */
export function signed(value: number, digits: number, unit: string): string {
  const text = Math.abs(value).toFixed(digits);
  return `${value < 0 && Number(text) !== 0 ? "−" : "+"}${text}${unit}`;
}

function imperfection({ wrongAnswers, endless = 0, careless }: Imperfections): string {
  const answers =
    wrongAnswers === undefined
      ? []
      : [`${percent(wrongAnswers, 0)} end in a wrong answer and ${percent(endless, 0)} never end`];
  const messages =
    careless === undefined ? [] : [`${percent(careless, 0)} of the messages in episodes are careless`];
  return [...answers, ...messages].join("; ");
}

/** Sentences that a reader needs to interpret the numbers correctly. */
export function honestyNotes(summary: RunSummary): string[] {
  const notes: string[] = [];
  const gains = summary.before.map((before, i) => {
    const after = summary.after[i];
    return after === undefined ? undefined : 100 * (after.mean.score - before.mean.score);
  });
  const { demonstrations } = summary;
  const hot = headlineSetting(summary.before);
  if (summary.before[hot]?.mean.n === 0)
    return ["No problem was held out, so there is no score.", ...defaultsLeft(summary)];
  const unclear = noGain(summary.before[hot], summary.after[hot]);
  notes.push(...unclear, ...fallen(summary.before[hot], summary.after[hot]));
  if (demonstrations !== undefined && unclear.length === 0) {
    notes.push(
      `The warm start learnt from deliberately imperfect demonstrations: ${imperfection(demonstrations)}. Part of the gain is that reinforcement learning removes this noise again.`,
    );
    const cool = summary.before.findIndex((table) => table.temperature < 1);
    if (gains[cool] !== undefined && gains[hot] !== undefined) {
      const free = 100 * (summary.before[cool]!.mean.score - summary.before[hot]!.mean.score);
      notes.push(
        `A lower temperature alone (${settingName(summary.before[cool]!)}), without training, gains ${signed(free, 1, "")} points. At this temperature, where most of the noise is gone before and after training, the gain of training is ${signed(gains[cool], 1, "")} points; at T=1 it is ${signed(gains[hot], 1, "")}. The difference, ${signed(gains[hot] - gains[cool], 1, "")} points, estimates the part of the gain that is removal of noise.`,
      );
    }
  }
  notes.push(...atLimit(summary.after[hot] ?? summary.before[hot]));
  notes.push(...defaultsLeft(summary));
  if (summary.before.length > 0)
    notes.push("± is one standard error. Prompts are held out by hash: the policy was not trained on them.");
  return notes;
}

function defaultsLeft({ defaults = {} }: RunSummary): string[] {
  const left = Object.entries(defaults).map(([field, value]) => `${field} ${value}`);
  return left.length === 0 ? [] : [`Left at their defaults: ${left.join(", ")}.`];
}

/** The sentence on a mean that fell or did not clearly rise; none where there is a gain to explain. */
function noGain(before: EvaluationTable | undefined, after: EvaluationTable | undefined): string[] {
  const change = meanChange(before, after);
  if (change === undefined || change.is === "gain") return [];
  const { points, error, is } = change;
  const off = `one standard error of the difference: ${error.toFixed(1)}`;
  return is === "loss"
    ? [
        `The model got worse: the mean score fell by ${fallText(points, before!.mean, after!.mean)} (${off}). ${AFTER_A_LOSS}`,
      ]
    : [
        `The mean score changed by ${signed(points, 1, "")} points, which is within the noise of the measurement (${off}): no gain is shown.`,
      ];
}

/**
 * The sentence on a high share of answers that were cut: no fault where right answers are as long as the
 * limit, else a fault.
 */
function atLimit(table: EvaluationTable | undefined): string[] {
  if (table === undefined || table.mean.truncation <= MOST_CUT) return [];
  const { truncation, n } = table.mean;
  return [
    `${percent(truncation, 0)} of ${n} answers end at rollouts.maxOutputTokens. This is expected if right answers have exactly that length; otherwise the limit is too low.`,
  ];
}

/** Domains whose score fell, whatever the mean did. */
function fallen(before: EvaluationTable | undefined, after: EvaluationTable | undefined): string[] {
  if (before === undefined || after === undefined || Object.keys(before.domains).length < 2) return [];
  const falls = fallenDomains(before, after).map(
    ([name, { points }]) => `${name} by ${fallText(points, before.domains[name]!, after.domains[name]!)}`,
  );
  return falls.length === 0
    ? []
    : [`Domains that got worse by over three standard errors: ${falls.join("; ")}.`];
}

const fallText = (points: number, was: Score, is: Score): string =>
  `${(-points).toFixed(1)} points, from ${was.score.toFixed(3)} to ${is.score.toFixed(3)}`;

const MOST_CUT = 0.5;
const AFTER_A_LOSS =
  "A learning rate that is too high is the usual cause: lower optimizer.lr. With evaluation.everySteps and checkpoint.keepBest a run keeps its best step.";

function wrap(text: string, columns: number): string[] {
  return flow(text.split(" "), Math.min(WIDEST_TEXT, columns) - 2, " ").map((line) => `  ${line}`);
}
