import { atLevel } from "../../../../data/family.ts";
import { type Model, oneOf, search } from "../../drawing/finite-domain.ts";
import { latinModel, randomSquare } from "../../drawing/latin.ts";
import { fenced, linesOf, rowsOf } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { drawUntil } from "../../drawing/uniqueness.ts";

/** Number of buildings visible from the two ends of each line. */
export interface Views {
  readonly top: readonly number[];
  readonly bottom: readonly number[];
  readonly left: readonly number[];
  readonly right: readonly number[];
}

/** Number of buildings that are higher than all before them. */
export function visible(heights: readonly number[]): number {
  return heights.filter((height, i) => heights.slice(0, i).every((before) => before < height)).length;
}

export function viewsOf(n: number, square: readonly number[]): Views {
  const { rows, columns } = linesOf(n, n);
  const heights = (line: readonly number[]) => line.map((cell) => square[cell]!);
  const back = (line: readonly number[]) => visible(heights(line).reverse());
  const front = (line: readonly number[]) => visible(heights(line));
  return { top: columns.map(front), bottom: columns.map(back), left: rows.map(front), right: rows.map(back) };
}

interface Line {
  readonly heights: readonly number[];
  readonly front: number;
  readonly back: number;
}

const LINES = new Map<number, readonly Line[]>();

function permutations(n: number): number[][] {
  if (n === 0) return [[]];
  return permutations(n - 1).flatMap((rest) =>
    Array.from({ length: n }, (_, at) => rest.toSpliced(at, 0, n)),
  );
}

/** Every line of heights 1..n with its two views, cached for each n. */
function linesOfHeights(n: number): readonly Line[] {
  const known = LINES.get(n);
  if (known !== undefined) return known;
  const made = permutations(n).map((line) => ({
    heights: line,
    front: visible(line),
    back: visible(line.toReversed()),
  }));
  LINES.set(n, made);
  return made;
}

/** Model of latin squares of order n that show the stated views on all four sides. */
export function skyscraperModel(n: number, { top, bottom, left, right }: Views): Model {
  const { rows, columns } = linesOf(n, n);
  const all = linesOfHeights(n);
  const looks = (lines: readonly number[][], front: readonly number[], back: readonly number[]) =>
    lines.map((cells, i) =>
      oneOf(
        cells,
        all.filter((seen) => seen.front === front[i] && seen.back === back[i]).map(({ heights }) => heights),
      ),
    );
  return latinModel(n, [...looks(rows, left, right), ...looks(columns, top, bottom)]);
}

/** Skyscrapers with all views given and one solution; only level 3 requires guesses. */
export const skyscraperPuzzle: PuzzleGenerator = {
  task: "skyscraper_puzzle",
  measure: "cells, and guesses of the solver",

  draw(random, level) {
    const n = atLevel([4, 5, 6, 6], level);
    const { square, views, nodes } = drawUntil(() => {
      const square = randomSquare(random, latinModel(n));
      const views = viewsOf(n, square);
      const { solutions, nodes, complete } = search(skyscraperModel(n, views), { limit: 2, maxNodes: 500 });
      const fits = level === 3 ? nodes > 0 : nodes === 0;
      return complete && solutions.length === 1 && fits ? { square, views, nodes } : undefined;
    });
    const { top, bottom, left, right } = views;
    const grid = left.map((seen, row) => `${seen} |${" X".repeat(n)} | ${right[row]}`);
    const solved = rowsOf(square, n);
    return {
      question: `Skyscrapers of heights 1 to ${n} stand on a ${n} x ${n} grid, each height once in every row and every column. A number at the edge says how many buildings are seen from there along the line; a higher building hides lower ones behind it.\n\n    ${top.join(" ")}\n${grid.join("\n")}\n    ${bottom.join(" ")}\n\nGive the rows from top to bottom as a list of lists, alone in a python block at the end of your answer.`,
      solution: fenced(JSON.stringify(solved)),
      answer: "",
      metadata: { n, solved_grid: solved, ...views },
      effort: n * n + nodes,
    };
  },
};
