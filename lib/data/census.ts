/** How many rows had one outcome, and where the first of them are. */
export interface Tally {
  readonly reason: string;
  readonly rows: number;
  /** "file:row", the first few. */
  readonly first: readonly string[];
}

/** Counts of the rows of one source by outcome: rows = training + heldOut + bad + leftOut + duplicates. */
export interface DatasetReport {
  readonly kind: string;
  readonly files: number;
  /** Files found whose name says that they are no part of the set. */
  readonly otherFiles: readonly string[];
  readonly rows: number;
  readonly training: number;
  readonly heldOut: number;
  /** Where in the rows that are used the answer was, where rows of the kind differ. */
  readonly answers?: readonly Tally[];
  /** Damaged, by reason. */
  readonly bad: readonly Tally[];
  /** Sound, but not wanted by the options or not readable by their verifier; by reason. */
  readonly leftOut: readonly Tally[];
  /** Content that an earlier row had, with the same reference and with another; the first row stays. */
  readonly duplicates: readonly Tally[];
}

const FIRST = 5;

/** Counts by reason, most frequent first. */
export class Tallies {
  readonly #byReason = new Map<string, { rows: number; first: string[] }>();

  add(reason: string, place: string): void {
    const tally = this.#byReason.get(reason) ?? { rows: 0, first: [] };
    tally.rows += 1;
    if (tally.first.length < FIRST) tally.first.push(place);
    this.#byReason.set(reason, tally);
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

/** One line for people: "orz: 57,000 rows: 51,210 to train on, 5,690 held out, 60 bad (not JSON: 60, first x.json:7)". */
export function reportLine(report: DatasetReport): string {
  const n = (rows: number) => rows.toLocaleString("en");
  const parts = [`${n(report.training)} to train on`, `${n(report.heldOut)} held out`];
  for (const [name, tallies] of [
    ["bad", report.bad],
    ["left out", report.leftOut],
    ["duplicates", report.duplicates],
  ] as const) {
    if (tallies.length === 0) continue;
    const rows = tallies.reduce((sum, tally) => sum + tally.rows, 0);
    const reasons = tallies.map((t) => `${t.reason}: ${n(t.rows)}, first ${t.first[0]}`);
    parts.push(`${n(rows)} ${name} (${reasons.join("; ")})`);
  }
  return `${report.kind}: ${counted(report.rows, "row")}: ${parts.join(", ")}`;
}
