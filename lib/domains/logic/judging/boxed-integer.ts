import type { ScoredVerdict } from "../../../records.ts";
import { correct, wrong } from "../../verifier.ts";

/** Longer runs of digits are no count of anything. Python itself stops at 4,300. */
const MAX_DIGITS = 4300;

/**
 * Python's `int(text)`: one sign, digits (of full width too), single underscores between them, blanks around.
 * Undefined for anything else, "5.0" and "1,000" included.
 */
export function readInteger(text: string): bigint | undefined {
  const digits = text.length > 2 * MAX_DIGITS ? "" : text.trim().normalize("NFKC");
  return /^[+-]?\d+(?:_\d+)*$/.test(digits) ? BigInt(digits.replace(/[+_]/g, "")) : undefined;
}

export function judgeInteger(text: string, gold: bigint | undefined): ScoredVerdict {
  const given = readInteger(text);
  if (given === undefined) return wrong("not an integer");
  return given === gold ? correct("the right count") : wrong("another count");
}
