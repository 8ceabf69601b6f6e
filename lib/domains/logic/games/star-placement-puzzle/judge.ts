import { z } from "zod";
import { readLiteral } from "../../../../python/literal.ts";
import { type PlainValue, toPlain } from "../../../../python/value.ts";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import {
  AROUND,
  type Board,
  boardSchema,
  columnsOf,
  hasShape,
  sideSchema,
  touch,
  where,
} from "../../judging/board.ts";
import { firstPythonBlock } from "../../judging/code-block.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "star_placement_puzzle";
const schema = z.object({
  metadata: z
    .object({ n: sideSchema, k: sideSchema, region_grid: boardSchema(z.string()) })
    .refine(({ n, region_grid }) => hasShape(region_grid, n, n), "region_grid is not n x n"),
});
type Data = z.output<typeof schema>;

interface Star {
  /** Region under which the answer lists the star. */
  readonly region: PlainValue;
  readonly row: number;
  readonly column: number;
}

/**
 * k stars in each row, column and region, none touching another even at a corner. The answer is read from the
 * first dict {region: [(row, column), ...]}, 1-based, in the first python block. Reference ignores the keys,
 * and a star may be listed twice; strict requires each star once, under its region.
 */
export const starPlacementPuzzle: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeStars(answer, data, misfiled),
  judgeAsReference: (answer, data) => judgeStars(answer, data),
};

function judgeStars(
  answer: string,
  { metadata: { k, region_grid } }: Data,
  faultIn?: (stars: readonly Star[], grid: Board<string>) => string | undefined,
): ScoredVerdict {
  const stars = starsIn(firstPythonBlock(answer) ?? "");
  if (stars === undefined || stars.length === 0) return wrong("no dict of stars in a python block");
  if (stars.some(({ row, column }) => region_grid[row]?.[column] === undefined)) {
    return wrong("a star outside the grid");
  }
  const board = region_grid.map((row) => row.map(() => 0));
  for (const { row, column } of stars) board[row]![column] = 1;
  const places = where(board, (cell) => cell === 1);
  const fault = faultIn?.(stars, region_grid);
  if (fault !== undefined) return wrong(fault);
  const total = (line: readonly number[]) => line.reduce((a, b) => a + b, 0);
  if (![...board, ...columnsOf(board)].every((line) => total(line) === k))
    return wrong("stars in a row or column");
  const starred = places.map(([r, c]) => region_grid[r]![c]);
  const hasItsStars = (region: string) => starred.filter((other) => other === region).length === k;
  if (!region_grid.flat().every(hasItsStars)) return wrong("stars in a region");
  return touch(board, (cell) => cell === 1, AROUND) ? wrong("two stars touch") : correct("every star fits");
}

/** Describes a star listed twice or under the wrong region; undefined if there is none. */
function misfiled(stars: readonly Star[], grid: Board<string>): string | undefined {
  if (new Set(stars.map(({ row, column }) => `${row},${column}`)).size < stars.length)
    return "a star is listed twice";
  return stars.some(({ region, row, column }) => region !== grid[row]![column])
    ? "a star is listed under another region"
    : undefined;
}

/** The first `{...}` without inner braces that is a dict, else the first one assigned to a name. */
function starsIn(code: string): Star[] | undefined {
  const first = /\{[^{}]*\}/.exec(code)?.[0];
  const stars = first === undefined ? undefined : readStars(first);
  if (stars !== undefined) return stars;
  const assigned = /\w\s*=\s*(\{[^{}]*\})/.exec(code)?.[1];
  return assigned === undefined ? undefined : readStars(assigned);
}

function readStars(text: string): Star[] | undefined {
  const literal = readLiteral(text);
  const plain = "fault" in literal ? undefined : toPlain(literal.value);
  if (!(plain instanceof Map)) return undefined;
  const stars = [...plain].flatMap(([region, places]: [PlainValue, PlainValue]) =>
    (Array.isArray(places) ? places : [places]).map((place) => starAt(region, place)),
  );
  return stars.every((star) => star !== undefined) ? stars : undefined;
}

function starAt(region: PlainValue, place: PlainValue): Star | undefined {
  if (!Array.isArray(place) || place.length !== 2) return undefined;
  const [row, column] = place.map((index: PlainValue) =>
    typeof index === "number" ? index - 1 : Number.NaN,
  );
  return { region, row: row!, column: column! };
}
