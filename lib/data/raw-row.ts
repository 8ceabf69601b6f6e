import { HoneError } from "../errors.ts";
import { membersOf } from "../shared/text/json-text.ts";

/** One row of a file before its fields are checked. */
export interface RawRow {
  readonly file: string;
  /** Number of the row, from 1: its line in a JSONL file, or its place in a JSON array or a parquet file. */
  readonly row: number;
  readonly value: unknown;
  /** The row as JSON text, if its file has JSON: numbers with every digit. */
  readonly text?: string;
  /** Bytes of the row in its file, where it can be read again by itself: a line of JSONL that is not packed. */
  readonly span?: RowSpan;
}

export interface RowSpan {
  readonly start: number;
  readonly bytes: number;
}

/** A location in a file that should have a row but has none. */
export interface Fault {
  readonly file: string;
  readonly row: number;
  /** Reason why the row is damaged, with equal text for equal kinds of damage, so that reasons can be counted. */
  readonly fault: string;
}

/**
 * The JSON text of the value at a path in a row, as in the file if it has JSON: every digit is kept. A string that
 * contains JSON is parsed, on the path and at its end. Undefined if there is no value, or null.
 */
export function jsonAt({ text, value }: RawRow, path: readonly string[]): string | undefined {
  try {
    return path.reduce<string | undefined>(memberOf, text ?? asJson(memberAlone(value, path[0])));
  } catch (error) {
    if (HoneError.is(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function memberOf(json: string | undefined, key: string): string | undefined {
  if (json === undefined) return undefined;
  const member = membersOf(json).get(key);
  if (member === undefined || member === "null") return undefined;
  return member.startsWith('"') ? (JSON.parse(member) as string) : member;
}

/** The row with one member only: the rest of it may be megabytes of tests. */
const memberAlone = (value: unknown, key = ""): unknown =>
  typeof value === "object" && value !== null ? { [key]: (value as Record<string, unknown>)[key] } : {};

/** JSON text of a row that its file has as columns. Throws SyntaxError on integers that no number can hold. */
const asJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === "bigint") throw new SyntaxError(`${inner} is not a number`);
    return inner;
  });
