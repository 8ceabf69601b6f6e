import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "dyck_language_reasoning_errors";
const schema = z.object({ metadata: z.object({ error_indices: z.array(z.int()) }) });

/** The requested answer if there is no mistake, and common variants of it. */
const NONE = /^(?:""|''|none|no|no (?:errors?|mistakes?)|all correct|无问题|无错误)[.。]?$/i;

/**
 * Names exactly the stored wrong steps, in any order. Reference concatenates the digits and commas of the answer, so
 * "3 and 16" is 316, and reads any text without them as "no mistake". Strict reads the integers separately, and "no
 * mistake" only if the answer says so.
 */
export const dyckLanguageReasoningErrors: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, { metadata: { error_indices: gold } }) {
    if (gold.length === 0) return NONE.test(answer) ? correct("no mistake") : wrong("sees mistakes");
    return judgeSteps(answer, gold);
  },

  judgeAsReference(answer, { metadata }) {
    if (/不确定|不知道|unclear/i.test(answer)) return wrong("says that it is unclear");
    return judgeSteps(answer.replaceAll("，", ",").replace(/[^0-9,]/g, ""), metadata.error_indices);
  },
};

function judgeSteps(text: string, indices: readonly number[]): ScoredVerdict {
  const given = new Set((text.match(/\d+/g) ?? []).map(Number));
  const gold = new Set(indices);
  const same = given.size === gold.size && [...given].every((index) => gold.has(index));
  return same ? correct("the mistakes") : wrong("other steps");
}
