import { z } from "zod";
import { correct, wrong } from "../../../verifier.ts";
import { judgeInteger, readInteger } from "../../judging/boxed-integer.ts";
import { lastFlatBox, plainBox } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "object_properties";
const UNKNOWN = "unknown";
const schema = z.object({ answer: z.coerce.string() });

/**
 * How many objects have certain properties in the end: the last box holds the stored integer. Where the stored
 * answer is "unknown", strict accepts that word; reference accepts nothing.
 */
export const objectProperties: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data, compat) {
    const box = compat === "strict" ? plainBox(answer) : lastFlatBox(answer);
    if (box === undefined) return wrong("no closed \\boxed{}");
    if (compat === "strict" && data.answer === UNKNOWN && box.toLowerCase() === UNKNOWN)
      return correct("cannot be known");
    return judgeInteger(box, readInteger(data.answer));
  },
};
