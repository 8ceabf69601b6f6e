import { logic } from "../../../lib/rewards/logic/logic.ts";
import type { Compat } from "../../../lib/rewards/verify-case.ts";

/** "status: reason" of an answer to a puzzle of one game; checks that the score fits the status. */
export function judgeAs(task: string) {
  return async (gameData: unknown, text: string, compat: Compat = "strict"): Promise<string> => {
    const reference = logic.parseReference({ task, game_data: gameData, compat });
    const { status, score, reason } = await logic.verify({ text, finish: "stop" }, reference);
    if (score !== (status === "correct" ? 1 : 0)) throw new Error(`${status} scores ${score}`);
    return `${status}: ${reason}`;
  };
}
