import { createHash } from "node:crypto";
import { finalResponse } from "../domains/final-response.ts";
import { boxedAnswer } from "../suites/final-answers.ts";

const OPEN = "<think>";
const CLOSE = "</think>";

/** A completion split into its thought, absent if nothing marks one, and the response after it. */
export interface ReadCompletion {
  readonly thought: string | undefined;
  readonly response: string;
  /** A thought was opened and never closed: all of it is thought. */
  readonly unclosed: boolean;
}

/** The thought ends where verifiers begin to read: after the last `</think>`. */
export function readCompletion(text: string): ReadCompletion {
  const open = text.indexOf(OPEN);
  const close = text.lastIndexOf(CLOSE);
  if (open < 0 && close < 0) return { thought: undefined, response: text, unclosed: false };
  const start = open >= 0 && (open < close || close < 0) ? open + OPEN.length : 0;
  if (text.lastIndexOf(OPEN) > close) return { thought: text.slice(start), response: "", unclosed: true };
  return { thought: text.slice(start, close), response: text.slice(close + CLOSE.length), unclosed: false };
}

/**
 * A completion's answer, for comparison with others: the last box after the thought, otherwise the response with
 * normalised white space. Undefined if there is none.
 */
export function comparableAnswer(text: string): string | undefined {
  const boxed = boxedAnswer(text);
  if (boxed !== undefined && boxed !== "") return boxed;
  const response = finalResponse(text).replace(/\s+/g, " ").trim();
  return response === "" ? undefined : response;
}

/** Two 32-bit hash words, not both 0, that identify equal texts. */
export function wordsOf(text: string): readonly [number, number] {
  const hash = createHash("sha256").update(text).digest();
  return [hash.readUInt32LE(0), hash.readUInt32LE(4) || 1];
}
