import { z } from "zod";
import { correct, wrong } from "../../../verifier.ts";
import { commaList, lastFlatBox, plainBox } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "word_sorting";
const schema = z.object({ answer: z.string() });

/** Words in the order of a changed alphabet: the last box lists them as stored, order and case included. */
export const wordSorting: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data, compat) {
    const box = compat === "strict" ? plainBox(answer) : lastFlatBox(answer);
    if (box === undefined) return wrong("no closed \\boxed{}");
    if (compat === "strict" && box === "") return wrong("empty \\boxed{}");
    const [given, gold] = [commaList(box), commaList(data.answer)];
    return given.length === gold.length && given.every((word, i) => word === gold[i])
      ? correct("in order")
      : wrong("another order");
  },
};
