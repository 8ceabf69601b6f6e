import { readFileSync } from "node:fs";
import { z } from "zod";
import { HoneError } from "../errors.ts";
import type { Problem } from "../records.ts";
import { type Content, hashesOf, keyOf, splitHash, textOf } from "./content.ts";
import type { Fault, RawRow } from "./raw-row.ts";
import type { DatasetOptions, RowDraft, RowOutcome, RowReader } from "./row-reader.ts";

/** Returns why a problem cannot be used, in words that can be counted; undefined if it can. */
export type Admission = (problem: Omit<Problem, "id">) => string | undefined | Promise<string | undefined>;

/** A row that is not used, whatever the other rows are: a damaged one, or a sound one that the options leave out. */
export interface Refusal {
  readonly as: "bad" | "leftOut";
  readonly reason: string;
}

/** A row that is used if no earlier row has the same content. */
export interface SoundRow {
  readonly draft: RowDraft;
  /** Hashes of the content: the first decides the split, both identify duplicates. */
  readonly hash: number;
  readonly second: number;
  /** A hash of the reference. */
  readonly reference: number;
}

interface JudgeOptions {
  readonly admit?: Admission | undefined;
  /** Content keys of rows that are left out because a validation set uses them. */
  readonly elsewhere?: ReadonlySet<string> | undefined;
}

const dropsSchema = z.array(z.object({ key: z.string(), place: z.string(), reason: z.string() }));
/** Rows that a drops file names; `hone data check --drops` writes it. */
export type Drops = z.infer<typeof dropsSchema>;

const pair = new Uint32Array(2);

/** Judges each row independently of all other rows. */
export class RowJudge {
  readonly #read: (raw: RawRow) => RowOutcome;
  readonly #judge: Pick<Problem, "domain" | "verifier">;
  readonly #admit: Admission;
  readonly #drops: ReadonlySet<string>;
  readonly #elsewhere: ReadonlySet<string>;

  /** Throws HONE_ERR_DATA for a bad file of drops, or one in the folder of the rows. */
  constructor(
    reader: RowReader<DatasetOptions>,
    options: DatasetOptions,
    { admit = () => undefined, elsewhere = new Set() }: JudgeOptions = {},
  ) {
    this.#drops = readDrops(options.drops);
    this.#read = reader.open(options);
    this.#judge = { domain: reader.domain, verifier: reader.verifier };
    this.#admit = admit;
    this.#elsewhere = elsewhere;
  }

  judge(raw: RawRow | Fault): SoundRow | Refusal | Promise<SoundRow | Refusal> {
    const outcome = "fault" in raw ? { bad: raw.fault } : this.#read(raw);
    if ("bad" in outcome) return { as: "bad", reason: outcome.bad };
    if ("leftOut" in outcome) return { as: "leftOut", reason: outcome.leftOut };
    const fault = textFault(outcome.question);
    if (fault !== undefined) return { as: "bad", reason: fault };
    const listed = this.#listed(outcome.content);
    if (listed !== undefined) return { as: "leftOut", reason: listed };
    const admission = this.#admit(Object.assign(asked(outcome), this.#judge));
    return admission instanceof Promise
      ? admission.then((refusal) => settled(outcome, refusal))
      : settled(outcome, admission);
  }

  /** Reason if a list contains the row: the file of drops, or a validation set. */
  #listed(content: Content): string | undefined {
    if (this.#drops.size === 0 && this.#elsewhere.size === 0) return undefined;
    const key = keyOf(textOf(content));
    if (this.#drops.has(key)) return "listed in the file of drops";
    return this.#elsewhere.has(key) ? "asked in a validation set" : undefined;
  }
}

function settled(draft: RowDraft, refusal: string | undefined): SoundRow | Refusal {
  if (refusal !== undefined) return { as: "leftOut", reason: refusal };
  const reference = splitHash(JSON.stringify(draft.reference) ?? "");
  hashesOf(draft.content, pair);
  return { draft, hash: pair[0]!, second: pair[1]!, reference };
}

type Asked = Pick<Problem, "family" | "level" | "question" | "messages" | "tools" | "reference" | "columns">;

/** The parts of a row that a problem is made of. */
export function asked({ family, level, question, messages, tools, reference, columns }: RowDraft): Asked {
  if (messages === undefined && tools === undefined && columns === undefined)
    return { family, level, question, reference };
  const optional = { ...(messages && { messages }), ...(tools && { tools }), ...(columns && { columns }) };
  return { family, level, question, ...optional, reference };
}

/** Matches surrogates, including paired ones: a quick test that a text has none. */
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
    throw new HoneError(
      "HONE_ERR_DATA",
      `${path} is not a list of rows to drop: ${(cause as Error).message}`,
      {
        cause,
        hint: "Write it with hone data check --drops.",
      },
    );
  }
}
