import type { HintKind } from "../choices.ts";
import type { SampleIndex } from "../sample-index.ts";
import { STATUSES } from "../tables.ts";

/** A sign of possible reward hacking: not a proof, but where to look, and why. */
export interface Hint {
  readonly kind: HintKind;
  readonly domain: string;
  /** The problem that the hint is about; absent for a hint about a whole domain. */
  readonly problem?: number;
  /** A sentence with its numbers. */
  readonly says: string;
  readonly evidence: Readonly<Record<string, number>>;
  /** Rows of samples that show the hint, the latest first. */
  readonly rows: readonly number[];
  /** Beginnings of texts by policy and data set: an answer, the reference. Untrusted: may contain control characters. */
  readonly quotes?: Readonly<Record<string, string>>;
}

const EXAMPLES = 5;
export const UNSCORED = STATUSES.indexOf("unscored");
export const CORRECT = STATUSES.indexOf("correct");

/** The last row of each of the last few groups, the latest first. @param rows in the order of steps */
export function examples({ tables }: SampleIndex, rows: readonly number[]): number[] {
  const { group } = tables.members.columns;
  const lasts = rows.filter((row, i) => i === rows.length - 1 || group[rows[i + 1]!] !== group[row]);
  return lasts.slice(-EXAMPLES).reverse();
}

/** Judged samples of a domain. */
export interface Stretch {
  readonly rows: readonly number[];
  readonly from: number;
  readonly to: number;
}

/** The first and the last quarter of a domain's sampled steps. */
export interface Ends {
  readonly domain: string;
  readonly early: Stretch;
  readonly late: Stretch;
}

const END = 0.25;

/** Returns the ends of every domain with samples. */
export function ends(index: SampleIndex): Ends[] {
  const { step } = index.tables.members.columns;
  return [...byDomain(index)].map(([domain, rows]) => {
    const [first, last] = [step[rows[0]!]!, step[rows.at(-1)!]!];
    const width = Math.max(1, Math.ceil(END * (last - first + 1)));
    const stretch = (from: number, to: number) => ({
      rows: rows.filter((row) => step[row]! >= from && step[row]! <= to),
      from,
      to,
    });
    return { domain, early: stretch(first, first + width - 1), late: stretch(last - width + 1, last) };
  });
}

/** Judged rows by domain, in the order of steps. */
export function byDomain({ live, tables, names }: SampleIndex): Map<string, number[]> {
  const { problem, status } = tables.members.columns;
  const { domain } = tables.problems.columns;
  const all = new Map<string, number[]>();
  for (const row of live) {
    if (status[row] === UNSCORED) continue;
    const name = names[domain[problem[row]!]!]!;
    const rows = all.get(name);
    if (rows === undefined) all.set(name, [row]);
    else rows.push(row);
  }
  return all;
}

export interface Mean {
  readonly n: number;
  readonly mean: number;
  /** Standard error of the mean; treats samples of one group as independent, so it is an underestimate. */
  readonly error: number;
}

export function meanOf(rows: readonly number[], value: (row: number) => number): Mean {
  const n = rows.length;
  const mean = rows.reduce((sum, row) => sum + value(row), 0) / n;
  const squares = rows.reduce((sum, row) => sum + (value(row) - mean) ** 2, 0);
  return { n, mean, error: Math.sqrt(squares / Math.max(1, n - 1) / n) };
}

/** Difference of the second mean from the first, in standard errors. */
export const rise = (a: Mean, b: Mean): number =>
  (b.mean - a.mean) / Math.max(1e-12, Math.hypot(a.error, b.error));

/** Key of a sample's comparable answer; 0 for a sample without an answer. */
export function answerOf({ tables }: SampleIndex, row: number): number {
  const completion = tables.members.columns.completion[row]!;
  const { answer0, answer1 } = tables.completions.columns;
  return answer0[completion]! * 2 ** 21 + (answer1[completion]! & (2 ** 21 - 1));
}

export const percent = (share: number): string => `${Math.round(100 * share)} %`;
