import { basename } from "node:path";
import type { Fault, RawRow } from "./raw-row.ts";
import type { Refusal } from "./row-judge.ts";
import type { RowDraft } from "./row-reader.ts";

/** Number of rows with one outcome, and the locations of the first of them. */
export interface Tally {
  readonly reason: string;
  readonly rows: number;
  /** Locations of the first rows with this outcome, as "file:row". */
  readonly first: readonly string[];
}

/** A data set of the Hub as a recipe names it, and the commit that its revision stood for. */
export interface HubOrigin {
  readonly name: string;
  readonly commit: string;
}

/** Counts of the rows of one source by outcome: rows = training + heldOut + bad + leftOut + duplicates. */
export interface DatasetReport {
  readonly kind: string;
  readonly files: number;
  /** Data sets of the Hub that the files came from. */
  readonly hub?: readonly HubOrigin[];
  /** Files whose name says that they do not belong to the set. */
  readonly otherFiles: readonly string[];
  readonly rows: number;
  readonly training: number;
  readonly heldOut: number;
  /** Columns that hold the question in the used rows, if rows of the kind differ. */
  readonly questions?: readonly Tally[];
  /** Fields that held the answer in the used rows, if rows of the kind differ. */
  readonly answers?: readonly Tally[];
  /** Damaged rows, by reason. */
  readonly bad: readonly Tally[];
  /** Sound rows that the options exclude or the verifier cannot read; by reason. */
  readonly leftOut: readonly Tally[];
  /**
   * Rows with the content of an earlier row, counted by whether the reference is the same too; the first row
   * is used.
   */
  readonly duplicates: readonly Tally[];
}

const FIRST = 5;

/** Counts by reason, most frequent first. */
export class Tallies {
  readonly #byReason = new Map<string, { rows: number; first: string[] }>();

  /** @param place the row's location; a function is called only if the location is kept */
  add(reason: string, place: string | (() => string)): void {
    let tally = this.#byReason.get(reason);
    if (tally === undefined) {
      tally = { rows: 0, first: [] };
      this.#byReason.set(reason, tally);
    }
    tally.rows += 1;
    if (tally.first.length < FIRST) tally.first.push(typeof place === "string" ? place : place());
  }

  /** @param first locations of the first rows, as many as are kept */
  addAll(reason: string, rows: number, first: readonly string[]): void {
    const { rows: before = 0, first: known = [] } = this.#byReason.get(reason) ?? {};
    this.#byReason.set(reason, { rows: before + rows, first: [...known, ...first].slice(0, FIRST) });
  }

  get rows(): number {
    return this.list().reduce((sum, { rows }) => sum + rows, 0);
  }

  list(): Tally[] {
    const all = [...this.#byReason].map(([reason, { rows, first }]) => ({ reason, rows, first }));
    return all.sort((a, b) => b.rows - a.rows || (a.reason < b.reason ? -1 : 1));
  }
}

/** "1 row", "57,000 rows". */
export const counted = (n: number, noun: string): string =>
  `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

/** One line: "orz: 57,000 rows: 51,210 to train on, 5,690 held out, 60 bad (not JSON: 60, first x.json:7)". */
export function reportLine(report: DatasetReport): string {
  const used = [`${grouped(report.training)} to train on`, `${grouped(report.heldOut)} held out`];
  const parts = [...used, ...unusedTexts(report)];
  return `${report.kind}: ${counted(report.rows, "row")}: ${parts.join(", ")}${columnsText(report)}`;
}

const grouped = (rows: number): string => rows.toLocaleString("en");

/** Descriptions of unused rows: bad ones as in "60 bad (not JSON: 60, first x.json:7)", rows left out, and duplicates. */
export function unusedTexts(report: Pick<DatasetReport, "bad" | "leftOut" | "duplicates">): string[] {
  const outcomes = [
    ["bad", report.bad],
    ["left out", report.leftOut],
    ["duplicates", report.duplicates],
  ] as const;
  return outcomes.flatMap(([name, tallies]) => {
    if (tallies.length === 0) return [];
    const rows = tallies.reduce((sum, tally) => sum + tally.rows, 0);
    const reasons = tallies.map((t) => `${t.reason}: ${grouped(t.rows)}, first ${t.first[0]}`);
    return [`${grouped(rows)} ${name} (${reasons.join("; ")})`];
  });
}

/** Suffix of an answer's place (RowDraft.answerFrom) if the question does not ask for the form that the verifier reads. */
export const UNASKED = "; the question does not ask for \\boxed";

/** Warnings about a set before it is used: many bad rows, or questions that do not ask for the answer's form. */
export const rowWarnings = (report: Pick<DatasetReport, "rows" | "bad" | "answers">): string[] =>
  [badRowsText(report), unaskedText(report)].filter((text) => text !== undefined);

function unaskedText({ answers = [] }: Pick<DatasetReport, "answers">): string | undefined {
  const count = (tallies: readonly Tally[]) => tallies.reduce((sum, { rows }) => sum + rows, 0);
  const unasked = count(answers.filter(({ reason }) => reason.endsWith(UNASKED)));
  const all = count(answers);
  if (unasked * 2 <= all) return undefined;
  return `${unasked.toLocaleString("en")} of ${all.toLocaleString("en")} questions do not ask for \\boxed{}, where the verifier looks for the answer; let template say it ("{task}\\n\\nPut your final answer in \\boxed{}."), unless the chat template does`;
}

/** A warning if more than a tenth of a set's rows are bad: their number, the total, and the most frequent reason. */
function badRowsText({ rows, bad }: Pick<DatasetReport, "rows" | "bad">): string | undefined {
  const lost = bad.reduce((sum, tally) => sum + tally.rows, 0);
  if (lost * 10 <= rows) return undefined;
  const [most] = [...bad].sort((a, b) => b.rows - a.rows);
  const n = (count: number) => count.toLocaleString("en");
  return `${n(lost)} of ${n(rows)} rows cannot be used (${most!.reason}: ${n(most!.rows)}, first ${most!.first[0]}); \`hone data check\` lists them`;
}

