/** Cells of a rectangle by their index in reading order. */

export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Cells cut into rows. */
export function rowsOf<Cell>(cells: readonly Cell[], columns: number): Cell[][] {
  return range(cells.length / columns).map((row) => cells.slice(row * columns, (row + 1) * columns));
}

/** The indices of each row, then of each column. */
export function linesOf(rows: number, columns: number): { rows: number[][]; columns: number[][] } {
  const byRow = rowsOf(range(rows * columns), columns);
  return { rows: byRow, columns: range(columns).map((column) => byRow.map((row) => row[column]!)) };
}

const EDGES = [
  [-1, 0],
  [0, -1],
  [0, 1],
  [1, 0],
] as const;
const CORNERS = [
  [-1, -1],
  [-1, 1],
  [1, -1],
  [1, 1],
] as const;

const MOST_KNOWN = 64;

type Neighbours = readonly (readonly number[])[];

/** Caches neighbour lists by board size, because a search needs the lists of a few sizes again and again. */
function stepping(steps: readonly (readonly [number, number])[]) {
  const known = new Map<string, Neighbours>();
  return (rows: number, columns: number): Neighbours => {
    const size = `${rows} ${columns}`;
    let found = known.get(size);
    if (found !== undefined) return found;
    if (known.size >= MOST_KNOWN) known.clear();
    found = range(rows * columns).map((cell) => from(cell, rows, columns));
    known.set(size, found);
    return found;
  };
  function from(cell: number, rows: number, columns: number): number[] {
    return steps.flatMap(([down, right]) => {
      const [row, column] = [Math.floor(cell / columns) + down, (cell % columns) + right];
      const isInside = row >= 0 && row < rows && column >= 0 && column < columns;
      return isInside ? [row * columns + column] : [];
    });
  }
}

/** For each cell, the cells that share an edge with it. */
export const orthogonal = stepping(EDGES);

/** For each cell, the cells that share an edge or a corner with it. */
export const around = stepping([...EDGES, ...CORNERS]);

/** The cells connected to the first one through neighbours for which `belongs` holds. */
export function connected(
  start: number,
  neighbours: readonly (readonly number[])[],
  belongs: (cell: number) => boolean,
): number[] {
  const reached = new Set([start]);
  for (const cell of reached) for (const next of neighbours[cell]!) if (belongs(next)) reached.add(next);
  return [...reached];
}

/** Prints a board, one row per line: "1 X 3". */
export function shown(board: readonly (readonly unknown[])[]): string {
  return board.map((row) => row.join(" ")).join("\n");
}

export const fenced = (text: string): string => `\`\`\`python\n${text}\n\`\`\``;
