import { z } from "zod";

/** Rows from top to bottom, cells from left to right. */
export type Board<Cell> = readonly (readonly Cell[])[];

const MAX_SIDE = 64;

/** A rectangular board with at least one cell. */
export function boardSchema<Cell extends z.ZodType>(cell: Cell) {
  const row = z.array(cell).min(1).max(MAX_SIDE);
  return z
    .array(row)
    .min(1)
    .max(MAX_SIDE)
    .refine((rows) => rows.every(({ length }) => length === rows[0]!.length), "rows differ in length");
}

export const sideSchema = z.int().min(1).max(MAX_SIDE);

/** Steps [down, right] to the cells that share an edge, and to those that share an edge or a corner. */
export const ORTHOGONAL = [
  [-1, 0],
  [1, 0],
  [0, -1],
  [0, 1],
] as const;
export const AROUND = [...ORTHOGONAL, [-1, -1], [-1, 1], [1, -1], [1, 1]] as const;

export function hasShape(board: Board<unknown>, rows: number, columns: number): boolean {
  return board.length === rows && board.every((row) => row.length === columns);
}

export const sameShape = (board: Board<unknown>, other: Board<unknown>): boolean =>
  board.length === other.length && board.every((row, r) => row.length === other[r]!.length);

/** The columns from left to right of a rectangular board. */
export function columnsOf<Cell>(board: Board<Cell>): Cell[][] {
  return board[0]!.map((_, column) => board.map((row) => row[column]!));
}

/** The cells a predicate holds for, as [row, column], in reading order. */
export function where<Cell>(
  board: Board<Cell>,
  holds: (cell: Cell, row: number, column: number) => boolean,
): [number, number][] {
  return board.flatMap((cells, r) =>
    cells.flatMap((cell, c): [number, number][] => (holds(cell, r, c) ? [[r, c]] : [])),
  );
}

/** True if two cells for which the predicate is true are one of the steps apart. */
export function touch<Cell>(
  board: Board<Cell>,
  holds: (cell: Cell) => boolean,
  steps: readonly (readonly [number, number])[],
): boolean {
  const isSet = (r: number, c: number) => r in board && c in board[r]! && holds(board[r]![c]!);
  return where(board, holds).some(([r, c]) => steps.some(([down, right]) => isSet(r + down, c + right)));
}

/** True if the values are a permutation of 1..n. */
export function isPermutation(values: readonly unknown[]): boolean {
  const seen = new Set(values);
  return seen.size === values.length && values.every((_, i) => seen.has(i + 1));
}

/** True if every row and every column of a square is a permutation of 1..n. */
export function isLatinSquare(board: Board<unknown>): boolean {
  return board.every(isPermutation) && columnsOf(board).every(isPermutation);
}
