import { readInt } from "../../../python/number.ts";
import type { ScoredVerdict } from "../../../records.ts";
import { correct, wrong } from "../../verifier.ts";

export function judgeInteger(text: string, gold: bigint | undefined): ScoredVerdict {
  const given = readInt(text);
  if (given === undefined) return wrong("not an integer");
  return given === gold ? correct("the right count") : wrong("another count");
}
