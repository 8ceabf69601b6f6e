import { committedLetter } from "../domains/choice/strict.ts";
import { finalResponse } from "../domains/final-response.ts";
import { boxContent, lastBox } from "../domains/math/boxed.ts";
import { extractAnswer } from "../domains/response-format.ts";

// Normalizes a completion's answer to a few characters: equal answers vote together (maj@k), and a completion without
// one abstains.

const LONGEST = 1000;

/** Characters that only change the notation of an answer: space, sizes of brackets, dollars, thousands, kinds of fractions. */
const NOISE = /\s+|\\[,;:! ]|\\(?:left|right|displaystyle)(?![a-z])|\$|(?<=\d),(?=\d{3}(?!\d))/g;

/** The content of the last `\boxed{}` after the thought. */
export function boxedAnswer(completion: string): string | undefined {
  const tail = lastBox(finalResponse(completion));
  const box = tail.status === "found" ? boxContent(tail.text) : undefined;
  if (box === undefined || !box.closed || box.text === "") return undefined;
  const plain = box.text
    .replace(NOISE, "")
    .replace(/\\[dt]frac/g, "\\frac")
    .replace(/\.$/, "");
  return /^\d+$/.test(plain) ? plain.replace(/^0+(?=\d)/, "") : plain;
}

/** The letter that a response commits to. */
export const chosenLetter = (completion: string): string | undefined =>
  committedLetter(finalResponse(completion));

/** Answer after the thinking, for a generated problem. */
export function statedAnswer(completion: string): string | undefined {
  const found = extractAnswer({ text: completion, finish: "eos" }, LONGEST);
  return "answer" in found ? found.answer : undefined;
}
