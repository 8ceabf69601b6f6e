import { withoutEndTokens } from "../end-tokens.ts";
import { correct, wrong } from "../verifier.ts";
import { answerBox } from "./answer-box.ts";
import { boxContent } from "./boxed.ts";
import type { Budget } from "./budget.ts";
import { sameTime } from "./clock.ts";
import { matches } from "./compare.ts";
import { asOptions, withoutHarmless } from "./essence.ts";
import { approximate } from "./evaluate.ts";
import type { Rules } from "./judging.ts";
import { isUnitName, withoutUnit } from "./quantity.ts";
import * as q from "./rational.ts";
import { type Reading, readStrictly } from "./reading.ts";
import { contains, type Expr, freeSymbols, isExpr, type Value } from "./syntax.ts";

const END_OF_THINKING = "</think>";

/**
 * Judges mathematics for training: the last box after the last `</think>`, with the other boxes of the same answer,
 * and with the reference's exploits closed.
 */
export const STRICT: Rules = {
  strict: true,

  responseOf(completion) {
    const thought = completion.lastIndexOf(END_OF_THINKING);
    return withoutEndTokens(thought < 0 ? completion : completion.slice(thought));
  },

  boxOf: answerBox,

  essences(gold, answer) {
    const plain = withoutHarmless(gold, answer);
    return plain === undefined ? asOptions(gold, answer) : [plain, ...asOptions(gold, answer)];
  },

  read(tail, gold) {
    const content = boxContent(tail);
    if (content === undefined || !content.closed || content.text === "") return undefined;
    const reading = readStrictly(content.text, gold);
    return reading.text === "" ? undefined : reading;
  },

  decide(gold, answer) {
    if (gold.option !== undefined && answer.severalOptions) return wrong("several options");
    const time = sameTime(gold.clock, answer.clock);
    if (time === undefined) return undefined;
    return time ? correct("same time") : wrong("another time");
  },

  evasion,
};

/** Reason why an answer does not state exactly one value; undefined if it does. */
function evasion(gold: Value, answer: Reading, budget: Budget): string | undefined {
  if (!mentions(gold, isUnevaluated) && mentions(answer.value!, isUnevaluated))
    return "unevaluated expression";
  if (answer.approximations.some(([exact, near]) => contradicts(exact, near, budget)))
    return "approximation is off";
  return equatesDifferent(answer.value!, budget) ? "equates different values" : undefined;
}

/** True for false equations of numbers, alone or in a list: 13 = 12, x = 5 = 7. */
function equatesDifferent(value: Value, budget: Budget): boolean {
  if (value.kind === "set" || value.kind === "tuple")
    return value.items.some((item) => equatesDifferent(item, budget));
  if (value.kind !== "relation" || !value.links.every((link) => link.operator === "=")) return false;
  const [first] = value.links;
  const sides = value.links.map((link) => link.right).filter(isOfConstants);
  if (isExpr(first!.left) && isNumber(first!.left, budget)) sides.unshift(first!.left);
  const last = sides.at(-1);
  return sides.some((side) => side !== last && !matches(side, last!, { budget, strict: true }));
}

/** True for a number, or for numbers: \pm 2. */
const isOfConstants = (value: Value): boolean =>
  isExpr(value) ? isConstant(value) : value.kind === "set" && value.items.every(isOfConstants);

const isConstant = (e: Expr): boolean => [...freeSymbols(e)].every(isUnitName);

/** True if the first side is a number and not a name: e and i may be names, f(0) is one. */
const isNumber = (e: Expr, budget: Budget): boolean =>
  isConstant(e) && !contains(e, isLetter) && approximate(withoutUnit(e), budget) !== undefined;

const isLetter = (e: Expr): boolean =>
  (e.kind === "constant" && e.name !== "pi") || (e.kind === "call" && e.name.length === 1);

const isUnevaluated = (e: Expr): boolean => e.kind === "bound";

function mentions(value: Value, test: (e: Expr) => boolean): boolean {
  if (isExpr(value)) return contains(value, test);
  switch (value.kind) {
    case "relation":
      return value.links.some((link) => mentions(link.left, test) || mentions(link.right, test));
    case "set":
    case "tuple":
      return value.items.some((item) => mentions(item, test));
    case "domain":
      return false;
    default:
      return mentions(value.left, test) || mentions(value.right, test);
  }
}

/** True for "5 \approx 7": both sides are numbers that differ by more than one part in a hundred. */
function contradicts(exact: Expr, near: Expr, budget: Budget): boolean {
  if (!isConstant(exact) || !isConstant(near)) return false;
  const [x, y] = [approximate(withoutUnit(exact), budget), approximate(withoutUnit(near), budget)];
  if (x === undefined || y === undefined) return true;
  const gap = q.subtract(x, y);
  return q.compare(q.multiply(gap, gap), q.multiply(q.multiply(x, x), { n: 1n, d: 10_000n })) > 0;
}
