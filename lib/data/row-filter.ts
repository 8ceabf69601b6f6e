import { HoneError } from "../errors.ts";
import { Census, type DatasetReport } from "./census.ts";
import type { Column } from "./column.ts";
import { DistinctRows } from "./distinct-rows.ts";
import type { FilePart, PartSizes } from "./file-parts.ts";
import { type DataFile, dataFiles } from "./files.ts";
import { HeldRows } from "./held-rows.ts";
import { allHeldOut, type HeldOutRule, heldOutOf, heldOutRule } from "./holdout.ts";
import type { RowBatch } from "./line-rows.ts";
import { type Admission, RowJudge } from "./row-judge.ts";
import { PartReader } from "./row-marks.ts";
import type { DatasetOptions, RowDraft, RowReader } from "./row-reader.ts";
import type { OpenRowThreads } from "./row-threads.ts";
import { readDivided, readFiles } from "./rows-read.ts";
import type { StoredRow, UsedRow } from "./used-row.ts";

export interface KeptRow extends Omit<RowDraft, "content"> {
  readonly content: string;
  /** Names the content across runs, machines and templates: 22 characters of its SHA-256. */
  readonly key: string;
  /** "file:row". */
  readonly place: string;
}

const BATCH_ROWS = 64;
/**
 * Sizes in bytes. A part takes some 20 ms to read. A file below `fileBytes` is read before a thread would have
 * started.
 */
const PART_SIZES: PartSizes = { fileBytes: 1 << 25, partBytes: 1 << 20 };

interface FilterOptions {
  readonly admit?: Admission | undefined;
  /** Content keys that are held out, overriding the options; no other row is held out. */
  readonly heldOut?: ReadonlySet<string> | undefined;
  /** Content keys of rows that are left out because a validation set uses them. */
  readonly elsewhere?: ReadonlySet<string> | undefined;
}

/** Reads a data set row by row and keeps sound, wanted and new rows; counts every other row with its reason. */
export class RowFilter {
  readonly #kind: string;
  readonly #reader: RowReader<DatasetOptions>;
  readonly #options: DatasetOptions;
  readonly #lists: Omit<FilterOptions, "heldOut">;
  readonly #rule: HeldOutRule;
  readonly #census = new Census();
  readonly #distinct: DistinctRows;
  #held = new HeldRows();
  #otherFiles: readonly string[] = [];

  /** Throws HONE_ERR_CONFIG for a benchmark with a rule for held-out rows, HONE_ERR_DATA for a bad file of keys. */
  constructor(
    kind: string,
    reader: RowReader<DatasetOptions>,
    options: DatasetOptions,
    { heldOut, ...lists }: FilterOptions = {},
  ) {
    this.#kind = kind;
    this.#reader = reader;
    this.#options = options;
    this.#lists = lists;
    this.#rule = ruleOf(kind, reader, options, heldOut);
    this.#distinct = new DistinctRows(this.#rule, this.#census);
  }

  /** The rows to use one by one, from `batches`. */
  async *rows(): AsyncGenerator<KeptRow, void> {
    for await (const batch of this.batches())
      for (const row of batch)
        yield { ...row.draft, content: String(row.draft.content), key: row.key(), place: row.place };
  }

  /** The rows to use, in the order of the files. Throws HONE_ERR_DATA when a file is missing or damaged as a whole. */
  async *batches(): AsyncGenerator<readonly UsedRow[], void> {
    const { files, judge } = this.#begin();
    for await (const batch of readFiles(this.#kind, files, this.#reader.columns))
      yield* this.#usedOf(batch, judge);
    this.#end();
  }

  /**
   * The rows to use in stored form, in the order of the files; several threads read large JSONL files.
   * @param open creates threads that judge rows as this filter does
   */
  async *stored(open: OpenRowThreads, sizes = PART_SIZES): AsyncGenerator<readonly StoredRow[], void> {
    const { files, judge } = this.#begin();
    const reach = () => this.#rule.reach;
    const reader = new PartReader(judge);
    const here = (part: FilePart) => reader.marks(part, reach());
    const division = { columns: this.#reader.columns, open, sizes, here, reach };
    for await (const read of readDivided(this.#kind, files, division)) {
      if ("marks" in read) yield this.#distinct.marked(read);
      else yield* this.#usedOf(read, judge);
    }
    this.#end();
  }

  #begin(): { readonly files: readonly DataFile[]; readonly judge: RowJudge } {
    const { taken, others } = filesOf(this.#kind, this.#reader, this.#options);
    const judge = new RowJudge(this.#reader, this.#options, this.#lists);
    this.#otherFiles = others;
    this.#census.files += taken.length;
    return { files: taken, judge };
  }

  #end(): void {
    this.#held = this.#rule.end(this.#distinct.count);
  }

  async *#usedOf(batch: RowBatch, judge: RowJudge): AsyncGenerator<readonly UsedRow[]> {
    let used: UsedRow[] = [];
    for (const raw of batch) {
      this.#census.rows += 1;
      const judged = judge.judge(raw);
      const row = this.#distinct.used(raw, judged instanceof Promise ? await judged : judged);
      if (row !== undefined) used.push(row);
      if (used.length < BATCH_ROWS) continue;
      yield used;
      used = [];
    }
    yield used;
  }

  /** The held-out rows; known once `rows`, `batches` or `stored` has ended. */
  get held(): HeldRows {
    return this.#held;
  }

  /** Content hash of each used row so far, in order. */
  get hashes(): Pick<Column, "at"> {
    return this.#distinct.hashes;
  }

  /** Content keys of the held-out rows. */
  get heldOut(): ReadonlySet<string> {
    return new Set(Array.from(this.#held, ({ key }) => key));
  }

  /** Number of rows read so far, and why rows are not used. */
  get census(): Pick<Census, "rows" | "refusals" | "tallies"> {
    return this.#census;
  }

  /** Complete once `rows`, `batches` or `stored` has ended. */
  report(): DatasetReport {
    return {
      kind: this.#kind,
      files: this.#census.files,
      rows: this.#census.rows,
      training: this.#distinct.count - this.#held.length,
      heldOut: this.#held.length,
      otherFiles: this.#otherFiles,
      ...this.#census.tallies(),
    };
  }
}

/** Files of the set, and files whose name says that they do not belong to it. */
function filesOf(
  kind: string,
  reader: RowReader<DatasetOptions>,
  { path, split }: DatasetOptions,
): { readonly taken: readonly DataFile[]; readonly others: readonly string[] } {
  const files = dataFiles(path, split);
  const taken = files.filter((file) => reader.takes?.(file.path) ?? true);
  const others = files.filter((file) => !taken.includes(file)).map((file) => file.path);
  if (taken.length > 0) return { taken, others };
  throw new HoneError(
    "HONE_ERR_DATA",
    `none of ${files.length} files has a name that data sets of kind ${kind} use`,
    {
      details: { files: others },
    },
  );
}

function ruleOf(
  kind: string,
  { benchmark }: RowReader<DatasetOptions>,
  { heldOut }: DatasetOptions,
  keys: ReadonlySet<string> | undefined,
): HeldOutRule {
  if (benchmark && heldOut !== undefined)
    throw new HoneError(
      "HONE_ERR_CONFIG",
      `${kind}: heldOut is ${JSON.stringify(heldOut)}, but every row of a benchmark is held out`,
    );
  if (benchmark) return allHeldOut();
  return keys === undefined ? heldOutRule(heldOut) : heldOutOf(keys);
}
