import { z } from "zod";
import { correct, wrong } from "../../../verifier.ts";
import { readInteger } from "../../judging/boxed-integer.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "dyck_language_errors";
const VALID = "-1";
const schema = z.object({
  metadata: z.object({ is_valid: z.boolean(), first_error_pos: z.int().nullish() }),
});

/**
 * Where brackets stop matching: the answer is that position, from 1, or -1. Reference takes -1 wherever it stands,
 * else the first integer without a sign, else the word "valid" (of "invalid" too) for -1. Strict wants one integer.
 */
export const dyckLanguageErrors: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, { metadata }, compat) {
    const gold = metadata.is_valid ? VALID : `${metadata.first_error_pos}`;
    const integers = answer.match(/-?\d+/g) ?? [];
    if (compat === "strict" && integers.length !== 1) return wrong("not one integer");
    const given = compat === "strict" ? integers[0]! : found(answer, integers);
    const same = gold === VALID ? given === VALID : readInteger(given) === readInteger(gold);
    return same ? correct("the position") : wrong("another position");
  },
};

function found(answer: string, integers: readonly string[]): string {
  if (integers.includes(VALID)) return VALID;
  const first = integers.find((digits) => !digits.startsWith("-")) ?? integers[0];
  return first ?? (/合法|valid|correct/i.test(answer) ? VALID : "");
}
