import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import { bit, finallyHolds, type Model, ones, span, sumWithin } from "../../drawing/finite-domain.ts";
import { around, linesOf, orthogonal, range, rowsOf, shown } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { drawUntil, hasOneSolution } from "../../drawing/uniqueness.ts";

export interface Campsite {
  readonly rows: number;
  readonly columns: number;
  /** Cells with a tree. */
  readonly trees: readonly number[];
  readonly rowCounts: readonly number[];
  readonly columnCounts: readonly number[];
}

/** Matches each tree with a tent by backtracking. */
function pairsOff(
  trees: readonly number[],
  tents: ReadonlySet<number>,
  near: readonly (readonly number[])[],
): boolean {
  const [tree, ...others] = trees;
  if (tree === undefined) return tents.size === 0;
  return near[tree]!.some(
    (cell) => tents.has(cell) && pairsOff(others, new Set([...tents].filter((t) => t !== cell)), near),
  );
}

/**
 * Model of cells with a tent (1) or without (0): the lines have the given counts, no two tents touch, and the
 * tents match the trees one to one.
 */
export function campsiteModel({ rows, columns, trees, rowCounts, columnCounts }: Campsite): Model {
  const cells = range(rows * columns);
  const near = orthogonal(rows, columns);
  const lines = linesOf(rows, columns);
  const pairs = around(rows, columns).flatMap((others, a) => others.filter((b) => a < b).map((b) => [a, b]));
  const isTent = (cell: number) =>
    !trees.includes(cell) && near[cell]!.some((other) => trees.includes(other));
  return {
    domains: cells.map((cell) => (isTent(cell) ? span(0, 1) : bit(0))),
    constraints: [
      ...lines.rows.map((line, i) => sumWithin(ones(line), rowCounts[i]!, rowCounts[i]!)),
      ...lines.columns.map((line, i) => sumWithin(ones(line), columnCounts[i]!, columnCounts[i]!)),
      ...pairs.map((pair) => sumWithin(ones(pair), 0, 1)),
      ...trees.map((tree) => sumWithin(ones(near[tree]!), 1, 4)),
      finallyHolds(cells, (value) =>
        pairsOff(trees, new Set(cells.filter((cell) => value(cell) === 1)), near),
      ),
    ],
  };
}

/** Places tents that do not touch, each beside its own tree; undefined if they do not fit. */
function pitch(random: CounterRandom, rows: number, columns: number, count: number) {
  const near = orthogonal(rows, columns);
  const far = around(rows, columns);
  const tents = new Set<number>();
  const trees = new Set<number>();
  for (const cell of random.shuffle(range(rows * columns))) {
    if (tents.size === count) break;
    const sides = near[cell]!.filter((other) => !tents.has(other) && !trees.has(other));
    if (trees.has(cell) || sides.length === 0 || far[cell]!.some((other) => tents.has(other))) continue;
    tents.add(cell);
    trees.add(random.choice(sides));
  }
  return tents.size === count ? { tents: [...tents], trees: [...trees] } : undefined;
}

/** Grids that show the trees and each line's number of tents, with exactly one solution. */
export const campsite: PuzzleGenerator = {
  task: "campsite",
  measure: "tents",

  draw(random, level) {
    const [rows, columns, count] = atLevel(
      [
        [4, 5, 4],
        [5, 6, 6],
        [6, 7, 8],
        [7, 8, 11],
      ] as const,
      level,
    );
    const lines = linesOf(rows, columns);
    const { tents, camp } = drawUntil(() => {
      const placed = pitch(random, rows, columns, count);
      if (placed === undefined) return undefined;
      const { tents, trees } = placed;
      const tentsIn = (line: readonly number[]) => line.filter((cell) => tents.includes(cell)).length;
      const camp = {
        rows,
        columns,
        trees,
        rowCounts: lines.rows.map(tentsIn),
        columnCounts: lines.columns.map(tentsIn),
      };
      return hasOneSolution(campsiteModel(camp)) ? { tents, camp } : undefined;
    });
    const board = (mark: (cell: number) => string) =>
      rowsOf(
        range(rows * columns).map((cell) => (camp.trees.includes(cell) ? "T" : mark(cell))),
        columns,
      );
    const grid = board(() => "X");
    const solution = board((cell) => (tents.includes(cell) ? "C" : "X"));
    return {
      question: `Pitch tents on this ${rows} x ${columns} campsite. T is a tree, X an empty cell. Each tree gets a tent of its own on an empty cell that shares an edge with it, and there are no other tents. Tents do not touch, not even at a corner. The numbers of tents in the rows and columns are given.\n\n${shown(grid)}\n\nrow_constraints = [${camp.rowCounts.join(", ")}]\ncol_constraints = [${camp.columnCounts.join(", ")}]\n\nGive the grid as a list of lists of strings with 'C' for a tent, such as [['T', 'C'], ['X', 'X']].`,
      solution: JSON.stringify(solution),
      answer: "",
      metadata: {
        grid,
        solution,
        row_constraints: camp.rowCounts,
        col_constraints: camp.columnCounts,
        n: rows,
        m: columns,
        tree_density: count / (rows * columns),
      },
      effort: count,
    };
  },
};
