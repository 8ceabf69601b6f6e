import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { commaList, lastFlatBox, plainBox } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "word_sorting";
const schema = z.object({ answer: z.string() });
type Data = z.output<typeof schema>;

/** Words in the order of a changed alphabet: the last box lists them as stored, order and case included. */
export const wordSorting: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data) {
    const box = plainBox(answer);
    return box === "" ? wrong("empty \\boxed{}") : judgeContent(box, data);
  },
  judgeAsReference: (answer, data) => judgeContent(lastFlatBox(answer), data),
};

function judgeContent(box: string | undefined, data: Data): ScoredVerdict {
  if (box === undefined) return wrong("no closed \\boxed{}");
  const [given, gold] = [commaList(box), commaList(data.answer)];
  return given.length === gold.length && given.every((word, i) => word === gold[i])
    ? correct("in order")
    : wrong("another order");
}
