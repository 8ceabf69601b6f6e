import { existsSync } from "node:fs";
import type { Clock } from "../../clock.ts";
import type { Recipe } from "../../config/index.ts";
import { Checkpoints } from "../recovery/index.ts";
import type { RunResources } from "../setup/index.ts";
import { rlOptimizer } from "../setup/index.ts";
import type { Announcer } from "./announcer.ts";
import type { RunOptions } from "./run-face.ts";
import { completes, warmStart } from "./warm-start.ts";

/** Options of a run that say where its weights come from. */
interface Beginning {
  readonly dir: string;
  readonly resume?: string;
  readonly startFrom?: string;
}

/** Whether a run would begin with its recipe's warm start, and not from weights that are there already. */
export function willWarmUp(recipe: Recipe, { dir, resume = "never", startFrom }: Beginning): boolean {
  if (recipe.warmStart === undefined || startFrom !== undefined) return false;
  return resume === "never" || !existsSync(new Checkpoints(dir, 1).warmStart);
}

/**
 * First weights, or those of `startFrom`, or those an earlier sitting warmed up; saved as where training starts,
 * unless a model folder has them. Returns the seconds a warm start took; 0 if there was none, or it was cut short.
 */
export async function prepareWeights(
  parts: { readonly resources: RunResources; readonly checkpoints: Checkpoints; readonly clock: Clock },
  { startFrom, resume = "never" }: Pick<RunOptions, "startFrom" | "resume">,
  to: { readonly signal: AbortSignal; readonly listeners: Announcer },
): Promise<number> {
  const { checkpoints } = parts;
  const { trainer, recipe, model } = parts.resources;
  const kept = resume === "auto" && existsSync(checkpoints.warmStart);
  const given = startFrom ?? (kept ? checkpoints.warmStart : undefined);
  if (given !== undefined) await trainer.load(given);
  else await model.fill(trainer);
  const seconds = given === undefined ? await warmUp(parts, to) : 0;
  await trainer.resetOptimizer(rlOptimizer(recipe));
  await trainer.setVersion(0);
  const inFolder = model.origin !== undefined && given === undefined && recipe.warmStart === undefined;
  if (!to.signal.aborted && !kept && !inFolder) await checkpoints.saveStart(trainer);
  return seconds;
}

async function warmUp(
  { resources, clock }: { readonly resources: RunResources; readonly clock: Clock },
  { signal, listeners }: { readonly signal: AbortSignal; readonly listeners: Announcer },
): Promise<number> {
  const { trainer, recipe, model } = resources;
  const config = recipe.warmStart;
  if (config === undefined || config.steps === 0) return 0;
  const begun = clock.now();
  listeners.emit("phase", "warm start", config.steps);
  const onStep = (progress: { step: number; steps: number; loss: number }) =>
    listeners.emit("warmStart", progress);
  const whole = await completes(warmStart(trainer, recipe, config, model, { signal, onStep }), signal);
  return whole ? (clock.now() - begun) / 1000 : 0;
}
