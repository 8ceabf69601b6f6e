import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "minesweeper";
const schema = z.object({
  metadata: z.object({ current_mines: z.array(z.tuple([z.int(), z.int()])) }),
});
type Data = z.output<typeof schema>;

const TUPLE = String.raw`\(\s*\d+\s*,\s*\d+\s*\)`;
const LIST = String.raw`\[\s*\d+\s*,\s*\d+\s*\]`;
const listOf = (item: string) => new RegExp(String.raw`\[\s*${item}(?:\s*,\s*${item})*\s*\]`, "g");
/** Ways to write the mines; the first that occurs is read, everywhere it occurs. */
const FORMS = [listOf(TUPLE), listOf(LIST), new RegExp(TUPLE, "g")];

/** Two alternative numbers. */
const EITHER = /\d\s{0,4}(?:or|[/|])\s{0,4}\d/i;

/**
 * The mines that are certain by one step of reasoning, 0-based (row, column), in any order: equal to the
 * stored list. The answer is read from lists of pairs, else from pairs, else from consecutive numbers in the
 * text. Reference reads a text without any number as "no mines"; strict requires `[]`.
 */
export const minesweeper: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data) {
    const mines = minesIn(answer);
    if (!FORMS.some((form) => answer.search(form) >= 0) && EITHER.test(answer))
      return wrong("two numbers for one");
    const isListed = mines.length > 0 || /\[\s*\]/.test(answer);
    return isListed ? judgeMines(mines, data) : wrong("no mines listed");
  },
  judgeAsReference: (answer, data) => judgeMines(minesIn(answer), data),
};

function judgeMines(mines: readonly number[][], { metadata: { current_mines } }: Data): ScoredVerdict {
  const given = new Set(mines.map(keyOf));
  const right = new Set(current_mines.map(keyOf));
  return given.size === right.size && [...given].every((mine) => right.has(mine))
    ? correct("the certain mines")
    : wrong("other mines");
}

const keyOf = ([row, column]: readonly (number | undefined)[]): string => `${row},${column}`;

function minesIn(answer: string): number[][] {
  for (const form of FORMS) {
    const listed = answer.match(form);
    if (listed) return listed.flatMap((text) => inPairs(text));
  }
  return inPairs(answer);
}

/** Consecutive pairs of the numbers in a text; ignores a last odd one. */
function inPairs(text: string): number[][] {
  const numbers = (text.match(/\d+/g) ?? []).map(Number);
  return Array.from({ length: Math.floor(numbers.length / 2) }, (_, i) => numbers.slice(2 * i, 2 * i + 2));
}
