import { z } from "zod";
import { correct, wrong } from "../../../verifier.ts";
import { lastBox, plainBox } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "space_reasoning";
const schema = z.object({ answer: z.string() });

/** What stands at a place on a grid: the last box names the stored object, in any case. */
export const spaceReasoning: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data, compat) {
    const box = compat === "strict" ? plainBox(answer) : lastBox(answer);
    if (box === undefined) return wrong("no \\boxed{}");
    if (compat === "strict" && box === "") return wrong("empty \\boxed{}");
    return box.toLowerCase() === data.answer.toLowerCase() ? correct("the object") : wrong("another object");
  },
};
