import { padEnd } from "../report/ansi.ts";
import { clip, flow, textTable } from "../report/index.ts";
import type { Hint, NamedProblem, Sample, Taking, WholeSample } from "../samples/index.ts";
import { visibleText } from "../shared/text/visible-text.ts";

/** Number of leading characters used for a one-line excerpt. */
const EXCERPT_CHARS = 400;
/** Characters shown from each end of a sample's text. */
const SHOWN_CHARS = 20_000;

/** Formats one row per sample, followed by the beginning of its response after the thought. */
export function samplesText(total: number, samples: readonly WholeSample[], columns: number): string {
  const head = ["problem", "step", "group", "try", "verdict", "reward", "adv.", "tokens", "weights"];
  const [first, ...rows] = textTable({ head, rows: samples.map(cellsOf) }, Number.MAX_SAFE_INTEGER);
  const lines = rows.flatMap((row, i) => [row, `    ${excerpt(samples[i]!)}`]);
  const of = total === samples.length ? `${total}` : `${samples.length} of ${total}`;
  return [...[first!, ...lines].map((line) => clip(line, columns)), "", `${of} completions`].join("\n");
}

function cellsOf(one: Sample): string[] {
  const [first, last] = one.versions;
  const left = one.dropped ?? (one.masked ? "masked" : undefined);
  return [
    `${one.domain} ${one.problem}`,
    String(one.step),
    String(one.group),
    String(one.attempt),
    left === undefined ? one.status : `${one.status}, ${left}`,
    number(one.reward),
    number(one.advantage),
    `${one.tokens}${one.finish === "length" ? " cut" : ""}`,
    first === last ? `${first}` : `${first}..${last}`,
  ];
}

const number = (value: number | undefined): string => value?.toFixed(3) ?? "-";

/** Collapses white space to single spaces before escaping, for one line. */
function excerpt({ response, thought }: WholeSample): string {
  const text = response.trim() === "" && thought !== undefined ? `(thinks) ${thought}` : response;
  return visibleText(text.slice(0, EXCERPT_CHARS).replace(/\s+/g, " ").trim());
}

/** Text with everything that is known about a sample. */
export function wholeSampleText(one: WholeSample): string {
  const { penaltyScale = 0, penalty = 0 } = one;
  const facts = [
    `step ${one.step}, group ${one.group}, attempt ${one.attempt}: ${one.domain} problem ${one.problem}${one.drawn === one.problem ? "" : `, drawn as ${one.drawn}`} (${one.family}, level ${one.level})`,
    `verdict: ${one.status}${one.score === undefined ? "" : `, score ${one.score}`}${one.reason === undefined ? "" : `: ${one.reason}`}`,
    ...(one.rescored === undefined ? [] : [`judged again: ${one.rescored}`]),
    ...(one.reward === undefined
      ? []
      : [
          `reward ${number(one.reward)} (penalty ${number(penaltyScale)} x ${number(penalty)}), advantage ${number(one.advantage)}`,
        ]),
    ...(one.dropped === undefined ? [] : [`not trained on: ${one.dropped}`]),
    `${one.tokens} tokens, ended by ${one.finish}; weights ${runsText(one.versionRuns)}`,
  ];
  const parts = [
    ...(one.prompt === undefined ? [] : [part("prompt", one.prompt)]),
    ...spoken(one),
    part(
      "reference",
      typeof one.reference === "string" ? one.reference : (JSON.stringify(one.reference) ?? ""),
    ),
  ];
  return [...facts.map(visibleText), ...parts].join("\n");
}

/** The lines of a completion: thought and response, or the turns of an episode with their speakers. */
function spoken({ turns, thought, response }: WholeSample): string[] {
  if (turns !== undefined) return turns.map(({ by, text }) => part(by, text));
  return [...(thought === undefined ? [] : [part("thought", thought)]), part("response", response)];
}

/** Formats version runs: "3 from token 0, 4 from token 120". */
function runsText(runs: readonly number[]): string {
  const pairs = runs.flatMap((token, i) => (i % 2 === 0 ? [`${runs[i + 1]} from token ${token}`] : []));
  return pairs.join(", ") || "-";
}

/** Returns a named text, indented and fit for a terminal. */
export function part(name: string, text: string): string {
  const lines = visibleText(ends(text)).trim().split("\n");
  return `${name}:\n${lines.map((line) => `  | ${line}`).join("\n")}`;
}

function ends(text: string): string {
  if (text.length <= 2 * SHOWN_CHARS) return text;
  const left = text.length - 2 * SHOWN_CHARS;
  return `${text.slice(0, SHOWN_CHARS)}\n[... ${left} characters ...]\n${text.slice(-SHOWN_CHARS)}`;
}

