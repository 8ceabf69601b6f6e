import { z } from "zod";
import { loadGrammar } from "../../python/syntax.ts";
import type { ScoredVerdict } from "../../records.ts";
import { checkedReference } from "../checked.ts";
import { finalResponse } from "../final-response.ts";
import { type Completion, correct, noAnswer, unparsable, type Verifier, wrong } from "../verifier.ts";
import type { Compat } from "../verify-case.ts";
import type { Call, Calls } from "./call.ts";
import { check, type Naming } from "./checker.ts";
import { type Entry, readEntry, Unjudgeable } from "./entry.ts";
import { readPythonCalls } from "./python-calls.ts";
import { readSourceCalls } from "./source-calls.ts";
import { hasToolCalls, readToolCalls } from "./tool-calls.ts";

const DIALECTS = ["tool_calls", "python"] as const;
export type Dialect = (typeof DIALECTS)[number];

const referenceSchema = z.object({
  entry: z.union([z.string(), z.record(z.string(), z.unknown())]),
  dialect: z.enum(DIALECTS).optional(),
  compat: z.enum(["reference", "strict"]).optional(),
});

export interface FunctionCallingReference {
  readonly entry: Entry;
  readonly compat: Compat;
  /** Undefined: told from the response, by its tags. */
  readonly dialect: Dialect | undefined;
}

/**
 * Function calls: the calls of the response must be those expected, or, for the relevance categories, there must be
 * one or none. Two ways to write them: JSON in `<tool_calls>` or `<tool_call>` (names with "_" for "."), or nothing but
 * `[f(a=1), g.h(b=2)]` (for Java and JavaScript functions one call, its values in their syntax).
 * The reference is { entry, dialect?, compat? }: a row of a category file, better as its JSON text than parsed, since
 * parsing loses the difference of 1 and 1.0; strict unless said. Strict reads what follows the last `</think>`, gives
 * no credit for some of several calls, and closes the reference's leniencies (docs/verify.md).
 * Source: BFCL v4, single-turn; statuses and partial credit as PipelineRL gives them.
 */
export const functionCalling: Verifier<FunctionCallingReference> = {
  name: "function-calling",
  version: 3,

  prepare: async () => void loadGrammar(),

  parseReference(raw) {
    const shape = "{ entry, dialect?, compat? }";
    const fields = checkedReference(referenceSchema, raw, "function-calling", shape);
    const { entry, dialect, compat = "strict" } = fields;
    return { entry: readEntry(entry), compat, dialect };
  },

  verify(completion, { entry, compat, dialect }) {
    const text = compat === "strict" ? finalResponse(completion.text) : completion.text;
    const used = dialect ?? (hasToolCalls(text, compat) ? "tool_calls" : "python");
    const readSource = entry.language === "python" ? readPythonCalls : readSourceCalls;
    const calls = used === "python" ? readSource(text) : readToolCalls(text, compat);
    if (compat === "strict" && isCutOff(completion) && (used === "python" || calls.kind !== "calls"))
      return noAnswer("response not finished");
    if (entry.expected === undefined) return judgeRelevance(entry, calls, text, compat);
    if (calls.kind === "none") return noAnswer(calls.reason);
    if (calls.kind === "malformed")
      return dialect === undefined && used === "python" ? noAnswer(calls.reason) : unparsable(calls.reason);
    return judge(entry, calls.calls, used === "python" ? "dotted" : "underscored", compat);
  },
};

function judge(entry: Entry, calls: readonly Call[], naming: Naming, compat: Compat): ScoredVerdict {
  try {
    const { fault, matched } = check(entry, calls, naming, compat);
    if (fault === undefined) return correct("valid");
    const score = compat === "reference" ? Math.min(matched, 1 - Number.EPSILON) : 0;
    return score > 0 ? { status: "wrong", score, reason: fault } : wrong(fault);
  } catch (error) {
    if (error instanceof Unjudgeable) return unparsable(error.message.slice(0, 150));
    throw error;
  }
}

/** A list of calls that was cut off can look like a shorter one; a closed block of tags cannot. */
const isCutOff = ({ finish }: Completion): boolean => finish === "length" || finish === "abort";

function judgeRelevance(entry: Entry, calls: Calls, text: string, compat: Compat): ScoredVerdict {
  const made = calls.kind === "calls" ? calls.calls : [];
  const wantsNone = entry.category.includes("irrelevance");
  if (compat === "strict") {
    if (calls.kind === "malformed" && hasToolCalls(text, compat)) return unparsable(calls.reason);
    if (wantsNone && text.trim() === "") return noAnswer("empty response");
    if (!wantsNone && made.some((call) => !isOffered(entry, call)))
      return wrong("calls no function there is");
  }
  if (wantsNone) return made.length === 0 ? correct("no call") : wrong("a call where none helps");
  return made.length > 0 ? correct("a call") : noAnswer("no call");
}

const isOffered = ({ functions }: Entry, { name }: Call): boolean =>
  functions.some((schema) => schema.name === name || schema.name.replaceAll(".", "_") === name);
