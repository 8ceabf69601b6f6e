/**
 * Every objective, and what goes with one, at the size of the quick start: each at its authors' settings, three seeds.
 *
 *   npx hone sweep recipes/sweeps/objectives.ts --parallel 2 --dir runs/objectives
 *   npx hone sweep recipes/sweeps/objectives.ts --seeds 1 --set training.steps=4     whether all of them run
 *
 * Four updates a batch: with one, and no lag, every ratio is 1, and objectives differ by what they average over alone.
 * Training is synchronous, so that the same seed gives the same numbers again. The cells of a seed begin with the same
 * warm start.
 */
import { defineSweep, overrideRecipe } from "hone-rl";
import quickstart from "../quickstart.ts";

const of = (kind: string, clipLow: number, clipHigh: number, ...rest: readonly string[]) => [
  `objective.kind=${kind}`,
  `objective.clipLow=${clipLow}`,
  `objective.clipHigh=${clipHigh}`,
  ...rest.map((assignment) => `objective.${assignment}`),
];
/** DAPO's "clip higher". */
const dapo = (...rest: readonly string[]) => of("dapo", 0.2, 0.28, ...rest);

export default defineSweep({
  name: "objectives",
  recipe: overrideRecipe(quickstart, [
    "name=objectives",
    "optimizer.lr=2.5e-4",
    "optimizer.schedule=constant",
    "training.schedule=sync",
    "training.steps=100",
    "training.updatesPerBatch=4",
    "checkpoint.keepLast=1",
    'sinks=["jsonl"]',
    'evaluation={"problemsPerDomain":64,"attempts":6,"settings":[{"temperature":1}]}',
  ]),
  seeds: 3,
  cells: {
    gspo: of("gspo", 3e-4, 4e-4),
    "gspo, wide": of("gspo", 3e-3, 4e-3),
    "gspo-token": of("gspo-token", 3e-4, 4e-4),
    grpo: of("grpo", 0.2, 0.2),
    dapo: dapo(),
    "dr-grpo": of("dr-grpo", 0.2, 0.2),
    "ppo-clip": of("ppo-clip", 0.2, 0.2),
    gmpo: of("gmpo", 0.4, 0.4),
    sapo: ["objective.kind=sapo"],
    cispo: of("cispo", 1, 4),
    "cispo, both sides": of("cispo", 0.2, 0.28),
    "reinforce-clamped": of("reinforce-clamped", 0.2, 4),
    reinforce: ["objective.kind=reinforce"],
    "dppo-tv": of("dapo", 1, 1e9, 'correction={"kind":"dppo-tv","high":0.15}'),
    "dppo-kl": of("dapo", 1, 1e9, 'correction={"kind":"dppo-kl","high":0.05}'),
    "dapo, high entropy": dapo('tokens={"kind":"high-entropy"}'),
    "dapo, clip-cov": dapo('tokens={"kind":"clip-cov"}'),
    "dapo, kl-cov": dapo('tokens={"kind":"kl-cov"}'),
    "dapo, entropy target": dapo('entropyControl={"target":0.2}'),
  },
});
