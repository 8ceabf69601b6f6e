import { existsSync, readFileSync } from "node:fs";
import { HoneError } from "../errors.ts";
import { splitHash } from "./content.ts";
import { type HeldRow, HeldRows } from "./held-rows.ts";

const HELD_OUT_SHARE = 0.1;

/** Maps a text to [0, 1) by its content alone: texts below a share are held out, so a larger share contains a smaller one. */
export function splitPoint(text: string): number {
  return splitHash(text) / 0x100000000;
}

/**
 * True if a question belongs to evaluation: one in ten, by its text alone, for every seed. No training problem and no
 * demonstration ever asks such a question.
 */
export function isHeldOut(question: string): boolean {
  return splitPoint(question) < HELD_OUT_SHARE;
}

/** A share of the rows in (0, 1), a number of rows, or a file of content keys; default: one row in ten. */
export type HeldOutOption = number | string;

/** A row that may be held out, by its number; its content key is computed on demand. */
export interface Candidate {
  readonly row: number;
  /** Position of the row's content in [0, 1), by its hash. */
  readonly point: number;
  key(): string;
}

/** Decides which rows of a data set are held out: receives every row, then returns the chosen ones. */
export interface HeldOutRule {
  /** Largest point (hash of a row's content) at which a row may still be held out. */
  readonly reach: number;
  take(candidate: Candidate): void;
  /** Returns the held-out rows. @param rows number of rows seen @throws HONE_ERR_DATA if there are too few rows for the option `heldOut` */
  end(rows: number): HeldRows;
}

/** Decides about each row independently of the other rows. */
class EachRule implements HeldOutRule {
  readonly reach: number;
  readonly #isHeld: (candidate: Candidate) => boolean;
  protected readonly held = new HeldRows();

  constructor(isHeld: (candidate: Candidate) => boolean, reach = 1) {
    this.#isHeld = isHeld;
    this.reach = reach;
  }

  take(candidate: Candidate): void {
    if (this.#isHeld(candidate)) this.held.add({ row: candidate.row, key: candidate.key() });
  }

  end(_rows: number): HeldRows {
    return this.held;
  }
}

/**
 * Holds out the rows with the smallest points; breaks ties, one in four thousand million, by key, so that the order
 * of files has no effect.
 */
class CountRule implements HeldOutRule {
  readonly #count: number;
  #least: (HeldRow & { readonly point: number })[] = [];
  #most = 1;

  constructor(count: number) {
    this.#count = count;
  }

  get reach(): number {
    return this.#most;
  }

  take(candidate: Candidate): void {
    const { row, point } = candidate;
    if (point > this.#most) return;
    this.#least.push({ row, point, key: candidate.key() });
    if (this.#least.length >= 2 * this.#count + SLACK) this.#cut();
  }

  end(rows: number): HeldRows {
    if (rows > 0 && rows <= this.#count)
      throw new HoneError("HONE_ERR_DATA", `heldOut is ${this.#count}, but there are only ${rows} rows`, {
        hint: "Hold out fewer, or a share such as 0.1.",
      });
    this.#cut();
    const held = new HeldRows();
    for (const row of this.#least) held.add(row);
    return held;
  }

  #cut(): void {
    this.#least = this.#least.sort(byPoint).slice(0, this.#count);
    if (this.#least.length === this.#count) this.#most = this.#least.at(-1)!.point;
  }
}

const SLACK = 1024;
type Placed = Pick<HeldRow, "key"> & { readonly point: number };
const byPoint = (a: Placed, b: Placed) => a.point - b.point || (a.key < b.key ? -1 : 1);

class ListRule extends EachRule {
  readonly #path: string;
  readonly #keys: ReadonlySet<string>;

  constructor(path: string, keys: ReadonlySet<string>) {
    super((candidate) => keys.has(candidate.key()));
    this.#path = path;
    this.#keys = keys;
  }

  override end(rows: number): HeldRows {
    if (this.held.length > 0 || rows === 0) return this.held;
    throw new HoneError(
      "HONE_ERR_DATA",
      `${this.#path}: none of its ${this.#keys.size} content keys belongs to one of the ${rows} rows`,
      {
        hint: "Keys are those of held-out.json in a run folder, or of hone data check --drops.",
      },
    );
  }
}

export const allHeldOut = (): HeldOutRule => new EachRule(() => true);

/** Holds out exactly the rows of a list. */
export const heldOutOf = (keys: ReadonlySet<string>): HeldOutRule =>
  new EachRule((candidate) => keys.has(candidate.key()));

/**
 * Creates the rule for an option. Throws HONE_ERR_DATA if a file of keys cannot be read. The rule's `end`
 * throws it if no row has a key of the file, or if all rows would be held out.
 */
export function heldOutRule(option: HeldOutOption = HELD_OUT_SHARE): HeldOutRule {
  if (typeof option === "string") return new ListRule(option, readKeys(option));
  return option < 1 ? new EachRule(({ point }) => point < option, option) : new CountRule(option);
}

const KEY = /^[A-Za-z0-9_-]{22}$/;

/** Reads keys: one per line, a JSON array, or lists by domain as in a run folder's held-out.json. */
function readKeys(path: string): ReadonlySet<string> {
  const fail = (what: string, cause?: unknown) =>
    new HoneError("HONE_ERR_DATA", `${path} is not a list of held-out rows: ${what}`, {
      cause,
      hint: "Give 22-character content keys one a line, or held-out.json of a run folder.",
    });
  if (!existsSync(path)) throw fail("the file does not exist");
  let keys: unknown[];
  try {
    const text = readFileSync(path, "utf8")
      .replace(/^\uFEFF/, "")
      .trim();
    const value: unknown = /^[[{]/.test(text) ? JSON.parse(text) : text.split(/\s+/).filter(Boolean);
    keys = typeof value === "object" && value !== null ? Object.values(value).flat() : [];
  } catch (cause) {
    throw fail((cause as Error).message, cause);
  }
  const odd = keys.find((key) => typeof key !== "string" || !KEY.test(key));
  if (odd !== undefined || keys.length === 0)
    throw fail(odd === undefined ? "it is empty" : `it holds ${JSON.stringify(odd)}`);
  return new Set(keys as string[]);
}
