import { z } from "zod";
import { judgeBox } from "../../../math/judging.ts";
import { sameAnswer } from "../../../math/reference.ts";
import { STRICT } from "../../../math/strict.ts";
import { math } from "../../../math/verify.ts";
import { correct, wrong } from "../../../verifier.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "operation";

const schema = z.object({
  answer: z.string().transform((text) => ({ text, reference: math.parseReference({ answer: text }) })),
});

/**
 * The value of an expression with newly defined operators. Reference compares with whatever Math-Verify extracts from
 * the whole completion, boxed or not; strict is the mathematics verifier: the last box only.
 */
export const operation: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, { answer: gold }) => judgeBox(answer, gold.reference.golds[0], STRICT),
  judgeAsReference: (answer, { answer: gold }) =>
    sameAnswer(answer, gold.text) ? correct("equal") : wrong("not equal"),
};
