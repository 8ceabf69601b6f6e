import { type PythonCall, readCalls } from "../../python/call.ts";
import type { Call, Calls } from "../call.ts";

/**
 * The calls of a response that is nothing but calls in Python syntax, `[f(a=1), g.h(b=[2])]`: backticks and blanks
 * around it are dropped, missing brackets added, quotes around the whole ignored. `[]` is no call.
 * Source: BFCL v4, default decoding of prompted models (language Python).
 */
export function readPythonCalls(text: string): Calls {
  const trimmed = stripped(text, "`\n ");
  const opened = trimmed.startsWith("[") ? trimmed : `[${trimmed}`;
  const closed = opened.endsWith("]") ? opened : `${opened}]`;
  const calls = readCalls(closed) ?? readCalls(stripped(closed, "[]'"));
  if (calls === undefined) return { kind: "malformed", reason: "decoder_failed" };
  if (calls.length === 0) return { kind: "none", reason: "no calls" };
  return { kind: "calls", calls: calls.map(asCall), ended: false };
}

const asCall = ({ name, keywords, positional }: PythonCall): Call => ({
  name,
  arguments: keywords,
  positional,
});

/** Strips the given characters from both ends of a text. */
function stripped(text: string, characters: string): string {
  let [start, end] = [0, text.length];
  while (start < end && characters.includes(text[start]!)) start += 1;
  while (end > start && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}
