import { z } from "zod";
import { correct, wrong } from "../../../verifier.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "dyck_language_reasoning_errors";
const schema = z.object({ metadata: z.object({ error_indices: z.array(z.int()) }) });

/** What the question asks for where there is no mistake, and what people write instead. */
const NONE = /^(?:""|''|none|no|no (?:errors?|mistakes?)|all correct|无问题|无错误)[.。]?$/i;

/**
 * Which steps are wrong: the answer names exactly the stored ones, in any order. Reference keeps the digits and
 * commas of the answer, so "3 and 16" is 316, and takes any text without them for "no mistake". Strict reads the
 * integers as they stand, and "no mistake" only where it is said.
 */
export const dyckLanguageReasoningErrors: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, { metadata }, compat) {
    const strict = compat === "strict";
    if (!strict && /不确定|不知道|unclear/i.test(answer)) return wrong("says that it is unclear");
    const kept = strict ? answer : answer.replaceAll("，", ",").replace(/[^0-9,]/g, "");
    const given = new Set((kept.match(/\d+/g) ?? []).map(Number));
    const gold = new Set(metadata.error_indices);
    if (strict && gold.size === 0) return NONE.test(answer) ? correct("no mistake") : wrong("sees mistakes");
    const same = given.size === gold.size && [...given].every((index) => gold.has(index));
    return same ? correct("the mistakes") : wrong("other steps");
  },
};
