import type { TrainerFace } from "../../native/face.ts";
import type { FrozenScores, ScoreTokens } from "../pipeline/index.ts";
import type { Checkpoints, ReferenceWeights } from "../recovery/index.ts";
import { type RunResources, trainerOptions } from "../setup/index.ts";

/** Weights beside the policy's that score what it sampled and are never trained; each on a trainer of its own. */
export interface FrozenPolicies extends FrozenScores, AsyncDisposable {
  /** Steps after which the policy last became the reference. */
  readonly referenceStep: () => number | undefined;
}

/** Where the weights are kept that a reference was refreshed to. */
export interface Refreshes {
  readonly kept: ReferenceWeights;
  /** Steps after which it was last; undefined: it is what training started from. */
  readonly last: number | undefined;
  /** The earliest step that a run may go on from. */
  readonly oldest: () => number;
}

/** Opens and loads those that the recipe asks for. */
export async function openFrozenPolicies(
  resources: RunResources,
  checkpoints: Checkpoints,
  refreshes: Refreshes,
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
    const { klCoef, referenceEverySteps: every } = recipe.objective;
    let last = every > 0 ? refreshes.last : undefined;
    const own = klCoef === 0 ? undefined : resources.openTrainer();
    const reference =
      own &&
      (await loaded(own, async (trainer) => {
        await checkpoints.loadStart(trainer, resources);
        if (last !== undefined) await trainer.load(refreshes.kept.at(last));
      }));
    const stepped = async (steps: number) => {
      if (own === undefined || every === 0 || steps % every !== 0) return;
      await own.load(await refreshes.kept.save(resources.trainer, steps, refreshes.oldest()));
      last = steps;
    };
    const options = trainerOptions(recipe, arithmetic, true);
    const taught = teacher && (await loaded(core.trainer(teacher.config, options), teacher.fill));
    return {
      ...(reference && { reference }),
      ...(taught && { teacher: taught }),
      stepped,
      referenceStep: () => last,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
