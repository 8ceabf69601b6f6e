import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { compare, integer, subtract } from "../../../math/rational.ts";
import { correct, wrong } from "../../../verifier.ts";
import { EXACT, evaluate, PYTHON } from "../../judging/arithmetic.ts";
import { pythonBlocks } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "mathador";
const TOLERANCE = 1e-10;

const schema = z.object({
  metadata: z.object({
    numbers: z.array(z.int().nonnegative()).min(1).max(20),
    operators: z.array(z.string()),
    result: z.int(),
  }),
});
type Data = z.output<typeof schema>;

/**
 * Game of 24: the last ```` ```python ```` block is an expression that uses each number once, only the operators
 * allowed and parentheses, and has the wanted value. Strict computes exactly and knows no `**` and `//`, which
 * reference lets pass as two allowed characters; reference computes in doubles, to 1e-10.
 */
export const mathador: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeExpression(answer, data, exact),
  judgeAsReference: (answer, data) => judgeExpression(answer, data, rounded),
};

function judgeExpression(
  answer: string,
  { metadata }: Data,
  solves: (expression: string, result: number) => ScoredVerdict,
): ScoredVerdict {
  const expression = pythonBlocks(answer).at(-1) ?? "";
  if (expression === "") return wrong("no ```python block");
  const { numbers, operators, result } = metadata;
  const foreign = [...expression.replace(/[0-9\s]/g, "")].find(
    (character) => !operators.includes(character) && character !== "(" && character !== ")",
  );
  if (foreign !== undefined) return wrong(`not allowed: ${JSON.stringify(foreign)}`);
  if (!sameNumbers(expression, numbers)) return wrong("numbers not used exactly once");
  return solves(expression, result);
}

function sameNumbers(expression: string, numbers: readonly number[]): boolean {
  const used = expression.match(/[0-9]+/g) ?? [];
  return used.sort().join() === numbers.map(String).sort().join();
}

function exact(expression: string, result: number) {
  const value = evaluate(expression, EXACT);
  if (value === undefined) return wrong("not an arithmetic expression");
  return compare(subtract(value, integer(result)), integer(0)) === 0
    ? correct("solved")
    : wrong("another value");
}

function rounded(expression: string, result: number) {
  const value = evaluate(expression, PYTHON);
  if (value === undefined) return wrong("not an arithmetic expression");
  return Math.abs(value - result) < TOLERANCE ? correct("solved") : wrong("another value");
}
