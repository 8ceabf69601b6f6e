import type { ScoredVerdict } from "../../records.ts";
import { isWordless } from "../blank.ts";
import { finalResponse } from "../final-response.ts";
import { type Completion, noAnswer, unparsable, wrong } from "../verifier.ts";
import type { Call } from "./call.ts";
import type { Entry } from "./entry.ts";
import { type Reading, type Rules, wantsNone } from "./judging.ts";
import { hasToolCalls } from "./tool-calls.ts";

/** Calls as training judges them: read behind the thought, texts compared as they are, all or nothing. */
export const STRICT: Rules = {
  responseOf: finalResponse,
  takesSingleTags: true,
  passesOverUnreadable: false,
  textForm: (text) => text,
  needsRequired: false,
  refusesPositional: true,
  creditFor: () => 0,

  decide(entry, reading, completion) {
    const { dialect, calls } = reading;
    if (isCutOff(completion) && (dialect === "python" || calls.kind !== "calls"))
      return noAnswer("response not finished");
    return entry.expected === undefined ? evasion(entry, reading) : undefined;
  },
};

/** A list of calls that was cut off can look like a complete, shorter one; a closed block of tags cannot. */
const isCutOff = ({ finish }: Completion): boolean => finish === "length" || finish === "abort";

/** Ways to be right about relevance with a useless response. */
function evasion(entry: Entry, { text, calls }: Reading): ScoredVerdict | undefined {
  if (calls.kind === "malformed" && hasToolCalls(text, STRICT)) return unparsable(calls.reason);
  if (wantsNone(entry)) return isWordless(text) ? noAnswer("a response without a word") : undefined;
  const made = calls.kind === "calls" ? calls.calls : [];
  return made.some((call) => !isOffered(entry, call)) ? wrong("calls no function there is") : undefined;
}

const isOffered = ({ functions }: Entry, { name }: Call): boolean =>
  functions.some((schema) => schema.name === name || schema.name.replaceAll(".", "_") === name);
