import { z } from "zod";
import { wrong } from "../../../verifier.ts";
import { judgeInteger, readInteger } from "../../judging/boxed-integer.ts";
import { lastFlatBox, plainBox } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "object_counting";
const schema = z.object({ answer: z.coerce.string() });

/**
 * How many objects there are: the last box holds the stored integer. Reference reads a box up to its first brace
 * and, where it is never closed, the whole completion, which can be the number only in theory.
 */
export const objectCounting: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data, compat) {
    const box = compat === "strict" ? plainBox(answer) : lastFlatBox(answer);
    return box === undefined ? wrong("no closed \\boxed{}") : judgeInteger(box, readInteger(data.answer));
  },
};
