import { padEnd, padStart, width } from "./ansi.ts";

export interface TextTable {
  /** The first column is the row's name, left-aligned; the others are right-aligned. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Styles a whole line; row -1 is the head. */
  readonly paint?: (line: string, row: number) => string;
}

const GAP = "  ";

/**
 * A table as lines of at most `columns`. Columns that do not fit go into further blocks below, separated by an empty
 * line, with the first column repeated; a column that is wider than `columns` keeps its width.
 */
export function textTable({ head, rows, paint = (line) => line }: TextTable, columns: number): string[] {
  const widths = head.map((title, c) => Math.max(width(title), ...rows.map((row) => width(row[c]!))));
  const line = (cells: readonly string[], block: readonly number[]) =>
    [padEnd(cells[0]!, widths[0]!), ...block.map((c) => padStart(cells[c]!, widths[c]!))].join(GAP);
  const blocks = blocksOf(widths, columns).map((block) =>
    [head, ...rows].map((cells, i) => paint(line(cells, block), i - 1)),
  );
  return blocks.flatMap((lines, b) => (b === 0 ? lines : ["", ...lines]));
}

/** The columns of each block, without the first one, which is in every block. */
function blocksOf(widths: readonly number[], columns: number): number[][] {
  const blocks: number[][] = [[]];
  let room = columns - widths[0]!;
  for (let c = 1; c < widths.length; ++c) {
    if (room < widths[c]! + GAP.length && blocks.at(-1)!.length > 0) {
      blocks.push([]);
      room = columns - widths[0]!;
    }
    blocks.at(-1)!.push(c);
    room -= widths[c]! + GAP.length;
  }
  return blocks;
}
