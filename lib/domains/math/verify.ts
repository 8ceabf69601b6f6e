import { z } from "zod";
import { checkedReference } from "../checked.ts";
import { compatField, type JudgedTwoWays } from "../compat.ts";
import type { Verifier } from "../verifier.ts";
import { FACTS } from "./facts.ts";
import { judgeBox, type Rules, readGold } from "./judging.ts";
import type { Reading } from "./reading.ts";
import { judgePair, REFERENCE } from "./reference.ts";
import { STRICT } from "./strict.ts";

const RULES: JudgedTwoWays<Rules> = { reference: REFERENCE, strict: STRICT };

const referenceSchema = z.object({
  answer: z.string(),
  compat: compatField,
  anywhere: z.boolean().optional(),
});

export interface MathReference {
  readonly rules: Rules;
  readonly gold: Reading;
  /** The gold answer as it was given, where the completion may state its answer anywhere. */
  readonly text?: string;
}

/**
 * Free-form mathematics: the last `\boxed{}` of the completion must equal the gold answer as a number, expression,
 * relation, set, tuple, interval or matrix. Only that box is read; units, fonts and spacing do not count.
 * The reference is { answer, compat?, anywhere? }: the gold answer in LaTeX, with or without its own box; strict
 * unless said; `anywhere` takes an answer outside a box too, as the reference's own suite does (see sameAnswer).
 * Strict reads only what follows the last `</think>`; text around the box and a cut-off end do not matter.
 * Every verdict is bounded: at most 1,000 characters are parsed and a fixed budget of work is spent.
 * Source: Math-Verify 0.8 as PipelineRL calls it for the Open-Reasoner-Zero rows; strict mode closes its exploits.
 */
export const math: Verifier<MathReference> = {
  ...FACTS.math,

  parseReference(raw) {
    const shape = "{ answer: string, compat?, anywhere? }";
    const { answer, compat, anywhere } = checkedReference(referenceSchema, raw, "math", shape);
    const rules = RULES[compat];
    const gold = readGold(answer, rules);
    return anywhere ? { rules, gold, text: answer } : { rules, gold };
  },

  verify: (completion, { rules, gold, text }) =>
    text === undefined ? judgeBox(completion.text, gold, rules) : judgePair(text, completion.text),
};