export function problemsText(
  { total, problems }: { readonly total: number; readonly problems: readonly NamedProblem[] },
  columns: number,
): string {
  const head = [
    "problem",
    "row",
    "family",
    "level",
    "groups",
    "judged",
    "unscored",
    "solved",
    "first",
    "last",
    "steps",
    "tokens",
    "begins",
  ];
  const percent = (rate: number) => `${Math.round(100 * rate)} %`;
  const rows = problems.map((one) => [
    `${one.domain} ${one.problem}`,
    visibleText(one.row?.split("/").at(-1) ?? "-"),
    one.family,
    String(one.level),
    String(one.groups),
    String(one.judged),
    String(one.unscored),
    percent(one.solveRate),
    percent(one.firstRate),
    percent(one.lastRate),
    `${one.firstStep}..${one.lastStep}`,
    one.meanTokens.toFixed(0),
    visibleText(one.begins ?? ""),
  ]);
  const of = total === problems.length ? `${total}` : `${problems.length} of ${total}`;
  return [...textTable({ head, rows }, columns), "", `${of} problems`].join("\n");
}

/** The groups of one problem, one row each. */
export function takingsText(takings: readonly Taking[], columns: number): string {
  const head = ["step", "group", "judged", "solved", "rate", "unscored", "cut", "reward", "tokens"];
  const rows = takings.map((one) => [
    String(one.step),
    String(one.group),
    String(one.judged),
    String(one.solved),
    one.solveRate.toFixed(2),
    String(one.unscored),
    String(one.truncated),
    number(one.meanReward),
    one.meanTokens.toFixed(1),
  ]);
  return textTable({ head, rows }, columns).join("\n");
}

/** Prints one attempt's response in the problem's first group and in its last. */
export function beforeAfterSamples(before: WholeSample, after: WholeSample, columns: number): string {
  const [left, right] = [before, after].map((one) => ({
    title: `step ${one.step}: ${one.status}, reward ${number(one.reward)}, ${one.tokens} tokens`,
    text: one.text,
  }));
  const prompt = before.prompt === undefined ? [] : [part("prompt", before.prompt), ""];
  return [...prompt, sideBySide(left!, right!, columns)].join("\n");
}

interface Side {
  readonly title: string;
  readonly text: string;
}

/** Returns two texts in two columns, each under its title. */
export function sideBySide(left: Side, right: Side, columns: number): string {
  const width = Math.max(20, Math.floor((columns - 3) / 2));
  const linesOf = ({ title, text }: Side) => [
    title,
    "",
    ...visibleText(ends(text))
      .split("\n")
      .flatMap((line) => broken(line, width)),
  ];
  const [first, second] = [linesOf(left), linesOf(right)];
  return Array.from({ length: Math.max(first.length, second.length) }, (_, i) =>
    `${padEnd(first[i] ?? "", width)} | ${clip(second[i] ?? "", width)}`.trimEnd(),
  ).join("\n");
}

/** Splits a line into pieces of at most `columns` characters, between words where possible. */
function broken(line: string, columns: number): string[] {
  const words = line.split(" ").flatMap((word) => word.match(new RegExp(`.{1,${columns}}`, "gu")) ?? [""]);
  return flow(words, columns, " ");
}

/** A hint with the samples that show it. */
export type ShownHint = Omit<Hint, "rows"> & { readonly samples: readonly Sample[] };

export function hintsText(found: readonly ShownHint[], columns: number): string {
  if (found.length === 0) return "No signs of reward hacking.";
  return found.map((hint) => hintText(hint, columns)).join("\n\n");
}

function hintText({ kind, says, quotes = {}, samples }: ShownHint, columns: number): string {
  const quoted = Object.entries(quotes).map(([name, text]) => `  ${name}: ${text.replace(/\s+/g, " ")}`);
  const shown = samples.map((one) => `step ${one.step} group ${one.group} attempt ${one.attempt}`);
  const lines = [`${kind}: ${says}`, ...quoted].map(visibleText);
  const see = flow([`see: ${shown[0] ?? "none"}`, ...shown.slice(1)], columns - 2, "; ");
  return [...lines.flatMap((line) => wrapped(line, columns)), ...see.map((line) => `  ${line}`)].join("\n");
}

/** Wraps a line at `columns` characters; indents all pieces except the first. */
function wrapped(line: string, columns: number): string[] {
  const [first, ...rest] = broken(line, Math.max(1, columns - 2));
  return [first ?? "", ...rest.map((more) => `  ${more}`)];
}
