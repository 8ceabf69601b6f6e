import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import {
  type Board,
  boardSchema,
  columnsOf,
  hasShape,
  sameShape,
  sideSchema,
  where,
} from "../../judging/board.ts";
import { pythonBlocks, spans } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";
import { nestedSpans } from "../../judging/matrix-text.ts";

const TASK = "survo";
const BLANK = 0;
const schema = z.object({
  metadata: z
    .object({
      original_matrix: boardSchema(z.number()),
      candidate_numbers: z.array(z.number()),
      n: sideSchema,
    })
    .refine(({ original_matrix, n }) => hasShape(original_matrix, n, n), "original_matrix is not n x n"),
});
type Data = z.output<typeof schema>;
const answerSchema = z.array(z.array(z.number()));

/**
 * The candidate numbers, each used once, fill the blanks so that the last number of every row and column is
 * the sum of the others. The answer is read as JSON from the last python block, else the last fenced one,
 * else the last `[[...]]`. Reference does not add up the last row and the last column; strict does.
 */
export const survo: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeMatrix(answer, data, data.metadata.n),
  judgeAsReference: (answer, data) => judgeMatrix(answer, data, data.metadata.n - 1),
};

/** @param summedLines number of rows and of columns, counted from the first, whose last number must be their sum */
function judgeMatrix(
  answer: string,
  { metadata: { original_matrix: original, candidate_numbers } }: Data,
  summedLines: number,
): ScoredVerdict {
  const board = matrixIn(answer);
  if (board === undefined) return wrong("no matrix of numbers");
  if (!sameShape(board, original)) return wrong("matrix of another size");
  if (where(original, (cell, r, c) => cell !== BLANK && cell !== board[r]![c]).length > 0) {
    return wrong("a given number was changed");
  }
  const filled = where(original, (cell) => cell === BLANK).map(([r, c]) => board[r]![c]!);
  if (String(inOrder(filled)) !== String(inOrder(candidate_numbers))) {
    return wrong("other numbers than the candidates");
  }
  const summed = (lines: Board<number>) => lines.slice(0, summedLines).every(endsInSum);
  return summed(board) && summed(columnsOf(board))
    ? correct("every sum holds")
    : wrong("a sum does not hold");
}

const inOrder = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);

function endsInSum(line: readonly number[]): boolean {
  return line.slice(0, -1).reduce((sum, value) => sum + value, 0) === line.at(-1);
}

function matrixIn(answer: string): Board<number> | undefined {
  const stated =
    pythonBlocks(answer).at(-1) ?? spans(answer, "```", "```").at(-1) ?? nestedSpans(answer, "square").at(-1);
  try {
    return answerSchema.safeParse(JSON.parse(stated?.replaceAll("'", '"') ?? "")).data;
  } catch {
    return undefined;
  }
}
