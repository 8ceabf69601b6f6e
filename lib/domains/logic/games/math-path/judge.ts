import { z } from "zod";
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

/**
 * An equation with digits missing, restored in the last `[[...]]` of one line: every `?` is a digit and it holds.
 * Strict wants everything else to stand as it was and computes exactly. Reference compares the digits and the
 * operators by themselves and asks Python whether the text is true: parentheses may move, and without `=` any
 * number but 0 will do; comparisons other than `=`, and whatever else Python would run, are wrong here.
 */
export const mathPath: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, { metadata }, compat) {
    const marked = answer
      .split("\n")
      .flatMap((line) => spans(line, "[[", "]]"))
      .at(-1);
    if (marked === undefined) return wrong("no [[...]]");
    if (marked.length > 2 * MAX_CHARS) return wrong("answer too long");
    const equation = marked.replaceAll(" ", "").trim();
    const query = metadata.query_expr;
    if (!(compat === "strict" ? restores(equation, query) : resembles(equation, query)))
      return wrong("not the equation asked about");
    return (compat === "strict" ? holds(equation) : isTrue(equation))
      ? correct("holds")
      : wrong("does not hold");
  },
};

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
