import { type Census, placeOf, seen } from "./census.ts";
import { Column } from "./column.ts";
import { Fingerprints } from "./fingerprints.ts";
import type { Candidate, HeldOutRule } from "./holdout.ts";
import type { Fault, RawRow } from "./raw-row.ts";
import type { Refusal, SoundRow } from "./row-judge.ts";
import { MARK_NUMBERS, type RowKind } from "./row-marks.ts";
import { type MarkedPart, MarkedRow, type StoredRow, UsedRow } from "./used-row.ts";

/** Selects, in file order, the first judged row with each content. Counts all rows. */
export class DistinctRows {
  readonly #rule: HeldOutRule;
  readonly #census: Census;
  readonly #seen = new Fingerprints();
  /** A hash of each used row's reference. */
  readonly #references = new Column();

  constructor(rule: HeldOutRule, census: Census) {
    this.#rule = rule;
    this.#census = census;
  }

  /** Rows that are used so far. */
  get count(): number {
    return this.#references.length;
  }

  /** Content hash of each used row. */
  get hashes(): Pick<Column, "at"> {
    return this.#seen.first;
  }

  /** Returns the row if it is used; undefined if it is refused or an earlier row has its content. */
  used(raw: RawRow | Fault, judged: SoundRow | Refusal): UsedRow | undefined {
    if ("as" in judged) {
      this.#census.refuse(judged, () => seen(raw));
      return undefined;
    }
    const place = () => placeOf(raw);
    if (!this.#isNew(judged, place)) return undefined;
    const row = new UsedRow(this.count, raw as RawRow, judged);
    this.#take(row, { ...judged, kind: judged.draft, place });
    return row;
  }

  /** Rows of a part, without those whose content an earlier row has. */
  marked(part: MarkedPart): StoredRow[] {
    const { file, lines, marks } = part;
    this.#census.rows += marks.rows;
    const placed = (line: number) => placeOf({ file, row: lines + line });
    for (const { first, ...refused } of marks.refused)
      this.#census.refuseAll(
        refused,
        first.map(({ line, columns }) => ({ place: placed(line), columns })),
      );
    const used: StoredRow[] = [];
    for (let at = 0; at < marks.numbers.length / MARK_NUMBERS; at++) {
      const row = new MarkedRow(this.count, part, at);
      const place = () => placeOf({ file, row: row.number });
      if (!this.#isNew(row, place)) continue;
      this.#take(row, { reference: row.reference, kind: row.kind, place });
      used.push(row);
    }
    return used;
  }

  #isNew({ hash, second, reference }: Hashed, place: () => string): boolean {
    const before = this.#seen.add(hash, second);
    if (before === undefined) return true;
    const isSame = this.#references.at(before) === reference;
    this.#census.repeated(isSame ? "same reference" : "another reference", place);
    return false;
  }

  #take(
    row: Candidate,
    {
      reference,
      kind,
      place,
    }: { readonly reference: number; readonly kind: RowKind; readonly place: () => string },
  ): void {
    this.#references.push(reference);
    this.#rule.take(row);
    this.#census.taken(kind, place);
  }
}

type Hashed = Pick<SoundRow, "hash" | "second" | "reference">;
