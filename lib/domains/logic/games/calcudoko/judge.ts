import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { type Board, hasShape, isLatinSquare, sideSchema } from "../../judging/board.ts";
import { pythonBlocks } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";
import { strip } from "../../judging/matrix-text.ts";

const TASK = "calcudoko";
const cellSchema = z.string().regex(/\(\d+\s*,\s*\d+\)/);
const schema = z.object({
  metadata: z.object({
    grid_size: sideSchema,
    regions: z.array(
      z.object({
        cells: z.array(cellSchema).min(1),
        target: z.number(),
        operator: z.string(),
      }),
    ),
  }),
});
type Data = z.output<typeof schema>;
type Region = z.output<typeof schema>["metadata"]["regions"][number];

const RATIO_TOLERANCE = 0.001;
const ROW_LINES = [
  /第\s*\d+\s*行\s*[:：]\s*([\d\s]+)/g,
  /行\s*\d+\s*[:：]\s*([\d\s]+)/g,
  /Row\s*\d+\s*[:：]\s*([\d\s]+)/g,
  /- 第\d+行[:：]?\s*([\d\s]+)/g,
  /- 行\d+[:：]?\s*([\d\s]+)/g,
  /- Row\d+[:：]?\s*([\d\s]+)/g,
];

/**
 * A latin square whose regions have distinct digits and the stated sum, product, difference or ratio (the
 * last two of exactly two cells). The answer is read from the first `[[a b,c d]]` on one line, else from the
 * last python block. Reference ignores non-digits, pads short rows with 1, cuts long ones, adds rows of 1 and
 * collects "Row 1: ..." lines; strict requires exactly the square's digits separated by blanks.
 */
export const calcudoko: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeBoard(exactly(statedIn(answer), data.metadata.grid_size), data),
  judgeAsReference: (answer, data) =>
    judgeBoard(padded(statedIn(answer) ?? answer, data.metadata.grid_size, answer), data),
};

function judgeBoard(
  board: Board<number> | undefined,
  { metadata: { grid_size: n, regions } }: Data,
): ScoredVerdict {
  if (board === undefined) return wrong("no grid [[a b,c d]]");
  if (!hasShape(board, n, n)) return wrong("grid of another size");
  if (!isLatinSquare(board)) return wrong("a row or column repeats");
  const fails = regions.find((region) => !satisfies(region, board));
  return fails ? wrong(`${fails.target}${fails.operator} does not hold`) : correct("every region holds");
}

const statedIn = (answer: string): string | undefined =>
  firstOnOneLine(answer) ?? pythonBlocks(answer).at(-1);

/** The content of the first `[[...]]` without a line break. */
function firstOnOneLine(text: string): string | undefined {
  for (const line of text.split("\n")) {
    const start = line.indexOf("[[") + 2;
    const end = start < 2 ? -1 : line.indexOf("]]", start);
    if (end >= 0) return line.slice(start, end);
  }
  return undefined;
}

function exactly(stated: string | undefined, n: number): Board<number> | undefined {
  const inside = stated?.replace(/^\[\[|\]\]$/g, "");
  if (inside === undefined || inside.length > 100 * n * n || !/^[\d\s,]+$/.test(inside)) return undefined;
  return inside.split(",").map(digitsOf);
}

const digitsOf = (row: string): number[] => (row.match(/\d+/g) ?? []).map(Number);

/** Builds a square from the found text as the reference does; no rows if it cannot. */
function padded(stated: string, n: number, whole: string): Board<number> {
  const text = strip(stated.replace(/[^\d\s[\],]/g, ""), "[]");
  let listed: number[][] | undefined;
  const rows: number[][] = [];
  for (const row of text.split(",")) {
    if (/[[\]]/.test(row)) return [];
    rows.push(digitsOf(row));
    if (rows.at(-1)!.length >= n) continue;
    listed ??= rowLines(whole);
    if (listed.length === n) return squared(listed, n);
  }
  return squared(rows, n);
}

const rowLines = (text: string): number[][] =>
  ROW_LINES.flatMap((pattern) => Array.from(text.matchAll(pattern), ([, digits]) => digitsOf(digits!)));

const squared = (rows: readonly (readonly number[])[], n: number): number[][] =>
  Array.from({ length: n }, (_, r) => Array.from({ length: n }, (_, c) => rows[r]?.[c] ?? 1));

function satisfies({ cells, target, operator }: Region, board: Board<number>): boolean {
  const values = cells.map((cell) => {
    const [row, column] = digitsOf(cell);
    return board[row! - 1]?.[column! - 1] ?? 0;
  });
  if (values.includes(0) || new Set(values).size !== values.length) return false;
  if (operator === "+") return values.reduce((a, b) => a + b) === target;
  if (operator === "*") return values.reduce((a, b) => a * b) === target;
  const [a, b] = values as [number, number];
  if (values.length !== 2) return false;
  if (operator === "-") return Math.abs(a - b) === Math.abs(target);
  return [a / b, b / a].some((ratio) => Math.abs(ratio - target) < RATIO_TOLERANCE);
}
