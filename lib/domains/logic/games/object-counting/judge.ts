import { z } from "zod";
import { readInt } from "../../../../python/number.ts";
import type { ScoredVerdict } from "../../../../records.ts";
import { wrong } from "../../../verifier.ts";
import { judgeInteger } from "../../judging/boxed-integer.ts";
import { lastFlatBox, plainBox } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "object_counting";
const schema = z.object({ answer: z.coerce.string() });
type Data = z.output<typeof schema>;

/**
 * The number of objects: the last box must hold the stored integer. Reference reads a box up to its first brace and,
 * if it is never closed, the whole completion.
 */
export const objectCounting: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeContent(plainBox(answer), data),
  judgeAsReference: (answer, data) => judgeContent(lastFlatBox(answer), data),
};

function judgeContent(box: string | undefined, data: Data): ScoredVerdict {
  return box === undefined ? wrong("no closed \\boxed{}") : judgeInteger(box, readInt(data.answer));
}
