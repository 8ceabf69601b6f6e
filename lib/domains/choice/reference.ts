import { SPACE } from "../../python/text.ts";
import type { Rules } from "./rules.ts";

/**
 * The letter as the benchmarks' own harnesses find it, thought included. Time linear in the response: no pattern
 * repeats a part that can match in more than one way.
 * Source: simple-evals (GPQA), MMLU-Pro's evaluation, without its random fallback.
 */
export const REFERENCE: Rules = {
  responseOf: (completion) => completion,
  isBlank: (response) => response.trim() === "",
  letterOf: (response, style) => (style === "gpqa" ? gpqaLetter(response) : mmluProLetter(response)),
};

/** The letter of the first "Answer: X", ignoring the case of "Answer". A small letter is returned unchanged and matches no answer. */
export function gpqaLetter(response: string): string | undefined {
  return /Answer[ \t]*:[ \t]*\$?([A-D])/i.exec(response)?.[1];
}

/**
 * Tries three patterns in order: the first "answer is (X)"; the last "answer: X" of the first line that has one; the
 * last letter that stands alone, even if it is the pronoun "I".
 */
export function mmluProLetter(response: string): string | undefined {
  return /answer is \(?([A-J])/.exec(response)?.[1] ?? labelledLetter(response) ?? loneLetter(response);
}

function labelledLetter(response: string): string | undefined {
  let found: RegExpExecArray | undefined;
  for (const match of response.matchAll(new RegExp(`[aA]nswer:[${SPACE}]*([A-J])`, "g"))) {
    if (found !== undefined && response.slice(found.index, match.index).includes("\n")) break;
    found = match;
  }
  return found?.[1];
}

function loneLetter(response: string): string | undefined {
  let last: string | undefined;
  for (const [letter] of response.matchAll(/(?<![\p{L}\p{N}_])[A-J](?![\p{L}\p{N}_])/gu)) last = letter;
  return last;
}
