import type { Recipe } from "../config/index.ts";
import { rewardPlans } from "../orchestration/index.ts";
import { type JudgeOptions, probeJudge } from "../rewards/index.ts";
import type { Stage } from "./cluster-check.ts";

/**
 * One stage for each LLM judge of a domain or validation set: sends it one small question.
 * @param asks false if only other machines can reach the judges; the stages then say that no judge was called
 */
export function judgeStages(recipe: Recipe, asks: boolean): Promise<Stage[]> {
  const judges = rewardPlans(recipe).flatMap(({ parts }) =>
    parts.flatMap(({ giver }) => (giver.by === "judge" ? [giver.judge] : [])),
  );
  const distinct = new Map(judges.map((judge) => [JSON.stringify(judge), judge]));
  return Promise.all([...distinct.values()].map((judge) => judgeStage(judge, asks)));
}

async function judgeStage(judge: JudgeOptions, asks: boolean): Promise<Stage> {
  const who = `${judge.model} at ${judge.url}`;
  if (!asks) return { name: "judge", ok: true, said: who, instead: "not asked (--no-judge)" };
  const probe = await probeJudge(judge);
  if ("fault" in probe) return { name: "judge", ok: false, said: `${who}: ${probe.fault}. ${probe.hint}` };
  const { score, milliseconds } = probe;
  const answered = `answered in ${Math.round(milliseconds)} ms`;
  const gave = `gave ${score.toFixed(2)} of 1 to a right answer`;
  return { name: "judge", ok: true, said: `${who} ${answered} and ${gave}` };
}
