import { z } from "zod";
import { HoneError } from "../../../../errors.ts";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { type Board, hasShape, isLatinSquare, sideSchema } from "../../judging/board.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "futoshiki";
const place = z.tuple([z.int().min(0), z.int().min(0)]);
const schema = z.object({
  question: z.string(),
  metadata: z.object({
    grid_size: sideSchema,
    prefilled_coords: z.array(place),
    constraints: z.array(z.tuple([place, place, z.string()])),
  }),
});
type Place = z.output<typeof place>;

/** A stated cell and its digit. */
type Given = readonly [place: Place, digit: number];
interface FutoshikiData {
  readonly size: number;
  readonly constraints: readonly (readonly [Place, Place, string])[];
  /** All givens of the question, and the givens that the reference checks. */
  readonly givens: readonly Given[];
  readonly referenceGivens: readonly Given[];
}

const parse = gameData(TASK, schema);
const MARKERS = ["Current puzzle:", "当前题目"];

/**
 * A latin square that keeps the given digits and obeys the inequality signs. The answer is read from the last
 * `[[a b,c d]]`. Reference checks the givens of English questions only, and counts only lines with an X as
 * rows of the question, so that a full row shifts the rows below it; it also extracts any digits from a row's
 * text. Strict checks every given in every language, and allows only digits and blanks.
 */
export const futoshiki: Game<FutoshikiData> = {
  task: TASK,

  parse(raw) {
    const { question, metadata } = parse(raw);
    const { grid_size: size, prefilled_coords: places, constraints } = metadata;
    const lines = shownRows(question, size);
    const givens = digitsAt(lines, places);
    if (givens.length !== places.length) {
      throw new HoneError("HONE_ERR_DATA", `logic: ${TASK}: question: does not show every given digit`, {
        hint: `The grid follows a line with one of ${MARKERS.join(", ")}, cells apart by blanks.`,
      });
    }
    return { size, constraints, givens, referenceGivens: digitsAt(rowsSeenByReference(question), places) };
  },

  judge: (answer, data) => judgeGrid(answer, data, { givens: data.givens, takesMarks: false }),
  judgeAsReference: (answer, data) =>
    judgeGrid(answer, data, { givens: data.referenceGivens, takesMarks: true }),
};

function judgeGrid(
  answer: string,
  data: FutoshikiData,
  { givens, takesMarks }: { givens: readonly Given[]; takesMarks: boolean },
): ScoredVerdict {
  const stated = lastInside(answer);
  if (stated === undefined || (!takesMarks && !/^[\d\s,]+$/.test(stated))) {
    return wrong("no grid [[a b,c d]]");
  }
  const board: Board<number> = stated
    .split(",", data.size + 1)
    .map((row) => (row.match(/\d+/g) ?? []).map(Number));
  if (!hasShape(board, data.size, data.size)) return wrong("grid of another size");
  if (!isLatinSquare(board)) return wrong("a row or column repeats");
  const at = ([row, column]: Place) => board[row]?.[column] ?? 0;
  if (givens.some(([cell, digit]) => at(cell) !== digit)) return wrong("a given digit was changed");
  const fails = data.constraints.some(([a, b, sign]) =>
    sign === ">" ? at(a) <= at(b) : sign === "<" && at(a) >= at(b),
  );
  return fails ? wrong("an inequality does not hold") : correct("every inequality holds");
}

/** The content of the last `[[...]]` without an inner `]`. */
function lastInside(text: string): string | undefined {
  for (let end = text.lastIndexOf("]]"); end > 0; end = text.lastIndexOf("]]", end - 1)) {
    const before = text.slice(text.lastIndexOf("]", end - 1) + 1, end);
    const start = before.indexOf("[[") + 2;
    if (start >= 2 && start < before.length) return before.slice(start);
  }
  return undefined;
}

/** The first `size` non-blank lines after the marker, each with a digit or X for every column. */
function shownRows(question: string, size: number): string[] {
  const lines = question.split("\n");
  const marker = lines.findIndex((line) => MARKERS.some((mark) => line.includes(mark)));
  return marker < 0
    ? []
    : lines
        .slice(marker + 1)
        .filter((line) => line.trim() !== "")
        .slice(0, size);
}

function rowsSeenByReference(question: string): string[] {
  const [, after = ""] = question.split(/^.*Current puzzle:.*$/m);
  const lines = after.split("\n").filter((line) => line.trim() !== "");
  const begin = lines.findIndex((line) => line.includes("X"));
  const end = lines.findIndex((line, i) => i > begin && !line.includes("X"));
  return begin < 0 ? [] : lines.slice(begin, end < 0 ? undefined : end);
}

function digitsAt(lines: readonly string[], places: readonly Place[]): Given[] {
  return places.flatMap((place): Given[] => {
    const shown = lines[place[0]]?.trim().split(/\s+/)[place[1]];
    return shown !== undefined && /^\d+$/.test(shown) ? [[place, Number(shown)]] : [];
  });
}
