import { readFileSync } from "node:fs";
import { z } from "zod";
import { HoneError } from "../errors.ts";
import type { Problem } from "../records.ts";
import { Census, type DatasetReport, placeOf } from "./census.ts";
import { Column } from "./column.ts";
import { hashes, keyOf, normalized, splitHash } from "./content.ts";
import { type DataFile, dataFiles } from "./files.ts";
import { Fingerprints } from "./fingerprints.ts";
import {
  allHeldOut,
  type Candidate,
  type HeldOutRule,
  type HeldRow,
  heldOutOf,
  heldOutRule,
} from "./holdout.ts";
import type { Fault, RawRow } from "./raw-row.ts";
import type { DatasetOptions, RowDraft, RowOutcome, RowReader } from "./row-reader.ts";
import type { RowBatch } from "./rows.ts";
import { readFiles } from "./rows-read.ts";

/** Returns why a problem cannot be used here, in words that can be counted; undefined for one that can. */
export type Admission = (problem: Omit<Problem, "id">) => string | undefined | Promise<string | undefined>;

export interface KeptRow extends RowDraft {
  /** Names the content across runs, machines and templates: 22 characters of its SHA-256. */
  readonly key: string;
  /** "file:row". */
  readonly place: string;
}

/** Text of a row without runs of space, and its hash, which decides the split. */
interface Content {
  readonly text: string;
  readonly hash: number;
}

/** A row that is used: what it says, where it is, and the hash of its content that decides the split. */
export class UsedRow implements Candidate {
  readonly row: number;
  readonly raw: RawRow;
  readonly draft: RowDraft;
  readonly hash: number;
  readonly #content: string;

  constructor(row: number, raw: RawRow, draft: RowDraft, content: Content) {
    this.row = row;
    this.raw = raw;
    this.draft = draft;
    this.#content = content.text;
    this.hash = content.hash;
  }

  get point(): number {
    return this.hash / 2 ** 32;
  }

  key(): string {
    return keyOf(this.#content);
  }

  get place(): string {
    return placeOf(this.raw);
  }
}

const BATCH_ROWS = 64;
const pair = new Uint32Array(2);
const dropsSchema = z.array(z.object({ key: z.string(), place: z.string(), reason: z.string() }));
/** Rows that a drops file names; `hone data check --drops` writes it. */
export type Drops = z.infer<typeof dropsSchema>;

interface FilterOptions {
  readonly admit?: Admission | undefined;
  /** Content keys that are held out whatever the options say, and no others. */
  readonly heldOut?: ReadonlySet<string> | undefined;
  /** Content keys of rows that are left out, because a validation set asks them. */
  readonly elsewhere?: ReadonlySet<string> | undefined;
}

/** Reads a data set row by row and keeps the sound, wanted and new ones; every other row is counted with its reason. */
export class RowFilter {
  readonly #kind: string;
  readonly #reader: RowReader<DatasetOptions>;
  readonly #judge: Pick<Problem, "domain" | "verifier">;
  readonly #options: DatasetOptions;
  readonly #admit: Admission;
  readonly #elsewhere: ReadonlySet<string>;
  readonly #rule: HeldOutRule;
  readonly #census = new Census();
  readonly #seen = new Fingerprints();
  /** A hash of each used row's reference. */
  readonly #references = new Column("uint32");
  #drops: ReadonlySet<string> = new Set();
  #held: readonly HeldRow[] = [];
  #otherFiles: readonly string[] = [];

  /** Throws HONE_ERR_CONFIG for a benchmark with a rule for held-out rows, HONE_ERR_DATA for a bad file of keys. */
  constructor(
    kind: string,
    reader: RowReader<DatasetOptions>,
    options: DatasetOptions,
    { admit = () => undefined, heldOut, elsewhere = new Set() }: FilterOptions = {},
  ) {
    this.#kind = kind;
    this.#reader = reader;
    this.#judge = { domain: reader.domain, verifier: reader.verifier };
    this.#options = options;
    this.#admit = admit;
    this.#elsewhere = elsewhere;
    this.#rule = ruleOf(kind, reader, options, heldOut);
  }

  /** The rows to use one by one, as `batches` has them. */
  async *rows(): AsyncGenerator<KeptRow, void> {
    for await (const batch of this.batches())
      for (const row of batch) yield { ...row.draft, key: row.key(), place: row.place };
  }

