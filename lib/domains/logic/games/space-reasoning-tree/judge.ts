import { z } from "zod";
import { correct, wrong } from "../../../verifier.ts";
import { commaList, lastBox, plainBox } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "space_reasoning_tree";
const schema = z.object({ answer: z.string() });

/** Which nodes of a tree stand in a relation: the last box lists the stored ones, in any order, case as it is. */
export const spaceReasoningTree: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, data, compat) {
    const box = compat === "strict" ? plainBox(answer) : lastBox(answer);
    if (box === undefined) return wrong("no \\boxed{}");
    if (compat === "strict" && box === "") return wrong("empty \\boxed{}");
    const [given, gold] = [new Set(commaList(box)), new Set(commaList(data.answer))];
    const same = given.size === gold.size && [...given].every((node) => gold.has(node));
    return same ? correct("the nodes") : wrong("other nodes");
  },
};
