import { optimizerMemory, type Recipe, type WarmStartConfig } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import type { OptimizerOptions, StepOptions, TrainerFace, TrainingBatch } from "../../native/face.ts";
import type { PromptFormat } from "../../text/index.ts";
import { learningRateFactor } from "../pipeline/index.ts";
import { encodePrompt } from "../setup/index.ts";
import { type Demonstrated, Demonstrations, type Shown } from "./demonstrations.ts";

export interface WarmStartProgress {
  /** Steps done. */
  readonly step: number;
  readonly steps: number;
  /** Mean over the counted tokens, nats. */
  readonly loss: number;
}

/**
 * Supervised training on fresh demonstrations, loss on the response only. The next batch is written while the
 * core works on the present one. Throws HONE_ERR_NON_FINITE if a loss is not finite.
 */
export async function warmStart(
  trainer: TrainerFace,
  recipe: Recipe,
  config: WarmStartConfig,
  resources: Demonstrated,
  options: { readonly signal: AbortSignal; readonly onStep: (progress: WarmStartProgress) => void },
): Promise<void> {
  const demonstrations = new Demonstrations(recipe, config, resources, options.signal);
  const batchAt = async (step: number) => {
    const first = step * config.batchSize;
    const demos = Array.from({ length: config.batchSize }, (_, i) => demonstrations.at(first + i));
    return assembleDemonstrations(
      await Promise.all(demos),
      resources.model.format,
      recipe.rollouts.maxPromptTokens,
    );
  };
  await trainer.resetOptimizer(warmStartOptimizer(recipe, config));
  let batch = config.steps > 0 ? await batchAt(0) : undefined;
  for (let step = 0; batch !== undefined; step++) {
    options.signal.throwIfAborted();
    const running = trainer.step(batch, stepOptions(config, step));
    running.catch(() => {}); // avoids an unhandled rejection: if the next batch cannot be written, this promise is never awaited
    batch = step + 1 < config.steps ? await batchAt(step + 1) : undefined;
    const report = await running;
    if (report.skipped) {
      throw new HoneError(
        "HONE_ERR_NON_FINITE",
        `warm start, step ${step}: loss ${report.loss} is not finite`,
        {
          hint: "Lower warmStart.lr or warmStart.muonLr.",
        },
      );
    }
    options.onStep({ step: step + 1, steps: config.steps, loss: report.loss });
  }
}

/** Number of demonstrations that a run writes in advance to check whether they fit: 50 ms of work. */
const TRIED = 2000;

/**
 * Writes the warm start's first demonstrations and their prompts; returns how many there were. Throws
 * HONE_ERR_CONFIG for one that is longer than rollouts.maxOutputTokens, HONE_ERR_DATA for a prompt that is
 * too long, HONE_ERR_VERIFIER for an environment that cannot be played.
 * @param most number to write at most; the others throw the same errors during the warm start.
 */
export async function expectDemonstrations(
  recipe: Recipe,
  resources: Demonstrated,
  most = TRIED,
): Promise<number> {
  const { warmStart: config, rollouts } = recipe;
  if (config === undefined) return 0;
  const demonstrations = new Demonstrations(recipe, config, resources, new AbortController().signal);
  const count = Math.min(most, config.steps * config.batchSize);
  for (let i = 0; i < count; i++) {
    const { problem } = await demonstrations.at(i);
    encodePrompt(problem, resources.model.format, rollouts.maxPromptTokens);
  }
  return count;
}

function warmStartOptimizer(recipe: Recipe, config: WarmStartConfig): OptimizerOptions {
  const { optimizer: kind, beta1, beta2, weightDecay, muonMomentum, gradientClip } = config;
  const memory = optimizerMemory(recipe, kind);
  return { kind, beta1, beta2, eps: 1e-8, weightDecay, decayAll: true, muonMomentum, gradientClip, memory };
}

function stepOptions(config: WarmStartConfig, step: number): StepOptions {
  const shape = { ...config, schedule: "cosine" } as const;
  const factor = learningRateFactor(step, config.steps, shape);
  return {
    objective: "supervised",
    sequenceWeight: "uniform",
    clipLow: 1e-3,
    clipHigh: 1e-3,
    klCoef: 0,
    entropyCoef: 0,
    temperature: 1,
    lr: config.lr * factor,
    muonLr: config.muonLr * factor,
  };
}

/** Concatenates prompt and response, with mask 1 on the response except for observations. */
export function assembleDemonstrations(
  demonstrations: readonly Shown[],
  format: PromptFormat,
  maxPromptTokens: number,
): TrainingBatch {
  const prompts = demonstrations.map((d) => encodePrompt(d.problem, format, maxPromptTokens).tokens);
  const cuSeqlens = new Int32Array(demonstrations.length + 1);
  demonstrations.forEach((d, i) => {
    cuSeqlens[i + 1] = cuSeqlens[i]! + prompts[i]!.length + d.tokens.length;
  });
  const total = cuSeqlens[demonstrations.length]!;
  const tokens = new Int32Array(total);
  const mask = new Uint8Array(total);
  demonstrations.forEach((d, i) => {
    const start = cuSeqlens[i]!;
    const response = start + prompts[i]!.length;
    tokens.set(prompts[i]!, start);
    tokens.set(d.tokens, response);
    mask.fill(1, response, cuSeqlens[i + 1]!);
    d.given?.forEach((given, t) => {
      if (given === 1) mask[response + t] = 0;
    });
  });
  return { tokens, cuSeqlens, mask };
}

/** False if the work was cut short by the signal. */
export async function completes(work: Promise<void>, signal: AbortSignal): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return false;
    throw error;
  }
}
