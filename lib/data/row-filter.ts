import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { z } from "zod";
import { HoneError } from "../errors.ts";
import type { Problem } from "../records.ts";
import { type DatasetReport, Tallies } from "./census.ts";
import { dataFiles } from "./files.ts";
import { allHeldOut, type HeldOutRule, heldOutOf, heldOutRule, splitPoint } from "./holdout.ts";
import type { Fault, RawRow } from "./raw-row.ts";
import type { DatasetOptions, RowDraft, RowOutcome, RowReader } from "./row-reader.ts";
import { readRows } from "./rows.ts";

/** Why a problem cannot be used here, in words that can be counted; undefined for one that can. */
export type Admission = (problem: Omit<Problem, "id">) => string | undefined | Promise<string | undefined>;

export interface KeptRow extends RowDraft {
  /** Names the content across runs, machines and templates: 22 characters of its SHA-256. */
  readonly key: string;
  /** "file:row". */
  readonly place: string;
}

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
  readonly #options: DatasetOptions;
  readonly #admit: Admission;
  readonly #elsewhere: ReadonlySet<string>;
  readonly #rule: HeldOutRule;
  readonly #bad = new Tallies();
  readonly #leftOut = new Tallies();
  readonly #duplicates = new Tallies();
  readonly #answers = new Tallies();
  readonly #count = { files: 0, rows: 0 };
  /** Rows that are used. */
  readonly #kept: { readonly key: string; readonly point: number }[] = [];
  #heldOut: ReadonlySet<string> = new Set();
  #otherFiles: readonly string[] = [];

  /** Throws HONE_ERR_CONFIG for a benchmark that is told what to hold out, HONE_ERR_DATA for a bad file of keys. */
  constructor(
    kind: string,
    reader: RowReader<DatasetOptions>,
    options: DatasetOptions,
    { admit = () => undefined, heldOut, elsewhere = new Set() }: FilterOptions = {},
  ) {
    this.#kind = kind;
    this.#reader = reader;
    this.#options = options;
    this.#admit = admit;
    this.#elsewhere = elsewhere;
    this.#rule = ruleOf(kind, reader, options, heldOut);
  }

  /** The rows to use, in the order of the files. Throws HONE_ERR_DATA when a file is missing or damaged as a whole. */
  async *rows(): AsyncGenerator<KeptRow, void> {
    const drops = readDrops(this.#options.drops);
    const files = dataFiles(this.#options.path, this.#options.split);
    const taken = files.filter(({ path }) => this.#reader.takes?.(path) ?? true);
    this.#otherFiles = files.filter((file) => !taken.includes(file)).map(({ path }) => path);
    if (taken.length === 0) {
      throw new HoneError(
        "HONE_ERR_DATA",
        `none of ${files.length} files is one of ${this.#kind} by its name`,
        {
          details: { files: this.#otherFiles },
        },
      );
    }
    const read = this.#reader.open(this.#options);
    /** Content key to a hash of the reference. */
    const seen = new Map<string, string>();
    for (const file of taken) {
      this.#count.files += 1;
      for await (const raw of readRows(file, this.#reader.columns)) {
        this.#count.rows += 1;
        const place = `${basename(raw.file)}:${raw.row}`;
        const draft = this.#sound(raw, place, read);
        if (draft === undefined) continue;
        const key = contentKey(draft.content);
        if (drops.has(key)) this.#leftOut.add("listed in the file of drops", place);
        else if (this.#elsewhere.has(key)) this.#leftOut.add("asked in a validation set", place);
        else if ((await this.#isAdmitted(draft, place)) && this.#isNew(draft, key, place, seen)) {
          this.#kept.push({ key, point: splitPoint(normalized(draft.content)) });
          if (draft.answerFrom !== undefined) this.#answers.add(draft.answerFrom, place);
          yield { ...draft, key, place };
        }
      }
    }
    this.#heldOut = this.#rule(this.#kept);
  }

  /** Content keys of the held-out rows; known once `rows` has ended. */
  get heldOut(): ReadonlySet<string> {
    return this.#heldOut;
  }

  /** Complete once `rows` has ended. */
  report(): DatasetReport {
    return {
      kind: this.#kind,
      ...this.#count,
      training: this.#kept.length - this.#heldOut.size,
      heldOut: this.#heldOut.size,
      otherFiles: this.#otherFiles,
      ...(this.#answers.rows > 0 && { answers: this.#answers.list() }),
      bad: this.#bad.list(),
      leftOut: this.#leftOut.list(),
      duplicates: this.#duplicates.list(),
    };
  }

  #sound(raw: RawRow | Fault, place: string, read: (raw: RawRow) => RowOutcome): RowDraft | undefined {
    const outcome = "fault" in raw ? { bad: raw.fault } : read(raw);
    if ("bad" in outcome) this.#bad.add(outcome.bad, place);
    else if ("leftOut" in outcome) this.#leftOut.add(outcome.leftOut, place);
    else {
      const fault = textFault(outcome.question);
      if (fault === undefined) return outcome;
      this.#bad.add(fault, place);
    }
    return undefined;
  }

  #isNew(draft: RowDraft, key: string, place: string, seen: Map<string, string>): boolean {
    const reference = digest(JSON.stringify(draft.reference));
    const before = seen.get(key);
    if (before === undefined) seen.set(key, reference);
    else this.#duplicates.add(before === reference ? "same reference" : "another reference", place);
    return before === undefined;
  }

  async #isAdmitted(draft: RowDraft, place: string): Promise<boolean> {
    const { domain, verifier } = this.#reader;
    const admission = this.#admit({ ...asked(draft), domain, verifier });
    const refusal = admission instanceof Promise ? await admission : admission;
    if (refusal !== undefined) this.#leftOut.add(refusal, place);
    return refusal === undefined;
  }
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
  if (benchmark) return allHeldOut;
  return keys === undefined ? heldOutRule(heldOut) : heldOutOf(keys);
}

/** The parts of a row that a problem is made of. */
export function asked({
  family,
  level,
  question,
  messages,
  tools,
  reference,
}: RowDraft): Pick<Problem, "family" | "level" | "question" | "messages" | "tools" | "reference"> {
  return { family, level, question, ...(messages && { messages }), ...(tools && { tools }), reference };
}

/** Names a row's content: the same for the same words, whatever the space between them. */
export function contentKey(content: string): string {
  return digest(normalized(content));
}

const normalized = (content: string) => content.replace(/\s+/g, " ").trim();
const digest = (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 22);

function textFault(question: string): string | undefined {
  if (question.includes("\0")) return "question: holds U+0000";
  return /\p{Surrogate}/u.test(question) ? "question: holds half a surrogate pair" : undefined;
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
