import { z } from "zod";
import { math, sameAnswer } from "../../math/math.ts";
import { correct, wrong } from "../../verifier.ts";
import { type Game, gameData } from "../game.ts";

const TASK = "operation";
const schema = z.object({ answer: z.string() });

/**
 * The value of an expression with newly defined operators. Reference compares what Math-Verify would fish from the
 * whole completion, boxed or not; strict is the mathematics verifier: the last box, and nothing else.
 */
export const operation: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data, compat) {
    if (compat === "strict") {
      return math.verify(
        { text: answer, finish: "stop" },
        math.parseReference({ answer: data.answer }),
      ) as ReturnType<typeof wrong>;
    }
    return sameAnswer(answer, data.answer) ? correct("equal") : wrong("not equal");
  },
};
