import { z } from "zod";
import { correct, wrong } from "../../../verifier.ts";
import { readInteger } from "../../judging/boxed-integer.ts";
import { lastFlatBox, plainBox } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "word_sorting_mistake";
const NO_MISTAKE = "No";

/** The number of the first mistaken thought, or null. */
const schema = z.object({ answer: z.union([z.int(), z.string(), z.null()]) });

/** Where a sorting went wrong first: the last box holds the thought's number, or "No" in any case. */
export const wordSortingMistake: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data, compat) {
    const box = compat === "strict" ? plainBox(answer) : lastFlatBox(answer);
    if (box === undefined) return wrong("no closed \\boxed{}");
    const gold = data.answer ?? NO_MISTAKE;
    const same = /^\d+$/.test(box)
      ? readInteger(box) === readInteger(`${gold}`)
      : typeof gold === "string" && box !== "" && box.toLowerCase() === gold.toLowerCase();
    return same ? correct("the first mistake") : wrong("another thought");
  },
};
