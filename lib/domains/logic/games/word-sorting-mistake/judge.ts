import { z } from "zod";
import { readInt } from "../../../../python/number.ts";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { lastFlatBox, plainBox } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "word_sorting_mistake";
const NO_MISTAKE = "No";

/** The number of the first mistaken thought, or null. */
const schema = z.object({ answer: z.union([z.int(), z.string(), z.null()]) });
type Data = z.output<typeof schema>;

/** The first wrong step of a sorting: the last box holds the number of the thought, or "No" in any case. */
export const wordSortingMistake: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeContent(plainBox(answer), data),
  judgeAsReference: (answer, data) => judgeContent(lastFlatBox(answer), data),
};

function judgeContent(box: string | undefined, data: Data): ScoredVerdict {
  if (box === undefined) return wrong("no closed \\boxed{}");
  const gold = data.answer ?? NO_MISTAKE;
  const same = /^\d+$/.test(box)
    ? readInt(box) === readInt(`${gold}`)
    : typeof gold === "string" && box !== "" && box.toLowerCase() === gold.toLowerCase();
  return same ? correct("the first mistake") : wrong("another thought");
}
