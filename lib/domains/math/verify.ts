import { z } from "zod";
import { HoneError } from "../../errors.ts";
import type { ScoredVerdict } from "../../records.ts";
import { checkedReference } from "../checked.ts";
import { type Completion, correct, noAnswer, unparsable, type Verifier, wrong } from "../verifier.ts";
import type { Compat } from "../verify-case.ts";
import { boxContent, lastBox } from "./boxed.ts";
import { Budget } from "./budget.ts";
import { sameTime } from "./clock.ts";
import { matches } from "./compare.ts";
import { approximate } from "./evaluate.ts";
import { isUnitName, withoutUnit } from "./quantity.ts";
import * as q from "./rational.ts";
import { BudgetExceeded } from "./rational.ts";
import { type Reading, readStrictly } from "./reading.ts";
import { scavenge } from "./scavenge.ts";
import { contains, type Expr, freeSymbols, isExpr, type Value } from "./syntax.ts";

/** Longer gold answers are no answers (solutions, code) and no grammar is asked to read them. */
const MAX_GOLD_CHARS = 4000;

const referenceSchema = z.object({
  answer: z.string(),
  compat: z.enum(["reference", "strict"]).optional(),
  anywhere: z.boolean().optional(),
});
const END_OF_THINKING = "</think>";

export interface MathReference {
  readonly compat: Compat;
  readonly gold: Reading;
  /** The gold answer as it was given, where the completion may state its answer anywhere. */
  readonly text?: string;
}

/**
 * Free-form mathematics: the last `\boxed{}` of the completion must equal the gold answer as a number, expression,
 * relation, set, tuple, interval or matrix. Only that box is read; units, fonts and spacing do not count.
 * The reference is { answer, compat?, anywhere? }: the gold answer in LaTeX, with or without its own box; strict
 * unless said; `anywhere` takes an answer outside a box too, as the reference's own suite does (see sameAnswer).
 * Strict reads only what follows the last `</think>`; text around the box and a cut-off end do not matter.
 * Every verdict is bounded: at most 1,000 characters are parsed and a fixed budget of work is spent.
 * Source: Math-Verify 0.8 as PipelineRL calls it for the Open-Reasoner-Zero rows; strict mode closes its exploits.
 */
export const math: Verifier<MathReference> = {
  name: "math",
  version: 1,

  parseReference(raw) {
    const shape = "{ answer: string, compat?, anywhere? }";
    const { answer, compat = "strict", anywhere } = checkedReference(referenceSchema, raw, "math", shape);
    const gold = readGold(answer, compat);
    return anywhere ? { compat, gold, text: answer } : { compat, gold };
  },

  verify: (completion: Completion, { compat, gold, text }) =>
    text === undefined ? judge(completion.text, gold, compat) : judgePair(text, completion.text),
};

/** Throws HONE_ERR_DATA on a gold answer that is empty or too long. */
function readGold(answer: string, compat: Compat): Reading {
  if (answer.length > MAX_GOLD_CHARS) {
    throw new HoneError(
      "HONE_ERR_DATA",
      `math: gold answer of ${answer.length} characters, over ${MAX_GOLD_CHARS}`,
    );
  }
  const boxed = answer.includes("\\boxed{")
    ? answer.slice(answer.lastIndexOf("\\boxed{"))
    : `\\boxed{${answer}}`;
  const gold = read(boxed, compat);
  if (gold === undefined) {
    throw new HoneError(
      "HONE_ERR_DATA",
      `math: nothing to compare with in gold answer ${JSON.stringify(answer)}`,
    );
  }
  return gold;
}

function read(tail: string, compat: Compat, gold?: Reading): Reading | undefined {
  if (compat === "reference") return scavenge(tail);
  const content = boxContent(tail);
  if (content === undefined || !content.closed || content.text === "") return undefined;
  const reading = readStrictly(content.text, gold);
  return reading.text === "" ? undefined : reading;
}

