import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { commaList, lastBox, plainBox } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "space_reasoning_tree";
const schema = z.object({ answer: z.string() });
type Data = z.output<typeof schema>;

/** The nodes of a tree that are in a relation: the last box lists the stored ones, in any order, case-sensitive. */
export const spaceReasoningTree: Game<Data> = {
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
  const [given, gold] = [new Set(commaList(box)), new Set(commaList(data.answer))];
  const same = given.size === gold.size && [...given].every((node) => gold.has(node));
  return same ? correct("the nodes") : wrong("other nodes");
}
