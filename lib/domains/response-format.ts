import type { ScoredVerdict } from "../records.ts";
import { type Completion, noAnswer, unparsable } from "./verifier.ts";

const END_OF_THINKING = "</think>";
const END_OF_RESPONSE = "<eos>";

/**
 * The answer of `<think>...</think>answer<eos>`: the trimmed text after the last `</think>`; or the verdict if there
 * is none. A truncated response has no answer.
 * @param maxChars longer answers are unparsable
 */
export function extractAnswer(
  completion: Completion,
  maxChars: number,
): { answer: string } | { verdict: ScoredVerdict } {
  const { text, finish } = completion;
  if (finish !== "eos" && finish !== "stop") return { verdict: noAnswer("response not finished") };
  const thoughtEnd = text.lastIndexOf(END_OF_THINKING);
  if (thoughtEnd < 0) return { verdict: noAnswer("no </think>") };
  const end = text.endsWith(END_OF_RESPONSE) ? text.length - END_OF_RESPONSE.length : text.length;
  const start = thoughtEnd + END_OF_THINKING.length;
  if (end - start > maxChars) return { verdict: unparsable(`answer longer than ${maxChars} characters`) };
  const answer = text.slice(start, end).trim();
  return answer === "" ? { verdict: noAnswer("empty answer") } : { answer };
}
