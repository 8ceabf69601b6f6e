import type { RawRow } from "./raw-row.ts";
import type { RowMap } from "./row-map.ts";
import type { RowOutcome } from "./row-reader.ts";

const MOST_CHARS = 120;

/**
 * Reads the result of a map. A map that throws or does not return a row makes the row bad; equal faults give equal
 * messages, so that they can be counted.
 */
export function mapped(read: (raw: RawRow) => RowOutcome, map: RowMap): (raw: RawRow) => RowOutcome {
  return ({ file, row, value }) => {
    let made: unknown;
    try {
      made = map(value as never);
    } catch (error) {
      return { bad: `map: threw ${said(error)}` };
    }
    if (made === null) return { leftOut: "map: returned null" };
    if (typeof made === "object" && !Array.isArray(made) && !(made instanceof Promise))
      return read({ file, row, value: made });
    return { bad: `map: returned ${nameOf(made)}; it must return an object, or null to drop the row` };
  };
}

const nameOf = (made: unknown): string =>
  made instanceof Promise
    ? "a promise"
    : Array.isArray(made)
      ? "a list"
      : `a ${typeof made}`.replace("a undefined", "nothing");

function said(error: unknown): string {
  const text = String(error)
    .replace(/"(?:[^"\\]|\\.)*"/g, '"…"')
    .replace(/\d+/g, "#");
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}...` : text;
}
