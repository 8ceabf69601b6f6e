import type { ScoredVerdict } from "../../records.ts";
import { correct, unparsable, wrong } from "../verifier.ts";
import { compared, MAX_GOLD_CHARS, type Rules } from "./judging.ts";
import { BudgetExceeded } from "./rational.ts";
import type { Reading } from "./reading.ts";
import { scavenge } from "./scavenge.ts";

/**
 * Judges mathematics as the reference does: the last box of the whole completion, including the thought, with the
 * reference's own extraction.
 * Source: Math-Verify 0.8 as PipelineRL calls it for the Open-Reasoner-Zero rows.
 */
export const REFERENCE: Rules = { strict: false, responseOf: (completion) => completion, read: scavenge };

/**
 * True if two texts state the same answer, boxed or not, by the reference's own extraction: formulas in dollar signs,
 * "the answer is ...", boxes, bare numbers. Undefined if one of them states none. For pairs of answers; completions
 * are judged by their last box alone.
 */
export function sameAnswer(gold: string, answer: string): boolean | undefined {
  const [g, a] = [stated(gold), stated(answer)];
  return g && a && compared(g, a, REFERENCE).status === "correct";
}

function stated(text: string): Reading | undefined {
  try {
    return scavenge(text.slice(-MAX_GOLD_CHARS));
  } catch (error) {
    if (error instanceof BudgetExceeded) return undefined;
    throw error;
  }
}

/** The verdict on an answer anywhere in a text, as the reference's own test suite judges pairs. */
export function judgePair(gold: string, answer: string): ScoredVerdict {
  const same = sameAnswer(gold, answer);
  if (same === undefined) return unparsable("states no answer");
  return same ? correct("equal") : wrong("not equal");
}
