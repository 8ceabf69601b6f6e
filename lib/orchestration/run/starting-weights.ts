import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Recipe } from "../../config/index.ts";
import { holdsAdapters } from "../../inference/index.ts";
import type { TrainerFace } from "../../native/face.ts";
import {
  Checkpoints,
  expectSeed,
  expectStepsLeft,
  momentsOf,
  type RunState,
  recordedSteps,
} from "../recovery/index.ts";
import { rlOptimizer } from "../setup/index.ts";
import type { RunContext } from "./run-context.ts";
import { completes, warmStart } from "./warm-start.ts";

/** Options of a run that determine its initial weights. */
interface Beginning {
  readonly dir: string;
  readonly resume?: string;
  readonly startFrom?: string;
}

/** True if a run would begin with its recipe's warm start, and not from existing weights. */
export function willWarmUp(recipe: Recipe, { dir, resume = "never", startFrom }: Beginning): boolean {
  if (recipe.warmStart === undefined || startFrom !== undefined) return false;
  return resume === "never" || !existsSync(new Checkpoints(dir).warmStart);
}

/**
 * Restores the checkpoint from which a run resumes; returns undefined if the run starts at step 0. Warns if a
 * checkpoint is damaged, if it renamed checkpoints later than the restored one, and if the recipe has changed
 * (`changes`). Throws HONE_ERR_CHECKPOINT, and HONE_ERR_CONFIG if the seed differs.
 */
export async function restoreRun(
  { resources, checkpoints, publisher, options, progress }: RunContext,
  changes: readonly string[],
): Promise<RunState | undefined> {
  const { resume = "never" } = options;
  if (resume === "never") return undefined;
  const { trainer, recipe, model } = resources;
  const warn = (message: string) => publisher.warn(message);
  if (recipe.lora !== undefined && (resume !== "auto" || checkpoints.list().length > 0))
    await checkpoints.loadBase(trainer, model);
  const state =
    resume === "auto" ? await checkpoints.loadNewest(trainer, warn) : await checkpoints.load(trainer, resume);
  if (state === undefined) {
    const { steps } = recordedSteps(options.dir);
    if (steps > 0)
      warn(`the ${steps} steps in ${options.dir} had no checkpoint yet: the run begins again at step 1`);
    return undefined;
  }
  expectSeed(state, recipe);
  expectStepsLeft(state, recipe);
  const later = checkpoints.setAside(state.step);
  if (later.length > 0) warn(`renamed, because they are later than step ${state.step}: ${later.join(", ")}`);
  for (const change of changes) warn(`the recipe has changed: ${change}`);
  progress.step = state.step;
  progress.seconds.warmStart = state.warmStartSeconds;
  progress.seconds.training = state.trainingSeconds;
  progress.metrics = state.metrics;
  progress.before.generated = state.generatedTokens;
  progress.before.trained = Object.values(state.ledger).reduce((sum, d) => sum + d.trainedTokens, 0);
  return state;
}

/**
 * Prepares the initial weights: random ones, those of `startFrom`, or those of an earlier session's warm start; saves
 * them unless a model folder has them. Returns the duration of the warm start in seconds; 0 if there was none, or it
 * was interrupted.
 */
export async function prepareWeights(context: RunContext): Promise<number> {
  const { resources, checkpoints } = context;
  if (!beginsWhole(context)) return firstWeights(context, resources.trainer);
  const whole = resources.openTrainer(true);
  try {
    return await firstWeights(context, whole);
  } finally {
    await whole.close();
    if (existsSync(checkpoints.warmStart)) await checkpoints.loadBase(resources.trainer, resources.model);
  }
}

/** True if the adapters' base must first be created: for a new model, or one given as full weights. */
function beginsWhole({ resources, options }: RunContext): boolean {
  const { recipe, model } = resources;
  const { startFrom } = options;
  if (recipe.lora === undefined) return false;
  return model.origin === undefined || (startFrom !== undefined && !holdsAdapters(startFrom));
}

async function firstWeights(context: RunContext, trainer: TrainerFace): Promise<number> {
  const { resources, checkpoints, options, stop } = context;
  const { recipe, model } = resources;
  const kept = options.resume === "auto" && existsSync(checkpoints.warmStart);
  const given = options.startFrom ?? (kept ? checkpoints.warmStart : undefined);
  if (given === undefined || holdsAdapters(given)) await model.fill(trainer);
  if (given !== undefined) await loadWeights(trainer, given, recipe);
  const seconds = given === undefined ? await warmUp(context, trainer) : 0;
  await trainer.resetOptimizer(rlOptimizer(recipe));
  await trainer.setVersion(0);
  const inFolder = model.origin !== undefined && given === undefined && recipe.warmStart === undefined;
  if (!stop.signal.aborted && !kept && !inFolder) await checkpoints.saveStart(trainer);
  return seconds;
}

/**
 * Loads the weights of a checkpoint, or of a model folder of the same sizes. A checkpoint's moments may be of another
 * type; they are dropped with the optimizer that read them.
 */
async function loadWeights(trainer: TrainerFace, checkpoint: string, recipe: Recipe): Promise<void> {
  if (isModelFolder(checkpoint)) return trainer.loadHf(checkpoint);
  const moments = momentsOf(checkpoint);
  if (moments !== recipe.optimizer.moments) await trainer.resetOptimizer({ ...rlOptimizer(recipe), moments });
  await trainer.load(checkpoint);
}

const isModelFolder = (folder: string): boolean =>
  existsSync(join(folder, "config.json")) &&
  !existsSync(join(folder, "manifest.json")) &&
  !holdsAdapters(folder);

async function warmUp(
  { resources, clock, stop, publisher }: RunContext,
  trainer: TrainerFace,
): Promise<number> {
  const { recipe } = resources;
  const config = recipe.warmStart;
  if (config === undefined || config.steps === 0) return 0;
  const begun = clock.now();
  publisher.listeners.emit("phase", "warm start", config.steps);
  const onStep = (progress: { step: number; steps: number; loss: number }) =>
    publisher.listeners.emit("warmStart", progress);
  const { signal } = stop;
  const whole = await completes(warmStart(trainer, recipe, config, resources, { signal, onStep }), signal);
  return whole ? (clock.now() - begun) / 1000 : 0;
}
