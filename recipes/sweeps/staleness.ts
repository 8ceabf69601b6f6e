/**
 * What older samples do at the size of the quick start: some objectives on policy, with a lag of up to four steps, and with
 * a replay buffer, which trains as much again from the same generated tokens. Three seeds.
 *
 *   npx hone sweep recipes/sweeps/staleness.ts --parallel 1 --dir runs/staleness
 *   npx hone sweep recipes/sweeps/staleness.ts --seeds 1 --set training.steps=4     whether all of them run
 *
 * Settings as in objectives.ts; runs with lag are asynchronous, and no two of them are the same.
 */
import { defineSweep } from "hone-rl";
import objectives from "./objectives.ts";

const LAG = ["training.schedule=async", "training.maxLag=4"];
const BUFFER = ['training.replayBuffer={"share":0.5,"maxAge":4}', "rollouts.record=last:44"];
const TIS = 'objective.correction={"kind":"tis","high":2}';
const { grpo, "gspo, wide": gspo } = objectives.cells as Record<string, string[]>;

export default defineSweep({
  name: "staleness",
  recipe: objectives.recipe,
  seeds: 3,
  cells: {
    grpo: grpo!,
    "grpo, lag": [...grpo!, ...LAG],
    "grpo, buffer": [...grpo!, ...BUFFER],
    "grpo, buffer, tis": [...grpo!, ...BUFFER, TIS],
    "gspo, wide": gspo!,
    "gspo, wide, lag": [...gspo!, ...LAG],
    "gspo, wide, buffer": [...gspo!, ...BUFFER],
  },
});
