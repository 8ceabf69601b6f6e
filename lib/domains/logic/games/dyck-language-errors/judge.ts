import { z } from "zod";
import { readInt } from "../../../../python/number.ts";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "dyck_language_errors";
const VALID = "-1";
const schema = z.object({
  metadata: z.object({ is_valid: z.boolean(), first_error_pos: z.int().nullish() }),
});
type Data = z.output<typeof schema>;

/**
 * The 1-based position where brackets stop matching, or -1. Reference accepts -1 anywhere in the answer, else the
 * first unsigned integer, else the word "valid" (even in "invalid") for -1. Strict requires one integer.
 */
export const dyckLanguageErrors: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data) {
    const [given, ...more] = integersIn(answer);
    return given === undefined || more.length > 0 ? wrong("not one integer") : judgePosition(given, data);
  },
  judgeAsReference: (answer, data) => judgePosition(found(answer, integersIn(answer)), data),
};

const integersIn = (answer: string): readonly string[] => answer.match(/-?\d+/g) ?? [];

function judgePosition(given: string, { metadata }: Data): ScoredVerdict {
  const gold = metadata.is_valid ? VALID : `${metadata.first_error_pos}`;
  const same = gold === VALID ? given === VALID : readInt(given) === readInt(gold);
  return same ? correct("the position") : wrong("another position");
}

function found(answer: string, integers: readonly string[]): string {
  if (integers.includes(VALID)) return VALID;
  const first = integers.find((digits) => !digits.startsWith("-")) ?? integers[0];
  return first ?? (/合法|valid|correct/i.test(answer) ? VALID : "");
}
