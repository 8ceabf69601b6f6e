import { z } from "zod";
import { readInt } from "../../../../python/number.ts";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { judgeInteger } from "../../judging/boxed-integer.ts";
import { lastFlatBox, plainBox } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "object_properties";
const UNKNOWN = "unknown";
const schema = z.object({ answer: z.coerce.string() });
type Data = z.output<typeof schema>;

/**
 * The number of objects with certain properties at the end: the last box must hold the stored integer. If the stored
 * answer is "unknown", strict accepts that word; reference accepts nothing.
 */
export const objectProperties: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data) {
    const box = plainBox(answer);
    const isUnknown = data.answer === UNKNOWN && box?.toLowerCase() === UNKNOWN;
    return isUnknown ? correct("cannot be known") : judgeContent(box, data);
  },
  judgeAsReference: (answer, data) => judgeContent(lastFlatBox(answer), data),
};

function judgeContent(box: string | undefined, data: Data): ScoredVerdict {
  return box === undefined ? wrong("no closed \\boxed{}") : judgeInteger(box, readInt(data.answer));
}
