import { describe, expect, test } from "vitest";
import type { Compat } from "../../../../lib/domains/compat.ts";
import type { Puzzle, PuzzleGenerator } from "../../../../lib/domains/logic/drawing/puzzle.ts";
import { logic } from "../../../../lib/domains/logic/verify.ts";
import { draws } from "./draws.ts";

/** True if the verifier accepts the text as a solution of the game's data. */
export function accepts(task: string, gameData: unknown, compat: Compat = "strict") {
  const reference = logic.parseReference({ task, game_data: gameData, compat });
  return (text: string): boolean => {
    const verdict = logic.verify({ text, finish: "stop" }, reference);
    return "status" in verdict && verdict.status === "correct";
  };
}

/** Changes the solutions of 10 puzzles a level in several ways; the verifier must refuse each. */
export function testMutations(
  generator: PuzzleGenerator,
  mutations: Readonly<Record<string, (puzzle: Puzzle) => string>>,
): void {
  const drawn = new Map<number, readonly Puzzle[]>();
  const puzzles = (level: number) => {
    const made = drawn.get(level) ?? draws(generator, level, 10);
    drawn.set(level, made);
    return made;
  };
  describe.each(Object.entries(mutations))(`${generator.task}: %s`, (_, mutate) => {
    test.each([0, 1, 2, 3])("is refused at level %i", (level) => {
      for (const puzzle of puzzles(level)) {
        const text = mutate(puzzle);
        expect([text, accepts(generator.task, puzzle)(text)]).toEqual([text, false]);
        expect(accepts(generator.task, puzzle)(puzzle.solution)).toBe(true);
      }
    });
  });
}

type Rows = readonly (readonly unknown[])[];

/** The first pair of indices below `count` that satisfies the condition. */
function pair(count: number, holds: (i: number, j: number) => boolean): [number, number] {
  for (let i = 0; i < count; i++) for (let j = 0; j < i; j++) if (holds(i, j)) return [j, i];
  throw new Error("no such pair");
}

const alike = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const swap = <T>(items: readonly T[], i: number, j: number): T[] =>
  items.map((item, k) => (k === i ? items[j]! : k === j ? items[i]! : item));

/** Makes grids that differ from the given one, which is the only right one. */
const GRID_CHANGES: Readonly<Record<string, (rows: Rows) => Rows>> = {
  "two rows swapped": (rows) => swap(rows, ...pair(rows.length, (i, j) => !alike(rows[i], rows[j]))),
  "two columns swapped": (rows) => {
    const columns = pair(rows[0]!.length, (i, j) => rows.some((row) => !alike(row[i], row[j])));
    return rows.map((row) => swap(row, ...columns));
  },
  "one cell as another": (rows) => {
    const flat = rows.flat();
    const [from, to] = pair(flat.length, (i, j) => !alike(flat[i], flat[j]));
    const width = rows[0]!.length;
    return rows.map((row, r) => row.map((cell, c) => (r * width + c === to ? flat[from] : cell)));
  },
  "the last row missing": (rows) => rows.slice(0, -1),
  "a cell missing": (rows) => rows.map((row, r) => (r === 1 ? row.slice(1) : row)),
  "a row twice": (rows) => [...rows, rows[0]!],
};

/** Like testMutations, for a game whose answer is one grid. @param write writes the grid in the answer's format */
export function testGridMutations(
  generator: PuzzleGenerator,
  solution: (puzzle: Puzzle) => Rows,
  write: (rows: Rows) => string,
): void {
  const changes = Object.entries(GRID_CHANGES).map(([name, change]) => [
    name,
    (puzzle: Puzzle) => write(change(solution(puzzle))),
  ]);
  testMutations(generator, Object.fromEntries(changes));
}

/** Yields every list that takes one of the choices at each place. */
export function* assignments<T>(choices: readonly (readonly T[])[]): Generator<T[]> {
  const [first, ...rest] = choices;
  if (first === undefined) yield [];
  else for (const tail of assignments(rest)) for (const head of first) yield [head, ...tail];
}

/** The orders of 1, 2, 3, each a possible row of a latin square of order 3. */
export const ROWS_OF_3 = [
  [1, 2, 3],
  [1, 3, 2],
  [2, 1, 3],
  [2, 3, 1],
  [3, 1, 2],
  [3, 2, 1],
] as const;

/** Counts the lists that the verifier accepts. */
export function countAccepted<T>(
  choices: readonly (readonly T[])[],
  isAccepted: (text: string) => boolean,
  write: (values: readonly T[]) => string,
): number {
  let count = 0;
  for (const values of assignments(choices)) if (isAccepted(write(values))) count += 1;
  return count;
}
