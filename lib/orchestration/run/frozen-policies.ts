import type { TrainerFace } from "../../native/face.ts";
import type { FrozenScores, ScoreTokens } from "../pipeline/index.ts";
import type { Checkpoints } from "../recovery/index.ts";
import { type RunResources, trainerOptions } from "../setup/index.ts";

/** Weights beside the policy's that score what it sampled and are never trained; each on a trainer of its own. */
export interface FrozenPolicies extends FrozenScores, AsyncDisposable {}

/** Opens and loads those that the recipe asks for. */
export async function openFrozenPolicies(
  resources: RunResources,
  checkpoints: Checkpoints,
): Promise<FrozenPolicies> {
  const { core, recipe, teacher, arithmetic } = resources;
  const trainers: TrainerFace[] = [];
  const close = async () => void (await Promise.all(trainers.map((trainer) => trainer.close())));
  const loaded = async (trainer: TrainerFace, fill: (trainer: TrainerFace) => Promise<void>) => {
    trainers.push(trainer);
    await fill(trainer);
    const score: ScoreTokens = async (batch) =>
      (await trainer.score(batch, recipe.rollouts.temperature)).logprobs;
    return score;
  };
  try {
    const reference =
      recipe.objective.klCoef !== 0 &&
      (await loaded(resources.openTrainer(), (trainer) => checkpoints.loadStart(trainer, resources)));
    const options = trainerOptions(recipe, arithmetic, true);
    const taught = teacher && (await loaded(core.trainer(teacher.config, options), teacher.fill));
    return {
      ...(reference && { reference }),
      ...(taught && { teacher: taught }),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
