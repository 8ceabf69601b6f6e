import type { ProblemSource } from "../data/index.ts";
import { HoneError } from "../errors.ts";
import type { ChatMessage, FinishReason, Problem, Verdict } from "../records.ts";
import { finalResponse } from "./final-response.ts";
import { type RewardScale, scaledVerdict } from "./reward-scale.ts";
import type { Completion } from "./verifier.ts";

/** Input of a reward function. */
export interface RewardInput {
  /** The question, before any chat template. */
  readonly prompt: string;
  /** The whole response with its special tokens spelled out, thought included. */
  readonly completion: string;
  /** Text after the thought, trimmed; empty if the thought never ends. */
  readonly answer: string;
  /** Why the response ended; "length" if the token budget cut it. */
  readonly finish: FinishReason;
  /** The problem's reference, from its source. */
  readonly reference: unknown;
  /** Aborted at the time limit, and when the run ends without waiting. */
  readonly signal: AbortSignal;
}

/**
 * A finite number, a boolean (1 or 0), or a verdict. A number of 1 or more, or the recipe's `solvedAt`, means a right
 * answer. An exception makes the completion unscored.
 */
export type RewardFunction = (input: RewardInput) => Rewarded | Promise<Rewarded>;

/** Return type of a reward for one completion. */
export type Rewarded = number | boolean | Verdict;

/** Reference of a problem judged by a recipe's rewards: everything that they may read about it. */
export interface RewardedReference {
  readonly prompt: string;
  /** The question as a conversation, if the row has one. */
  readonly messages?: readonly ChatMessage[] | undefined;
  /** The row of the data set, if a reward receives its columns. */
  readonly columns?: Readonly<Record<string, unknown>> | undefined;
  /** The verifier that the problem names, which judges the part "verifier". */
  readonly verifier: string;
  readonly reference: unknown;
}

/**
 * Checks what rewardedProblem made, by hand: verifier processes start with this file, and a schema would load zod.
 * Throws HONE_ERR_DATA.
 */
export function rewardedReference(raw: unknown): RewardedReference {
  const { prompt, messages, columns, verifier, reference } = Object(raw) as Partial<RewardedReference>;
  const isWhole =
    typeof prompt === "string" &&
    typeof verifier === "string" &&
    (messages === undefined || Array.isArray(messages)) &&
    (columns === undefined || (typeof columns === "object" && columns !== null));
  if (isWhole)
    return { prompt, ...(messages && { messages }), ...(columns && { columns }), verifier, reference };
  throw new HoneError("HONE_ERR_DATA", "reward: the reference is not { prompt, verifier, reference }");
}

export function rewardInput(
  { text, finish }: Completion,
  { prompt, reference }: RewardedReference,
  signal: AbortSignal,
): RewardInput {
  return { prompt, completion: text, answer: finalResponse(text), finish, reference, signal };
}

/** Name of a domain's reward, or of one of several rewards, in the pool and in metrics. */
export const rewardName = (domain: string, part?: string): string =>
  part === undefined ? `reward:${domain}` : `part:${domain}:${part}`;

/** A problem as its recipe's reward judges it. */
export function rewardedProblem(
  { question, verifier, reference, columns, ...rest }: Problem,
  domain: string,
): Problem {
  const { messages } = rest;
  const row = { ...(messages && { messages }), ...(columns && { columns }) };
  const judged: RewardedReference = { prompt: question, ...row, verifier, reference };
  return { ...rest, question, verifier: rewardName(domain), reference: judged };
}

/**
 * The columns of a problem's row that its source keeps, also if a reward of the recipe judges the problem;
 * undefined if none.
 */
export const columnsOf = ({ domain, verifier, reference, columns }: Problem): Problem["columns"] =>
  verifier === rewardName(domain) ? rewardedReference(reference).columns : columns;

/** The source's problems, to be judged by the recipe's reward for the domain. */
export function rewardedBy(source: ProblemSource, domain: string): ProblemSource {
  return {
    domain: source.domain,
    families: source.families,
    problem: (index) => rewardedProblem(source.problem(index), domain),
    heldOut: (index) => rewardedProblem(source.heldOut(index), domain),
    ...(source.trainingCount !== undefined && { trainingCount: source.trainingCount }),
    ...(source.heldOutCount !== undefined && { heldOutCount: source.heldOutCount }),
    ...(source.heldOutKeys && { heldOutKeys: source.heldOutKeys }),
    ...(source.report && { report: source.report }),
    ...(source.placeOf && { placeOf: (id) => source.placeOf?.(id) }),
  };
}

const MOST_CHARS = 500;

/** Validates the result of a reward function, which is not compiled against our types; `scale` applies to its numbers. */
export function rewardVerdict(
  returned: unknown,
  check: (verdict: Verdict) => Verdict,
  scale?: RewardScale,
): Verdict {
  if (typeof returned === "number" || typeof returned === "boolean")
    return scaledVerdict(Number(returned), scale);
  if (typeof returned !== "object" || returned === null || !("status" in returned))
    return {
      status: "unscored",
      cause: `the reward returned ${shown(returned)}, neither a number, a boolean nor a verdict`,
    };
  return check(returned as Verdict);
}

function shown(value: unknown): string {
  try {
    const isJson = ["string", "object"].includes(typeof value);
    return ((isJson && JSON.stringify(value)) || String(value)).slice(0, MOST_CHARS);
  } catch {
    return `a ${typeof value}`;
  }
}