/** The verdict on a text, for verifiers that have mathematics as a part. */
export function judge(completion: string, gold: Reading, compat: Compat): ScoredVerdict {
  const thought = compat === "strict" ? completion.lastIndexOf(END_OF_THINKING) : -1;
  const tail = lastBox(thought < 0 ? completion : completion.slice(thought));
  if (tail.status === "no_answer") return noAnswer(tail.reason);
  if (tail.status !== "found") return unparsable(tail.reason);
  const answer = read(tail.text, compat, gold);
  return answer === undefined ? unparsable("no expression in \\boxed{}") : compared(gold, answer, compat);
}

/**
 * Whether two texts state the same answer, boxed or not, by the reference's own extraction: formulas in dollar
 * signs, "the answer is ...", boxes, bare numbers. Undefined when one of them states none. For judging pairs of
 * answers; completions are judged by their last box alone.
 */
export function sameAnswer(gold: string, answer: string): boolean | undefined {
  const [g, a] = [stated(gold), stated(answer)];
  return g && a && compared(g, a, "reference").status === "correct";
}

function stated(text: string): Reading | undefined {
  try {
    return scavenge(text.slice(-MAX_GOLD_CHARS));
  } catch (error) {
    if (error instanceof BudgetExceeded) return undefined;
    throw error;
  }
}

function judgePair(gold: string, answer: string): ScoredVerdict {
  const same = sameAnswer(gold, answer);
  if (same === undefined) return unparsable("states no answer");
  return same ? correct("equal") : wrong("not equal");
}

function compared(gold: Reading, answer: Reading, compat: Compat): ScoredVerdict {
  if (answer.text !== "" && answer.text.trim() === gold.text.trim()) return correct("same text");
  const time = compat === "strict" ? sameTime(gold.clock, answer.clock) : undefined;
  if (time !== undefined) return time ? correct("same time") : wrong("another time");
  if (answer.value === undefined) return wrong(answer.parsed ? "undefined value" : "not an expression");
  if (gold.value === undefined) return wrong("different text");
  try {
    const budget = new Budget();
    if (compat === "strict") {
      const exploit = evasion(gold.value, answer, budget);
      if (exploit !== undefined) return wrong(exploit);
    }
    const equal = matches(gold.value, answer.value, { budget, strict: compat === "strict" });
    return equal ? correct("equal") : wrong("not equal");
  } catch (error) {
    if (error instanceof BudgetExceeded) return wrong("too costly to compare");
    throw error;
  }
}

/** Ways to state an answer without committing to it; the reason, or undefined for an honest one. */
function evasion(gold: Value, answer: Reading, budget: Budget): string | undefined {
  if (!mentions(gold, isUnevaluated) && mentions(answer.value!, isUnevaluated))
    return "unevaluated expression";
  if (answer.approximations.some(([exact, near]) => contradicts(exact, near, budget)))
    return "approximation is off";
  const chain = answer.value!;
  if (chain.kind !== "relation" || !chain.links.every((link) => link.operator === "=")) return undefined;
  const sides = chain.links.map((link) => link.right).filter((side) => isExpr(side) && isConstant(side));
  const last = sides.at(-1);
  const how = { budget, strict: true };
  return sides.some((side) => side !== last && !matches(side, last!, how))
    ? "equates different values"
    : undefined;
}

const isConstant = (e: Expr): boolean => [...freeSymbols(e)].every(isUnitName);

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

/** "5 \approx 7": both sides are numbers and differ by more than one part in a hundred. */
function contradicts(exact: Expr, near: Expr, budget: Budget): boolean {
  if (!isConstant(exact) || !isConstant(near)) return false;
  const [x, y] = [approximate(withoutUnit(exact), budget), approximate(withoutUnit(near), budget)];
  if (x === undefined || y === undefined) return true;
  const gap = q.subtract(x, y);
  return q.compare(q.multiply(gap, gap), q.multiply(q.multiply(x, x), { n: 1n, d: 10_000n })) > 0;
}
