import { HoneError } from "../errors.ts";
import type { ProblemSource } from "./problem-source.ts";

/** Purposes of a problem, stored in two bits of its id. */
export const PURPOSES = ["train", "held-out", "demonstration"] as const;
export type Purpose = (typeof PURPOSES)[number];

const INDEX_BITS = 24;
const ORDINAL_BITS = 6;

/**
 * A problem's 32-bit id: purpose (2 bits), ordinal of its source in the run (6), index (24), so that ids are
 * unique in a run by construction. Throws HONE_ERR_DATA beyond 2^24 problems or 64 sources.
 */
export function problemId(purpose: Purpose, ordinal: number, index: number): number {
  if (!Number.isInteger(index) || index < 0 || index >= 2 ** INDEX_BITS) {
    throw new HoneError(
      "HONE_ERR_DATA",
      `problem index is ${index}, expected an integer in 0..${2 ** INDEX_BITS - 1}`,
    );
  }
  if (!Number.isInteger(ordinal) || ordinal < 0 || ordinal >= 2 ** ORDINAL_BITS) {
    throw new HoneError(
      "HONE_ERR_DATA",
      `source ordinal is ${ordinal}, expected an integer in 0..${2 ** ORDINAL_BITS - 1}`,
    );
  }
  return PURPOSES.indexOf(purpose) * 2 ** (INDEX_BITS + ORDINAL_BITS) + ordinal * 2 ** INDEX_BITS + index;
}

/** Parts of an id made by problemId. */
export function partsOf(id: number): { readonly purpose: Purpose; readonly index: number } {
  return {
    purpose: PURPOSES[Math.floor(id / 2 ** (INDEX_BITS + ORDINAL_BITS))]!,
    index: id % 2 ** INDEX_BITS,
  };
}

/** Display name of a problem: its file and line, else its number. */
export function problemName(source: Pick<ProblemSource, "placeOf"> | undefined, id: number): string {
  return source?.placeOf?.(id) ?? `problem ${id}`;
}
