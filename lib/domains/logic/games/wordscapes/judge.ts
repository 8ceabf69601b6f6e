import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { type Board, boardSchema, columnsOf, sameShape, where } from "../../judging/board.ts";
import { type Game, gameData } from "../../judging/game.ts";
import { strip } from "../../judging/matrix-text.ts";

const TASK = "wordscapes";
const LETTER_CELL = "X";
const END_OF_THOUGHT = "</think>";
const words = z.array(z.string());
const schema = z.object({
  metadata: z.object({
    grid: boardSchema(z.enum(["0", LETTER_CELL])),
    across_words: words,
    down_words: words,
  }),
});
type Data = z.output<typeof schema>;

/**
 * Letters in the cells marked X, so that each across word is in a row and each down word in a column. The
 * answer is read from the first `[[...]]`, cells quoted or bare, "0" and "" for blank; ignores case.
 * Reference accepts several letters in one cell, words across gaps, and letters of no word; strict requires
 * one letter per cell, words in unbroken runs, as often as listed, and every letter in one of them.
 */
export const wordscapes: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data) {
    const board = filledIn(answer, data);
    if (!Array.isArray(board)) return board;
    if (where(board, (cell) => isFilled(cell) && !/^\p{L}$/u.test(cell)).length > 0) {
      return wrong("a cell is not one letter");
    }
    const across = coveredBy(board, data.metadata.across_words);
    const down = coveredBy(columnsOf(board), data.metadata.down_words);
    if (across === undefined || down === undefined) return wrong("a word is missing");
    const stray = where(
      board,
      (cell, r, c) => isFilled(cell) && !across.has(`${r},${c}`) && !down.has(`${c},${r}`),
    );
    return stray.length > 0 ? wrong("a letter of no word") : correct("every word stands");
  },

  judgeAsReference(answer, data) {
    const board = filledIn(answer, data);
    if (!Array.isArray(board)) return board;
    const { across_words, down_words } = data.metadata;
    const holds = standsAnywhere(board, across_words) && standsAnywhere(columnsOf(board), down_words);
    return holds ? correct("every word stands") : wrong("a word is missing");
  },
};

const isFilled = (cell: string): boolean => cell.trim() !== "";

/** The answer's grid if exactly the marked cells are filled; otherwise the verdict. */
function filledIn(answer: string, { metadata: { grid } }: Data): string[][] | ScoredVerdict {
  const board = gridIn(answer);
  if (board === undefined) return wrong("no grid");
  if (!sameShape(board, grid)) return wrong("grid of another size");
  if (where(board, (cell, r, c) => isFilled(cell) !== (grid[r]![c] === LETTER_CELL)).length > 0) {
    return wrong("letters elsewhere than in the marked cells");
  }
  return board;
}

/** True if each word occurs in some line without its gaps. */
function standsAnywhere(lines: Board<string>, list: readonly string[]): boolean {
  const texts = lines.map((line) => line.join("").replaceAll(" ", "").toLowerCase());
  return list.every((word) => texts.some((text) => text.includes(word.toLowerCase())));
}

/** The cells [line, place] of all occurrences of the words; undefined if one occurs less often than listed. */
function coveredBy(lines: Board<string>, list: readonly string[]): Set<string> | undefined {
  const texts = lines.map((line) =>
    line.map((cell) => (cell.trim() === "" ? " " : cell.toLowerCase())).join(""),
  );
  const covered = new Set<string>();
  const needed = new Map<string, number>();
  for (const word of list.map((word) => word.toLowerCase()).filter(Boolean)) {
    needed.set(word, (needed.get(word) ?? 0) + 1);
  }
  for (const [word, times] of needed) {
    const places = texts.flatMap((text, line) =>
      occurrences(text, word).map((start) => [line, start] as const),
    );
    if (places.length < times) return undefined;
    for (const [line, start] of places)
      for (let i = 0; i < word.length; i++) covered.add(`${line},${start + i}`);
  }
  return covered;
}

function occurrences(text: string, word: string): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) starts.push(at);
  return starts;
}

/** The first `[[...]]` after the thought as rows of cells; a third opening bracket belongs to the opening. */
function gridIn(answer: string): string[][] | undefined {
  const thought = answer.includes("<think>") ? answer.lastIndexOf(END_OF_THOUGHT) : -1;
  const text = thought < 0 ? answer : answer.slice(thought + END_OF_THOUGHT.length);
  const opening = /\[\s*\[(?:\s*\[)?/.exec(text);
  if (opening === null) return undefined;
  const start = opening.index + opening[0].length;
  const end = /\]\s*\]/g;
  end.lastIndex = start + 1; // requires at least one character inside
  const close = end.exec(text);
  if (close === null) return undefined;
  const rows = text
    .slice(start, close.index)
    .split(/\],\s*\[/)
    .map(cellsOf);
  return rows.filter((row) => row.length > 0);
}

function cellsOf(row: string): string[] {
  const inside = strip(row.trim(), "[],");
  return Array.from(inside.matchAll(/"([^"]*)"|'([^']*)'|([^,\s]+)/g), ([, double, single, bare]) => {
    const cell = double || single || bare || "";
    return cell === "0" || cell === "" ? " " : cell;
  });
}
