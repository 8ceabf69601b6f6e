import { existsSync, readFileSync } from "node:fs";
import { HoneError } from "../errors.ts";

/** Chosen so that every family holds out 8 to 12 % at every level, also where there are only ten questions. */
const SALT = 10605;
const HELD_OUT_SHARE = 0.1;

/** 32-bit FNV-1a over UTF-16 code units, finished with murmur3's mixer so that short texts spread. */
function hash(text: string): number {
  let h = (0x811c9dc5 ^ SALT) >>> 0;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Where a text lies in [0, 1), by itself alone: those below a share are held out, so that a larger share holds a smaller one. */
export function splitPoint(text: string): number {
  return hash(text) / 0x100000000;
}

/**
 * Whether a question belongs to evaluation: one in ten, by its text alone, whatever the seed. No training
 * problem and no demonstration ever asks such a question.
 */
export function isHeldOut(question: string): boolean {
  return splitPoint(question) < HELD_OUT_SHARE;
}

/** A share of the rows in (0, 1), a number of rows, or a file of content keys; one row in ten where left out. */
export type HeldOutOption = number | string;

/** A row that may be held out: its content key, and where its content lies. */
interface Row {
  readonly key: string;
  readonly point: number;
}

/** Decides, of all rows of a data set, which are held out. */
export type HeldOutRule = (rows: readonly Row[]) => ReadonlySet<string>;

export const allHeldOut: HeldOutRule = (rows) => keysOf(rows);

/** Those of a list, and no others. */
export const heldOutOf =
  (keys: ReadonlySet<string>): HeldOutRule =>
  (rows) =>
    keysOf(rows.filter(({ key }) => keys.has(key)));

/**
 * Throws HONE_ERR_DATA when a file of keys cannot be read; its rule does so where none of its keys is one of the rows,
 * and that of a number where there are not more rows than that.
 */
export function heldOutRule(option: HeldOutOption = HELD_OUT_SHARE): HeldOutRule {
  if (typeof option === "string") return listed(option, readKeys(option));
  if (option < 1) return (rows) => keysOf(rows.filter(({ point }) => point < option));
  return (rows) => {
    if (rows.length > 0 && rows.length <= option)
      throw new HoneError("HONE_ERR_DATA", `heldOut is ${option}, but there are only ${rows.length} rows`, {
        hint: "Hold out fewer, or a share such as 0.1.",
      });
    return keysOf(rows.toSorted(byPoint).slice(0, option));
  };
}

/** Equal points, one in four thousand million, go by content, so that the order of files decides nothing. */
const byPoint = (a: Row, b: Row) => a.point - b.point || (a.key < b.key ? -1 : 1);
const keysOf = (rows: readonly Row[]): ReadonlySet<string> => new Set(rows.map(({ key }) => key));

function listed(path: string, keys: ReadonlySet<string>): HeldOutRule {
  return (rows) => {
    const held = heldOutOf(keys)(rows);
    if (held.size > 0 || rows.length === 0) return held;
    throw new HoneError(
      "HONE_ERR_DATA",
      `${path}: none of its ${keys.size} keys is one of the ${rows.length} rows`,
      {
        hint: "Keys are those of held-out.json in a run folder, or of hone data check --drops.",
      },
    );
  };
}

const KEY = /^[A-Za-z0-9_-]{22}$/;

/** Keys one a line, a JSON array of them, or lists by domain, as held-out.json of a run folder has them. */
function readKeys(path: string): ReadonlySet<string> {
  const fail = (what: string, cause?: unknown) =>
    new HoneError("HONE_ERR_DATA", `${path} is no list of held-out rows: ${what}`, {
      cause,
      hint: "Give 22-character content keys one a line, or held-out.json of a run folder.",
    });
  if (!existsSync(path)) throw fail("it is not there");
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