/** "; question: prompt; answer: ground_truth": the columns that were taken, the most frequent first. */
function columnsText({ questions = [], answers = [] }: DatasetReport): string {
  if (questions.length === 0) return "";
  const names = (tallies: readonly Tally[]) => [
    ...new Set(tallies.map(({ reason }) => reason.split(/[,;]/)[0])),
  ];
  const answer = answers.length === 0 ? "" : `; answer: ${names(answers).join(", ")}`;
  return `; question: ${names(questions).join(", ")}${answer}`;
}

/** "file:row". */
export const placeOf = ({ file, row }: Pick<Fault, "file" | "row">): string => `${basename(file)}:${row}`;

/** Location of a row, and the names of its columns, if any. */
export interface SeenRow {
  readonly place: string;
  readonly columns?: string | undefined;
}

export const seen = (raw: RawRow | Fault): SeenRow => ({
  place: placeOf(raw),
  ...("value" in raw && { columns: columnsOf(raw.value) }),
});

const MOST_REFUSALS = 3;
const MOST_EXAMPLES = 64;
const MOST_COLUMNS = 12;

/** Counts the rows of one source by outcome. */
export class Census {
  files = 0;
  rows = 0;
  readonly #refused = { bad: new Tallies(), leftOut: new Tallies(), duplicates: new Tallies() };
  readonly #questions = new Tallies();
  readonly #answers = new Tallies();
  /** Columns of the first refused rows, by place. */
  readonly #columns = new Map<string, string>();

  /** Counts a row that is not used. @param row called only if the row's location is kept */
  refuse({ as, reason }: Refusal, row: () => SeenRow): void {
    this.#refused[as].add(reason, () => {
      const { place, columns } = row();
      this.#note(place, columns);
      return place;
    });
  }

  /** Counts rows refused for one reason. @param first the first of them, as many as are kept */
  refuseAll({ as, reason, rows }: Refusal & { readonly rows: number }, first: readonly SeenRow[]): void {
    this.#refused[as].addAll(
      reason,
      rows,
      first.map(({ place }) => place),
    );
    for (const { place, columns } of first) this.#note(place, columns);
  }

  /** Counts a row whose content an earlier row has. */
  repeated(reason: string, place: () => string): void {
    this.#refused.duplicates.add(reason, place);
  }

  #note(place: string, columns: string | undefined): void {
    if (columns !== undefined && this.#columns.size < MOST_EXAMPLES) this.#columns.set(place, columns);
  }

  /** Counts the columns that held question and answer in a used row. */
  taken({ askedFrom, answerFrom }: Pick<RowDraft, "askedFrom" | "answerFrom">, place: () => string): void {
    if (askedFrom !== undefined) this.#questions.add(askedFrom, place);
    if (answerFrom !== undefined) this.#answers.add(answerFrom, place);
  }

  tallies(): Pick<DatasetReport, "questions" | "answers" | "bad" | "leftOut" | "duplicates"> {
    const { bad, leftOut, duplicates } = this.#refused;
    return {
      ...(this.#questions.rows > 0 && { questions: this.#questions.list() }),
      ...(this.#answers.rows > 0 && { answers: this.#answers.list() }),
      bad: bad.list(),
      leftOut: leftOut.list(),
      duplicates: duplicates.list(),
    };
  }

  /** The most frequent reasons why rows are not used, each with its count, a row, and the columns that the row has. */
  refusals(): string[] {
    const all = Object.values(this.#refused).flatMap((tallies) => tallies.list());
    const shown = all.sort((a, b) => b.rows - a.rows).slice(0, MOST_REFUSALS);
    return shown.map(({ reason, rows, first }) => {
      const columns = this.#columns.get(first[0]!);
      return `${counted(rows, "row")}: ${reason} (first ${first[0]}${columns === undefined ? "" : `, which has ${columns}`})`;
    });
  }
}

/** Names of a row's columns, as in "prompt, answer"; for a row that is not an object, what it is instead. */
export function columnsOf(value: unknown): string {
  if (Array.isArray(value)) return "a list instead of columns";
  const names = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (names.length === 0) return "no columns";
  return `${names.slice(0, MOST_COLUMNS).join(", ")}${names.length > MOST_COLUMNS ? ", ..." : ""}`;
}
