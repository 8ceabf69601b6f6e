import type { ScoredVerdict } from "../../records.ts";
import type { Call, Calls } from "../call.ts";
import { type Completion, correct, noAnswer, unparsable, wrong } from "../verifier.ts";
import { type CheckRules, check, type Naming } from "./checker.ts";
import { type Entry, Unjudgeable } from "./entry.ts";
import { readPythonCalls } from "./python-calls.ts";
import { readSourceCalls } from "./source-calls.ts";

/**
 * "tool_calls": JSON or other call markup of chat templates. "python": only calls in Python syntax, as BFCL
 * requests.
 */
export type Dialect = "tool_calls" | "python";

/** What a completion contains, before it is compared with the expected calls. */
export interface Reading {
  /** The part of the completion that was read. */
  readonly text: string;
  readonly dialect: Dialect;
  readonly calls: Calls;
}

/** Rules in which strict and reference judging differ. */
export interface Rules extends CheckRules {
  /** The part of a completion that is read. */
  responseOf(completion: string): string;
  /** True if a text uses call markup. */
  isMarked(text: string): boolean;
  /** The calls of a text in that dialect. */
  readMarked(text: string, entry: Entry): Calls;
  /** The verdict in cases where it does not depend on whether the calls match the expected ones. */
  decide?(entry: Entry, reading: Reading, completion: Completion): ScoredVerdict | undefined;
  /** The score, below 1, if a fraction `share` of the expected calls is right. */
  creditFor(matched: number): number;
}

/** The verdict on a completion. @param dialect undefined: determined from the response, by its marks. */
export function judgeCalls(
  completion: Completion,
  entry: Entry,
  dialect: Dialect | undefined,
  rules: Rules,
): ScoredVerdict {
  const text = rules.responseOf(completion.text);
  const used = dialect ?? (rules.isMarked(text) ? "tool_calls" : "python");
  const readSource = entry.language === "python" ? readPythonCalls : readSourceCalls;
  const calls = used === "python" ? readSource(text) : rules.readMarked(text, entry);
  const decided = rules.decide?.(entry, { text, dialect: used, calls }, completion);
  if (decided !== undefined) return decided;
  if (entry.expected === undefined) return judgeRelevance(entry, calls);
  if (calls.kind === "none") return noAnswer(calls.reason);
  if (calls.kind === "malformed")
    return dialect === undefined && used === "python" ? noAnswer(calls.reason) : unparsable(calls.reason);
  return compared(entry, calls.calls, used === "python" ? "dotted" : "underscored", rules);
}

function compared(entry: Entry, calls: readonly Call[], naming: Naming, rules: Rules): ScoredVerdict {
  try {
    const { fault, matched } = check(entry, calls, naming, rules);
    if (fault === undefined) return correct("valid");
    return { status: "wrong", score: rules.creditFor(matched), reason: fault };
  } catch (error) {
    if (error instanceof Unjudgeable) return unparsable(error.message.slice(0, 150));
    throw error;
  }
}

/** True for relevance entries that require no call. */
export const wantsNone = ({ category }: Entry): boolean => category.includes("irrelevance");

function judgeRelevance(entry: Entry, calls: Calls): ScoredVerdict {
  const isMade = calls.kind === "calls" && calls.calls.length > 0;
  if (wantsNone(entry)) return isMade ? wrong("a call where none helps") : correct("no call");
  return isMade ? correct("a call") : noAnswer("no call");
}