  /** The rows to use, in the order of the files. Throws HONE_ERR_DATA when a file is missing or damaged as a whole. */
  async *batches(): AsyncGenerator<readonly UsedRow[], void> {
    this.#drops = readDrops(this.#options.drops);
    const { taken, others } = filesOf(this.#kind, this.#reader, this.#options);
    this.#otherFiles = others;
    const read = this.#reader.open(this.#options);
    this.#census.files += taken.length;
    for await (const batch of readFiles(this.#kind, taken, this.#reader.columns))
      yield* this.#usedOf(batch, read);
    this.#held = this.#rule.end(this.#references.length);
  }

  async *#usedOf(batch: RowBatch, read: (raw: RawRow) => RowOutcome): AsyncGenerator<readonly UsedRow[]> {
    let used: UsedRow[] = [];
    for (const raw of batch) {
      this.#census.rows += 1;
      const row = this.#used(raw, read);
      const settled = row instanceof Promise ? await row : row;
      if (settled !== undefined) used.push(settled);
      if (used.length < BATCH_ROWS) continue;
      yield used;
      used = [];
    }
    yield used;
  }

  /** The held-out rows; known once `rows` or `batches` has ended. */
  get held(): readonly HeldRow[] {
    return this.#held;
  }

  /** Their content keys. */
  get heldOut(): ReadonlySet<string> {
    return new Set(this.#held.map(({ key }) => key));
  }

  /** Rows read so far, and why others are not used. */
  get census(): Pick<Census, "rows" | "refusals"> {
    return this.#census;
  }

  /** Complete once `rows` or `batches` has ended. */
  report(): DatasetReport {
    return {
      kind: this.#kind,
      files: this.#census.files,
      rows: this.#census.rows,
      training: this.#references.length - this.#held.length,
      heldOut: this.#held.length,
      otherFiles: this.#otherFiles,
      ...this.#census.tallies(),
    };
  }

  #used(
    raw: RawRow | Fault,
    read: (raw: RawRow) => RowOutcome,
  ): UsedRow | undefined | Promise<UsedRow | undefined> {
    const draft = this.#sound(raw, read);
    if (draft === undefined) return undefined;
    const content = normalized(draft.content);
    if (this.#isListed(content, raw)) return undefined;
    const admission = this.#admit(Object.assign(asked(draft), this.#judge));
    const settle = (refusal: string | undefined) => {
      if (refusal === undefined) return this.#take(raw as RawRow, draft, content);
      this.#census.refuse("leftOut", refusal, raw);
      return undefined;
    };
    return admission instanceof Promise ? admission.then(settle) : settle(admission);
  }

  #sound(raw: RawRow | Fault, read: (raw: RawRow) => RowOutcome): RowDraft | undefined {
    const outcome = "fault" in raw ? { bad: raw.fault } : read(raw);
    if ("bad" in outcome) this.#census.refuse("bad", outcome.bad, raw);
    else if ("leftOut" in outcome) this.#census.refuse("leftOut", outcome.leftOut, raw);
    else {
      const fault = textFault(outcome.question);
      if (fault === undefined) return outcome;
      this.#census.refuse("bad", fault, raw);
    }
    return undefined;
  }

  /** True if the file of drops or a validation set has the row. */
  #isListed(content: string, raw: RawRow | Fault): boolean {
    if (this.#drops.size === 0 && this.#elsewhere.size === 0) return false;
    const key = keyOf(content);
    if (this.#drops.has(key)) this.#census.refuse("leftOut", "listed in the file of drops", raw);
    else if (this.#elsewhere.has(key)) this.#census.refuse("leftOut", "asked in a validation set", raw);
    else return false;
    return true;
  }

  /** The row, unless an earlier one has its content. */
  #take(raw: RawRow, draft: RowDraft, content: string): UsedRow | undefined {
    const reference = splitHash(JSON.stringify(draft.reference) ?? "");
    hashes(content, pair);
    const [hash, second] = pair as unknown as [number, number];
    const before = this.#seen.add(hash, second);
    if (before !== undefined) {
      const isSame = this.#references.at(before) === reference;
      this.#census.refuse("duplicates", isSame ? "same reference" : "another reference", raw);
      return undefined;
    }
    const row = new UsedRow(this.#references.length, raw, draft, { text: content, hash });
    this.#references.push(reference);
    this.#rule.take(row);
    this.#census.taken(draft, raw);
    return row;
  }
}

/** Files of the set, and those whose name says that they are no part of it. */
function filesOf(
  kind: string,
  reader: RowReader<DatasetOptions>,
  { path, split }: DatasetOptions,
): { readonly taken: readonly DataFile[]; readonly others: readonly string[] } {
  const files = dataFiles(path, split);
  const taken = files.filter((file) => reader.takes?.(file.path) ?? true);
  const others = files.filter((file) => !taken.includes(file)).map((file) => file.path);
  if (taken.length > 0) return { taken, others };
  throw new HoneError("HONE_ERR_DATA", `none of ${files.length} files is one of ${kind} by its name`, {
    details: { files: others },
  });
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
      `${kind}: heldOut is ${JSON.stringify(heldOut)}, but of a benchmark every row is held out`,
    );
  if (benchmark) return allHeldOut();
  return keys === undefined ? heldOutRule(heldOut) : heldOutOf(keys);
}

type Asked = Pick<Problem, "family" | "level" | "question" | "messages" | "tools" | "reference" | "columns">;

/** The parts of a row that a problem is made of. */
export function asked({ family, level, question, messages, tools, reference, columns }: RowDraft): Asked {
  if (messages === undefined && tools === undefined && columns === undefined)
    return { family, level, question, reference };
  const optional = { ...(messages && { messages }), ...(tools && { tools }), ...(columns && { columns }) };
  return { family, level, question, ...optional, reference };
}

/** Matches halves of surrogate pairs, paired ones too: a quick test that there is none. */
const HALVES = /[\ud800-\udfff]/;

function textFault(question: string): string | undefined {
  if (question.includes("\0")) return "question: holds U+0000";
  return HALVES.test(question) && /\p{Surrogate}/u.test(question)
    ? "question: holds half a surrogate pair"
    : undefined;
}

function readDrops(path: string | undefined): ReadonlySet<string> {
  if (path === undefined) return new Set();
  try {
    return new Set(dropsSchema.parse(JSON.parse(readFileSync(path, "utf8"))).map(({ key }) => key));
  } catch (cause) {
    throw new HoneError("HONE_ERR_DATA", `${path} is no file of drops: ${(cause as Error).message}`, {
      cause,
      hint: "Write it with hone data check --drops.",
    });
  }
}
