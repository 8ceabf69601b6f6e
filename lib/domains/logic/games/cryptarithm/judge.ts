import { z } from "zod";
import { isInteger, toText } from "../../../math/rational.ts";
import { correct, wrong } from "../../../verifier.ts";
import { EXACT, evaluate } from "../../judging/arithmetic.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "cryptarithm";
const MAX_CHARS = 500;

const schema = z.object({
  answer: z.string(),
  metadata: z
    .object({ letter_words: z.array(z.string()).min(2), operators: z.array(z.string()) })
    .nullish()
    .catch(null),
});
type Data = z.output<typeof schema>;

/**
 * Letters stand for digits: judges the last equation of the answer, `d + d = d` with + - *. Reference requires the
 * stored one; strict accepts any that obeys the rules: same letter, same digit; different letter, different digit; no
 * number starts with 0; the equation is true.
 */
export const cryptarithm: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data) {
    const found = lastEquation(answer);
    if (found === undefined) return wrong("no equation");
    const equation = found.text;
    if (isOneOfTwo(answer, found)) return wrong("two answers");
    if (equation === stored(data)) return correct("the equation");
    return data.metadata ? judgeByRules(equation, data.metadata) : wrong("another equation");
  },

  judgeAsReference(answer, data) {
    const equation = lastEquation(answer)?.text;
    if (equation === undefined) return wrong("no equation");
    return equation === stored(data) ? correct("the equation") : wrong("another equation");
  },
};

const stored = ({ answer }: Data): string => answer.replaceAll(" ", "");

/**
 * The last match of `\d+(\s*[-+*]\s*\d+)+\s*=\s*-?\d+`, without blanks; parsed number by number, because the
 * expression itself takes time quadratic in the digits.
 */
function lastEquation(text: string): Equation | undefined {
  let last: Omit<Equation, "text"> | undefined;
  const number = /\d+/g;
  const term = /\s*[-+*]\s*\d+/y;
  const result = /\s*=\s*-?\d+/y;
  for (let match = number.exec(text); match !== null; match = number.exec(text)) {
    const first = number.lastIndex;
    let end = first;
    for (term.lastIndex = end; term.exec(text) !== null; ) end = term.lastIndex;
    result.lastIndex = end;
    if (end > first && result.exec(text) !== null) {
      end = result.lastIndex;
      last = { start: match.index, end };
    }
    number.lastIndex = end;
  }
  return last && { ...last, text: text.slice(last.start, last.end).replace(/\s+/g, "") };
}

interface Equation {
  /** Text without blanks. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** True if "or", a slash or a bar separates the equation from another number. */
const isOneOfTwo = (answer: string, { start, end }: Equation): boolean =>
  /^[\s$*)\]\\]{0,12}(?:or\b|[/|])[\s$*([\\]{0,12}-?\d/i.test(answer.slice(end, end + 40)) ||
  /\d[\s$*)\].,\\]{0,12}(?:\bor|[/|])[\s$*([\\]{0,12}$/i.test(answer.slice(Math.max(0, start - 40), start));

function judgeByRules(equation: string, { letter_words, operators }: NonNullable<Data["metadata"]>) {
  const numbers = equation.match(/\d+/g) ?? [];
  const [left, right] = equation.split("=") as [string, string];
  if (equation.length > MAX_CHARS) return wrong("equation too long");
  if (
    left.replace(/\d+/g, "") !== operators.join("") ||
    right.startsWith("-") ||
    numbers.length !== letter_words.length
  )
    return wrong("another equation");
  const digits = new Map<string, string>();
  for (const [i, word] of letter_words.entries()) {
    const number = numbers[i]!;
    if (number.length !== word.length) return wrong("a number of another length");
    if (number.startsWith("0")) return wrong("a number starts with 0");
    for (const [k, letter] of [...word].entries()) {
      if ((digits.get(letter) ?? number[k]) !== number[k]) return wrong("a letter with two digits");
      digits.set(letter, number[k]!);
    }
  }
  if (new Set(digits.values()).size !== digits.size) return wrong("a digit for two letters");
  const value = evaluate(left, EXACT);
  const holds = value !== undefined && isInteger(value) && toText(value) === right;
  return holds ? correct("another solution") : wrong("does not hold");
}
