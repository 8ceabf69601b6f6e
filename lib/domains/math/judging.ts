import { HoneError } from "../../errors.ts";
import type { ScoredVerdict } from "../../records.ts";
import { correct, noAnswer, unparsable, wrong } from "../verifier.ts";
import { lastStated, type Marker } from "./answer-line.ts";
import type { Tail } from "./boxed.ts";
import { Budget } from "./budget.ts";
import { matches } from "./compare.ts";
import { BudgetExceeded } from "./rational.ts";
import type { Reading } from "./reading.ts";
import type { Value } from "./syntax.ts";

/** A longer gold answer is a solution or code, not an answer, and no grammar reads it. */
export const MAX_GOLD_CHARS = 4000;

/** Rules in which strict and reference judging differ. */
export interface Rules {
  /** True if `matches` compares strictly. */
  readonly strict: boolean;
  /** The part of a completion whose last box counts. */
  responseOf(completion: string): string;
  /** Reads a text that begins with a box; undefined if it states nothing. @param gold for hints on how to read it */
  read(tail: string, gold?: Reading): Reading | undefined;
  /** The verdict on two readings in cases that do not depend on their values. */
  decide?(gold: Reading, answer: Reading): ScoredVerdict | undefined;
  /** Pairs of readings that are equivalent to the given gold and answer; the answer is right if any pair is equal. */
  essences?(gold: Reading, answer: Reading): readonly (readonly [Reading, Reading])[];
  /** The last box of a response, together with the other parts of the same answer. */
  boxOf?(response: string): Tail;
  /** Reason to refuse an answer even if it is equal; undefined for an honest one. */
  evasion?(gold: Value, answer: Reading, budget: Budget): string | undefined;
}

/** Throws HONE_ERR_DATA on a gold answer that is empty or too long. */
export function readGold(answer: string, rules: Rules): Reading {
  if (answer.length > MAX_GOLD_CHARS) {
    throw new HoneError(
      "HONE_ERR_DATA",
      `math: gold answer of ${answer.length} characters, over ${MAX_GOLD_CHARS}`,
    );
  }
  const boxed = answer.includes("\\boxed{")
    ? answer.slice(answer.lastIndexOf("\\boxed{"))
    : `\\boxed{${answer}}`;
  const gold = rules.read(boxed);
  if (gold === undefined) {
    throw new HoneError(
      "HONE_ERR_DATA",
      `math: nothing to compare with in gold answer ${JSON.stringify(answer)}`,
    );
  }
  return gold;
}

/** The verdict on the last box of a completion. @param after a marker that may replace the box */
export function judgeBox(completion: string, gold: Reading, rules: Rules, after?: Marker): ScoredVerdict {
  const tail = lastStated(rules.responseOf(completion), after, rules.boxOf);
  if (tail.status === "no_answer") return noAnswer(tail.reason);
  if (tail.status !== "found") return unparsable(tail.reason);
  const answer = rules.read(tail.text, gold);
  return answer === undefined ? unparsable("no expression in \\boxed{}") : compared(gold, answer, rules);
}

/** The verdict on an answer that was read. */
export function compared(gold: Reading, answer: Reading, rules: Rules): ScoredVerdict {
  const verdict = comparedAsRead(gold, answer, rules);
  if (verdict.status === "correct" || rules.essences === undefined) return verdict;
  const others = rules.essences(gold, answer).map(([g, a]) => comparedAsRead(g, a, rules));
  return others.find(({ status }) => status === "correct") ?? verdict;
}

function comparedAsRead(gold: Reading, answer: Reading, rules: Rules): ScoredVerdict {
  if (answer.text !== "" && answer.text.trim() === gold.text.trim()) return correct("same text");
  const decided = rules.decide?.(gold, answer);
  if (decided !== undefined) return decided;
  if (answer.value === undefined) return wrong(answer.parsed ? "undefined value" : "not an expression");
  if (gold.value === undefined) return wrong("different text");
  try {
    const budget = new Budget();
    const exploit = rules.evasion?.(gold.value, answer, budget);
    if (exploit !== undefined) return wrong(exploit);
    const equal = matches(gold.value, answer.value, { budget, strict: rules.strict });
    return equal ? correct("equal") : wrong("not equal");
  } catch (error) {
    if (error instanceof BudgetExceeded) return wrong("too costly to compare");
    throw error;
  }
}
