import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import { type Constraint, type Model, oneOf } from "../../drawing/finite-domain.ts";
import { latinModel, randomSquare } from "../../drawing/latin.ts";
import { orthogonal, range, rowsOf } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { drawUntil, hasOneSolution } from "../../drawing/uniqueness.ts";

const MAX_REGION = 3;

type Operator = "+" | "-" | "*" | "÷";

export interface Region {
  /** Indices in reading order. */
  readonly cells: readonly number[];
  readonly operator: Operator;
  readonly target: number;
}

const RESULTS: Readonly<Record<Operator, (values: readonly number[]) => number>> = {
  "+": (values) => values.reduce((a, b) => a + b),
  "*": (values) => values.reduce((a, b) => a * b),
  "-": ([a, b]) => Math.abs(a! - b!),
  "÷": ([a, b]) => Math.max(a!, b!) / Math.min(a!, b!),
};

/** Lists of distinct digits 1..n. */
function arrangements(n: number, length: number): number[][] {
  if (length === 0) return [[]];
  return arrangements(n, length - 1).flatMap((head) =>
    range(n)
      .filter((i) => !head.includes(i + 1))
      .map((i) => [...head, i + 1]),
  );
}

/** Model of latin squares of order n whose regions have distinct digits and the stated result. */
export function calcudokoModel(n: number, regions: readonly Region[]): Model {
  const fits = ({ cells, operator, target }: Region): Constraint =>
    oneOf(
      cells,
      arrangements(n, cells.length).filter((values) => RESULTS[operator](values) === target),
    );
  return latinModel(n, regions.map(fits));
}

/** Cuts the square into connected regions of at most three cells, no digit twice in one. */
function cut(random: CounterRandom, n: number, square: readonly number[]): number[][] {
  const free = new Set(range(n * n));
  const near = orthogonal(n, n);
  return random.shuffle([...free]).flatMap((start) => {
    if (!free.delete(start)) return [];
    const cells = [start];
    for (const size = random.int(2, MAX_REGION); cells.length < size; ) {
      const fits = (cell: number) => free.has(cell) && !cells.some((other) => square[other] === square[cell]);
      const open = cells.flatMap((cell) => near[cell]!.filter(fits));
      if (open.length === 0) break;
      const next = random.choice(open);
      free.delete(next);
      cells.push(next);
    }
    return [cells];
  });
}

function named(random: CounterRandom, cells: readonly number[], square: readonly number[]): Region {
  const values = cells.map((cell) => square[cell]!);
  const fits: Operator[] = cells.length === 1 ? ["+"] : ["+", "*"];
  if (cells.length === 2) fits.push("-");
  if (cells.length === 2 && Number.isInteger(RESULTS["÷"](values))) fits.push("÷");
  const operator = random.choice(fits);
  return { cells, operator, target: RESULTS[operator](values) };
}

/** Latin squares divided into regions, each with a result, and with exactly one solution; only single-cell regions are given. */
export const calcudoko: PuzzleGenerator = {
  task: "calcudoko",
  measure: "cells in regions of several",

  draw(random, level) {
    const n = atLevel([4, 5, 6, 7], level);
    const { square, regions } = drawUntil(() => {
      const square = randomSquare(random, latinModel(n));
      const regions = cut(random, n, square).map((cells) => named(random, cells, square));
      return hasOneSolution(calcudokoModel(n, regions)) ? { square, regions } : undefined;
    });
    const spoken = regions.map(({ cells, operator, target }) => ({
      cells: cells.map((cell) => `(${Math.floor(cell / n) + 1},${(cell % n) + 1})`),
      target,
      operator,
    }));
    const lines = spoken.map(({ cells, target, operator }) => `(${cells.join(",")}):${target}${operator}`);
    const answer = `[[${rowsOf(square, n)
      .map((row) => row.join(" "))
      .join(",")}]]`;
    return {
      question: `Fill a ${n}×${n} grid with the numbers 1 to ${n}, each once in every row and every column, and none twice in a region. A region is a list of cells (row,column) with its result: + the sum, * the product, - the difference and ÷ the ratio of its numbers.\n${lines.join("\n")}\n\nGive all rows from top to bottom in double square brackets, numbers separated by spaces and rows by commas, such as [[1 2,2 1]].`,
      solution: answer,
      answer,
      metadata: { grid_size: n, regions: spoken },
      effort: regions.reduce((sum, { cells }) => sum + (cells.length > 1 ? cells.length : 0), 0),
    };
  },
};
