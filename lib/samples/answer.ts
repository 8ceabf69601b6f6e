import { createHash } from "node:crypto";
import { finalResponse } from "../domains/final-response.ts";
import { boxedAnswer } from "../suites/final-answers.ts";

const OPEN = "<think>";
const CLOSE = "</think>";

/** A completion cut in two: what it thought, absent where nothing marks a thought, and what it says after that. */
export interface ReadCompletion {
  readonly thought: string | undefined;
  readonly response: string;
  /** A thought was opened and never closed: all of it is thought. */
  readonly unclosed: boolean;
}

/** The thought ends where verifiers begin to read: behind the last `</think>`. */
export function readCompletion(text: string): ReadCompletion {
  const open = text.indexOf(OPEN);
  const close = text.lastIndexOf(CLOSE);
  if (open < 0 && close < 0) return { thought: undefined, response: text, unclosed: false };
  const start = open >= 0 && (open < close || close < 0) ? open + OPEN.length : 0;
  if (text.lastIndexOf(OPEN) > close) return { thought: text.slice(start), response: "", unclosed: true };
  return { thought: text.slice(start, close), response: text.slice(close + CLOSE.length), unclosed: false };
}

/**
 * What a completion answers, for comparing answers with each other: the last box behind the thought, otherwise the
 * response without differences of space. Undefined where there is none.
 */
export function comparableAnswer(text: string): string | undefined {
  const boxed = boxedAnswer(text);
  if (boxed !== undefined && boxed !== "") return boxed;
  const response = finalResponse(text).replace(/\s+/g, " ").trim();
  return response === "" ? undefined : response;
}

/** Two 32-bit words, not both 0, that tell equal texts from different ones. */
export function wordsOf(text: string): readonly [number, number] {
  const hash = createHash("sha256").update(text).digest();
  return [hash.readUInt32LE(0), hash.readUInt32LE(4) || 1];
}
