import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { boardSchema, ORTHOGONAL, where } from "../../judging/board.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "norinori";
const SHADOW = "X";
const schema = z.object({
  metadata: z.object({
    region_grid: boardSchema(z.string()).refine((g) => g.length === g[0]!.length, "not a square"),
  }),
});
type Data = z.output<typeof schema>;

const TIGHT = /\[\((\d+),\s*(\d+)\),\s*\((\d+),\s*(\d+)\)\]/g;
const LOOSE = /\(\s*(\d+)\s*,\s*(\d+)\s*\)\s*,\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)/g;

/**
 * Dominoes, no two sharing an edge, that cover every shadow cell X and exactly two cells of each region. The
 * answer is read from every `[(row,column),(row,column)]` of the text, else from pairs without brackets;
 * 1-based. Reference counts only the regions that a domino touches, so it accepts an answer with dominoes
 * missing, or none; strict counts every region.
 */
export const norinori: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeDominoes(answer, data, [2]),
  judgeAsReference: (answer, data) => judgeDominoes(answer, data, [0, 2]),
};

/** @param coveredInRegion the numbers of covered cells that a region may have. */
function judgeDominoes(
  answer: string,
  { metadata: { region_grid: grid } }: Data,
  coveredInRegion: readonly number[],
): ScoredVerdict {
  const n = grid.length;
  const dominoes = dominoesIn(answer);
  if (dominoes.length > n * n) return wrong("more dominoes than cells");
  const owner = new Map<number, number>();
  for (const [i, [r1, c1, r2, c2]] of dominoes.entries()) {
    if (Math.abs(r1 - r2) + Math.abs(c1 - c2) !== 1) return wrong("a pair is no domino");
    for (const [r, c] of [[r1, c1] as const, [r2, c2] as const]) {
      if (Math.min(r, c) < 1 || Math.max(r, c) > n) return wrong("a cell outside the grid");
      if (owner.has(r * (n + 2) + c)) return wrong("a cell covered twice");
      owner.set(r * (n + 2) + c, i);
    }
  }
  const meets = ([at, i]: readonly [number, number]) =>
    ORTHOGONAL.some(([down, right]) => (owner.get(at + down * (n + 2) + right) ?? i) !== i);
  if ([...owner].some(meets)) return wrong("two dominoes touch");

  const isCovered = (r: number, c: number) => owner.has((r + 1) * (n + 2) + c + 1);
  if (where(grid, (region, r, c) => region === SHADOW && !isCovered(r, c)).length > 0) {
    return wrong("a shadow cell is open");
  }
  const covered = new Map<string, number>();
  for (const [r, c] of where(grid, (region) => region !== SHADOW)) {
    const region = grid[r]![c]!;
    covered.set(region, (covered.get(region) ?? 0) + Number(isCovered(r, c)));
  }
  const off = [...covered].find(([, count]) => !coveredInRegion.includes(count));
  return off ? wrong(`${off[1]} cells covered in a region`) : correct("two cells in every region");
}

type Domino = readonly [number, number, number, number];

function dominoesIn(answer: string): Domino[] {
  const read = (pattern: RegExp) =>
    Array.from(answer.matchAll(pattern), (match) => match.slice(1).map(Number) as unknown as Domino);
  const tight = read(TIGHT);
  return tight.length > 0 ? tight : read(LOOSE);
}
