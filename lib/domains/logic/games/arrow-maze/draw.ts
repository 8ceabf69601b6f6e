import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import { type Constraint, type Model, span, sumWithin, type Term } from "../../drawing/finite-domain.ts";
import { fenced, range, rowsOf } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { carve, drawUntil, hasOneSolution } from "../../drawing/uniqueness.ts";

const BLANK = "X";
const ARROWS: readonly (readonly [arrow: string, down: number, right: number])[] = [
  ["↑", -1, 0],
  ["↓", 1, 0],
  ["←", 0, -1],
  ["→", 0, 1],
  ["↖", -1, -1],
  ["↗", -1, 1],
  ["↘", 1, 1],
  ["↙", 1, -1],
];

/** The cells before a number in one direction, up to the edge or the next number. */
export interface Ray {
  readonly from: number;
  readonly arrow: string;
  readonly cells: readonly number[];
}

const isNumber = (cell: string): boolean => /^\d+$/.test(cell);

export function raysOf(n: number, cells: readonly string[]): Ray[] {
  return range(n * n)
    .filter((cell) => isNumber(cells[cell]!))
    .flatMap((from) =>
      ARROWS.map(([arrow, down, right]) => {
        const ray: number[] = [];
        let [row, column] = [Math.floor(from / n) + down, (from % n) + right];
        while (row >= 0 && row < n && column >= 0 && column < n && !isNumber(cells[row * n + column]!)) {
          ray.push(row * n + column);
          [row, column] = [row + down, column + right];
        }
        return { from, arrow, cells: ray };
      }),
    );
}

/**
 * Model whose variables are ray lengths, in the order of raysOf: the rays of a number add up to the number, each cell
 * lies on exactly one ray, and a given arrow lies on a ray of its own direction.
 */
export function arrowMazeModel(n: number, cells: readonly string[]): Model {
  const rays = raysOf(n, cells);
  const exactly = (terms: readonly Term[], total: number) => sumWithin(terms, total, total);
  const numbers = range(n * n).filter((cell) => isNumber(cells[cell]!));
  const lengths = numbers.map((from): Constraint => {
    const own = range(rays.length).filter((variable) => rays[variable]!.from === from);
    return exactly(
      own.map((variable) => ({ variable, weights: range(n) })),
      Number(cells[from]),
    );
  });
  const cover = range(n * n)
    .filter((cell) => !isNumber(cells[cell]!))
    .flatMap((cell) => {
      const reaching = (fits: (ray: Ray) => boolean): Term[] =>
        rays.flatMap((ray, variable) => {
          const at = ray.cells.indexOf(cell);
          return at >= 0 && fits(ray)
            ? [{ variable, weights: range(n).map((length) => Number(length > at)) }]
            : [];
        });
      const isOwn = ({ arrow }: Ray) => cells[cell] === BLANK || cells[cell] === arrow;
      return [
        exactly(reaching(isOwn), 1),
        exactly(
          reaching((ray) => !isOwn(ray)),
          0,
        ),
      ];
    });
  return { domains: rays.map((ray) => span(0, ray.cells.length)), constraints: [...lengths, ...cover] };
}

/** Fills a grid: numbers at random places send rays of random length; an uncovered cell becomes a new number. */
function shoot(random: CounterRandom, n: number): string[] | undefined {
  const board = range(n * n).map(() => BLANK);
  for (const from of random.shuffle(range(n * n))) {
    if (board[from] !== BLANK) continue;
    board[from] = "0";
    let total = 0;
    for (const { arrow, cells } of random.shuffle(raysOf(n, board).filter((ray) => ray.from === from))) {
      const blocked = cells.findIndex((cell) => board[cell] !== BLANK);
      const open = blocked < 0 ? cells.length : blocked;
      const length = open === 0 || random.next() < 0.4 ? 0 : random.int(1, open);
      for (const cell of cells.slice(0, length)) board[cell] = arrow;
      total += length;
    }
    if (total === 0) return undefined;
    board[from] = `${total}`;
  }
  return board;
}

/** Puzzles with numbers and some of the arrows given, and exactly one solution. */
export const arrowMaze: PuzzleGenerator = {
  task: "arrow_maze",
  measure: "blank cells",

  draw(random, level) {
    const n = atLevel([4, 5, 6, 7], level);
    const solved = drawUntil(() => shoot(random, n));
    const arrows = random.shuffle(range(n * n).filter((cell) => !isNumber(solved[cell]!)));
    const without = (taken: readonly number[]) => solved.map((cell, i) => (taken.includes(i) ? BLANK : cell));
    const taken = carve(arrows, atLevel([5, 9, 15, 22], level), (cells) =>
      hasOneSolution(arrowMazeModel(n, without(cells))),
    );
    const maze = rowsOf(without(taken), n);
    const solution = rowsOf(solved, n);
    const lines = (board: readonly (readonly string[])[]) =>
      `[\n${board.map((row) => `  ${JSON.stringify(row)}`).join(",\n")}\n]`;
    return {
      question: `In this ${n} x ${n} arrow maze rays of arrows leave the numbers, in any of the eight directions: a ray is an unbroken line of arrows that point its way, starting beside its number. A number is the total length of its rays, and every arrow lies on a ray. Replace each "X" by an arrow (↑ ↓ ← → ↖ ↗ ↘ ↙) and leave the other cells as they are.\n\n${lines(maze)}\n\nGive the whole grid as a list of lists of strings in a python block at the end of your answer.`,
      solution: fenced(lines(solution)),
      answer: JSON.stringify(solution),
      metadata: { maze, solution, height: n, width: n, arrow_fill_rate: 1 - taken.length / arrows.length },
      effort: taken.length,
    };
  },
};
