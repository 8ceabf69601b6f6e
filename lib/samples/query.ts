import type { Order } from "./choices.ts";
import { matching, type SampleFilter } from "./filter.ts";
import { type Sample, sampleOf } from "./sample.ts";
import type { SampleIndex } from "./sample-index.ts";

export interface Page {
  readonly order?: Order;
  /** Number of samples to skip. Default 0. */
  readonly offset?: number;
  /** Maximum number of samples. Default 50. */
  readonly limit?: number;
}

export interface Found {
  /** Number of samples that pass the filter. */
  readonly total: number;
  readonly samples: readonly Sample[];
}

const DEFAULT_LIMIT = 50;

/** A page of the samples that pass a filter. */
export function query(index: SampleIndex, filter: SampleFilter, page: Page = {}): Found {
  const { order = "newest", offset = 0, limit = DEFAULT_LIMIT } = page;
  const rows = sorted(index, matching(index, filter), order);
  const shown = rows.slice(offset, offset + limit);
  return { total: rows.length, samples: shown.map((row) => sampleOf(index, row)) };
}

/** Sorts rows that are in the order of steps, in place, and returns them. */
export function sorted(index: SampleIndex, rows: number[], order: Order): number[] {
  if (order !== "oldest") rows.reverse();
  const key = keyOf(index, order);
  if (key !== undefined) rows.sort((a, b) => key(a) - key(b));
  return rows;
}

/** Sort key, ascending. */
function keyOf(index: SampleIndex, order: Order): ((row: number) => number) | undefined {
  const { tokens, reward } = index.tables.members.columns;
  const rewardOf = (row: number) => (Number.isNaN(reward[row]) ? Number.MAX_VALUE : reward[row]!);
  switch (order) {
    case "longest":
      return (row) => -tokens[row]!;
    case "shortest":
      return (row) => tokens[row]!;
    case "worst":
      return rewardOf;
    case "best":
      return (row) => (Number.isNaN(reward[row]) ? Number.MAX_VALUE : -reward[row]!);
    default:
      return undefined;
  }
}
