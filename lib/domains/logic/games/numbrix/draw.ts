import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import { orthogonal, range, rowsOf, shown } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { carve } from "../../drawing/uniqueness.ts";

const MAX_STEPS = 20_000;
const BLANK = 0;

/**
 * Paths 1..n² through the given numbers (0: blank), as the number of each cell; up to `limit` of them. Searches depth
 * first from each possible start and prunes a branch when the next given number is too far away. `complete` is false
 * if the search gave up after 20,000 steps.
 */
export function numbrixPaths(
  n: number,
  given: readonly number[],
  limit = 2,
): { paths: number[][]; complete: boolean } {
  const near = orthogonal(n, n);
  const cells = range(n * n);
  const placeOf = new Map(cells.filter((cell) => given[cell] !== BLANK).map((cell) => [given[cell]!, cell]));
  const board = [...given];
  const paths: number[][] = [];
  let steps = 0;

  const nextGiven = cells.map((number) =>
    cells.map((i) => i + 1).find((later) => later > number && placeOf.has(later)),
  );
  const distance = (a: number, b: number) =>
    Math.abs(Math.floor(a / n) - Math.floor(b / n)) + Math.abs((a % n) - (b % n));
  const isInReach = (cell: number, number: number) => {
    const goal = nextGiven[number];
    return goal === undefined || distance(cell, placeOf.get(goal)!) <= goal - number;
  };

  /** Explores all paths that continue from `number` on `cell`; false if it gave up. */
  const walk = (cell: number, number: number): boolean => {
    if (++steps > MAX_STEPS) return false;
    if (!isInReach(cell, number)) return true;
    if (number === n * n) {
      paths.push([...board]);
      return true;
    }
    const fixed = placeOf.get(number + 1);
    for (const next of near[cell]!) {
      if (paths.length >= limit) return true;
      if (fixed === undefined ? board[next] !== BLANK : next !== fixed) continue;
      board[next] = number + 1;
      const went = walk(next, number + 1);
      if (fixed === undefined) board[next] = BLANK;
      if (!went) return false;
    }
    return true;
  };

  const start = placeOf.get(1);
  const complete = (start === undefined ? cells.filter((cell) => board[cell] === BLANK) : [start]).every(
    (cell) => {
      if (paths.length >= limit) return true;
      board[cell] = 1;
      const went = walk(cell, 1);
      board[cell] = given[cell]!;
      return went;
    },
  );
  return { paths, complete };
}

/** A random path through all cells: starts from a snake and repeatedly reverses a part at one of its ends. */
function randomPath(random: CounterRandom, n: number): number[] {
  const near = orthogonal(n, n);
  let path = rowsOf(range(n * n), n).flatMap((row, r) => (r % 2 === 0 ? row : row.toReversed()));
  for (let i = 0; i < 10 * n * n; i++) {
    if (random.next() < 0.5) path = path.toReversed();
    const bitten = path.indexOf(random.choice(near[path[0]!]!));
    path = [...path.slice(0, bitten).toReversed(), ...path.slice(bitten)];
  }
  return path;
}

/** Partly given paths of consecutive numbers, with exactly one solution. */
export const numbrix: PuzzleGenerator = {
  task: "numbrix",
  measure: "blank cells",

  draw(random, level) {
    const n = atLevel([4, 5, 6, 7], level);
    const path = randomPath(random, n);
    const numbers = range(n * n).map((cell) => path.indexOf(cell) + 1);
    const without = (taken: readonly number[]) =>
      numbers.map((number, cell) => (taken.includes(cell) ? BLANK : number));
    const taken = carve(random.shuffle(range(n * n)), atLevel([9, 15, 22, 31], level), (cells) => {
      const { paths, complete } = numbrixPaths(n, without(cells));
      return complete && paths.length === 1;
    });
    const grid = rowsOf(
      without(taken).map((number) => number || "X"),
      n,
    );
    const solution = rowsOf(numbers, n);
    return {
      question: `Fill this ${n} x ${n} grid with the numbers 1 to ${n * n}, each once, so that consecutive numbers stand in cells that share an edge. X marks a cell to fill.\n\n${shown(grid)}\n\nGive the whole grid as a list of lists of numbers, such as [[1, 2], [4, 3]].`,
      solution: JSON.stringify(solution),
      answer: "",
      metadata: { grid, solution, n, fill_rate: 1 - taken.length / (n * n) },
      effort: taken.length,
    };
  },
};
