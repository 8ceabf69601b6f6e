import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { lastBox, plainBox } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "space_reasoning";
const schema = z.object({ answer: z.string() });
type Data = z.output<typeof schema>;

/** The object at a grid position: the last box names the stored object, in any case. */
export const spaceReasoning: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data) {
    const box = plainBox(answer);
    return box === "" ? wrong("empty \\boxed{}") : judgeContent(box, data);
  },
  judgeAsReference: (answer, data) => judgeContent(lastBox(answer), data),
};

function judgeContent(box: string | undefined, data: Data): ScoredVerdict {
  if (box === undefined) return wrong("no \\boxed{}");
  return box.toLowerCase() === data.answer.toLowerCase() ? correct("the object") : wrong("another object");
}
