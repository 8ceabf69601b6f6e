import { trim } from "../../python/text.ts";
import type { ScoredVerdict } from "../../records.ts";
import { fraction, noAnswer, unparsable } from "../verifier.ts";
import type { Check, Constraint } from "./constraint.ts";
import { ResponseText } from "./text/response-text.ts";

const MAX_RESPONSE_CHARS = 1 << 18;
const MAX_REASON_CHARS = 190;

/**
 * `train` and `strict` judge the response unchanged; `loose` accepts a constraint if any of eight trimmed variants
 * follows it. In these three modes a blank response follows no constraint; `constraint` returns the constraints' own
 * results, for blank responses too.
 */
export type Mode = "train" | "strict" | "loose" | "constraint";

/** Rules in which strict and reference judging differ. */
export interface Rules {
  /** The part of a completion that is judged. */
  responseOf(completion: string, mode: Mode): string;
  /** True if a response is blank and therefore no answer. */
  isEmpty(response: string, mode: Mode): boolean;
  /** The check of a constraint. Throws as the constraint does. */
  bind(kind: Constraint, args: Readonly<Record<string, unknown>>): Check;
}

export interface BoundConstraint {
  readonly id: string;
  readonly check: Check;
}

export interface InstructionReference {
  readonly constraints: readonly BoundConstraint[];
  readonly mode: Mode;
  readonly rules: Rules;
}

/** The verdict on a completion: the fraction of the constraints that it follows. */
export function judgeResponse(
  completion: string,
  { constraints, mode, rules }: InstructionReference,
): ScoredVerdict {
  const response = rules.responseOf(completion, mode);
  if (rules.isEmpty(response, mode)) return noAnswer("blank response");
  if (response.length > MAX_RESPONSE_CHARS)
    return unparsable(`response over ${MAX_RESPONSE_CHARS} characters`);
  const texts = (mode === "loose" ? variants(response, rules) : [response]).map(
    (each) => new ResponseText(each),
  );
  const followed = constraints.map(({ check }) => texts.some(check));
  return fraction(followed.filter((each) => each).length / followed.length, explain(constraints, followed));
}

/** "follows [1,0]: not keywords:existence": one digit a constraint, in the reference's order. */
function explain(constraints: readonly BoundConstraint[], followed: readonly boolean[]): string {
  const broken = constraints.filter((_, i) => !followed[i]).map(({ id }) => id);
  const digits = `follows [${followed.map(Number).join()}]`;
  return (broken.length === 0 ? digits : `${digits}: not ${broken.join(", ")}`).slice(0, MAX_REASON_CHARS);
}

/**
 * The response without its first line, its last line, or both; and each of these without asterisks. Blank variants
 * follow no constraint.
 */
function variants(response: string, rules: Rules): string[] {
  const lines = response.split("\n");
  const trimmed = [lines.slice(1), lines.slice(0, -1), lines.slice(1, -1)].map((kept) =>
    trim(kept.join("\n")),
  );
  const all = [response, ...trimmed];
  return [...new Set([...all, ...all.map((each) => each.replaceAll("*", ""))])].filter(
    (each) => !rules.isEmpty(each, "loose"),
  );
}
