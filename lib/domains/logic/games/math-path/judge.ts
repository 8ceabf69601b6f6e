import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { equals } from "../../../math/rational.ts";
import { correct, wrong } from "../../../verifier.ts";
import { EXACT, evaluate, PYTHON } from "../../judging/arithmetic.ts";
import { spans } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "math_path";
const MAX_CHARS = 1000;

const schema = z.object({
  metadata: z.object({
    query_expr: z
      .string()
      .max(MAX_CHARS)
      .transform((text) => text.replaceAll(" ", "")),
  }),
});
type Data = z.output<typeof schema>;

/**
 * An equation with digits missing, restored in the last `[[...]]` of one line: every `?` is replaced by a digit and
 * the equation is true. Strict requires the rest to be unchanged and computes exactly. Reference compares digits and
 * operators separately and asks Python whether the text is true: parentheses may move, and without `=` any nonzero
 * number passes; comparisons other than `=`, and other Python code, are wrong here.
 */
export const mathPath: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeEquation(answer, data, { restores, holds }),
  judgeAsReference: (answer, data) => judgeEquation(answer, data, { restores: resembles, holds: isTrue }),
};

/** Decides whether an equation is the given one with its digits, and whether it is true. */
interface EquationRules {
  restores(equation: string, query: string): boolean;
  holds(equation: string): boolean;
}

function judgeEquation(answer: string, { metadata }: Data, rules: EquationRules): ScoredVerdict {
  const marked = answer
    .split("\n")
    .flatMap((line) => spans(line, "[[", "]]"))
    .at(-1);
  if (marked === undefined) return wrong("no [[...]]");
  if (marked.length > 2 * MAX_CHARS) return wrong("answer too long");
  const equation = marked.replaceAll(" ", "").trim();
  if (!rules.restores(equation, metadata.query_expr)) return wrong("not the equation asked about");
  return rules.holds(equation) ? correct("holds") : wrong("does not hold");
}

function restores(equation: string, query: string): boolean {
  if (equation.length !== query.length) return false;
  return [...query].every((wanted, i) => (wanted === "?" ? /\d/.test(equation[i]!) : wanted === equation[i]));
}

function resembles(equation: string, query: string): boolean {
  const operators = (text: string) => text.replace(/[^-+*/%]/g, "");
  const digits = equation.replace(/[^0-9]/g, "");
  return restores(digits, query.replace(/[^0-9?]/g, "")) && operators(equation) === operators(query);
}

function holds(equation: string): boolean {
  const [left, right, ...more] = equation.split("=").map((side) => evaluate(side, EXACT));
  return left !== undefined && right !== undefined && more.length === 0 && equals(left, right);
}

/** The truth of the text with `==` for `=`: a chain of equalities, or a number by itself. */
function isTrue(equation: string): boolean {
  const values = equation.split("=").map((side) => evaluate(side, PYTHON));
  if (values.length === 1) return values[0] !== undefined && values[0] !== 0;
  return values.every((value) => value !== undefined && value === values[0]);
}
