import type { ScoredVerdict } from "../../records.ts";
import { isWordless } from "../blank.ts";
import type { Call } from "../call.ts";
import { finalResponse } from "../final-response.ts";
import { looksMarked, readMarkedCalls } from "../tool-call-reader.ts";
import { type Completion, noAnswer, unparsable, wrong } from "../verifier.ts";
import { attemptIn, withoutEmptyBlocks } from "./attempts.ts";
import type { Entry, FunctionSchema } from "./entry.ts";
import { type Reading, type Rules, wantsNone } from "./judging.ts";
import { TYPED_COMPARISON } from "./value-check.ts";

/** Judges calls for training: reads any form after the thought, compares values exactly, and gives no partial credit. */
export const STRICT: Rules = {
  responseOf: finalResponse,
  isMarked: looksMarked,
  readMarked: (text, entry) =>
    readMarkedCalls(text, { isText: (name, argument) => isText(entry, name, argument) }),
  comparison: { ...TYPED_COMPARISON, form: (text) => text },
  needsRequired: false,
  refusesPositional: true,
  creditFor: () => 0,

  decide(entry, reading, completion) {
    const { dialect, calls } = reading;
    const isWhole = dialect !== "python" && calls.kind === "calls" && calls.ended;
    if (isCutOff(completion) && !isWhole) return noAnswer("response not finished");
    return entry.expected === undefined ? evasion(entry, reading) : undefined;
  },
};

/** A truncated list of calls can look like a complete, shorter one; one with an end mark cannot. */
const isCutOff = ({ finish }: Completion): boolean => finish === "length" || finish === "abort";

/** True if the schema's type of an argument is string: between tags, strings need no quotes. */
function isText(entry: Entry, name: string, argument: string): boolean {
  const type = entry.functions.find((schema) => isNamed(schema, name))?.parameters.get(argument)?.type;
  return entry.language !== "python" || type === "string" || type === "any";
}

/**
 * Rejects responses to relevance entries that would count as right but are useless; undefined for any other.
 */
function evasion(entry: Entry, { text, calls }: Reading): ScoredVerdict | undefined {
  if (wantsNone(entry)) return refusal(entry, text, calls);
  if (calls.kind === "malformed" && looksMarked(text)) return unparsable(calls.reason);
  const made = calls.kind === "calls" ? calls.calls : [];
  return made.some((call) => !isOffered(entry, call)) ? wrong("calls no function there is") : undefined;
}

/**
 * Judges a response to an entry that requires no call: it must contain a word or the empty list of a form, and
 * nothing that begins a call in any form, finished or not.
 */
function refusal(entry: Entry, text: string, calls: Reading["calls"]): ScoredVerdict | undefined {
  if (calls.kind === "calls") return undefined;
  if (calls.kind === "malformed" && looksMarked(text)) return unparsable(calls.reason);
  const { rest, isStated } = withoutEmptyBlocks(text);
  const attempt = attemptIn(rest, entry);
  if (attempt !== undefined) return wrong(attempt);
  return isStated || !isWordless(rest) ? undefined : noAnswer("a response without a word");
}

const isNamed = (schema: FunctionSchema, name: string | undefined): boolean =>
  schema.name === name || schema.name.replaceAll(".", "_") === name;

const isOffered = ({ functions }: Entry, { name }: Call): boolean =>
  functions.some((schema) => isNamed(schema, name));
