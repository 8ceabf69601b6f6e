import {
  evaluationContext,
  loraOptions,
  maxContext,
  optimizerMemory,
  type Recipe,
  shardingOf,
  storageOf,
} from "../../config/index.ts";
import type { PipelineStatus, ProcessStatus } from "../../metrics/index.ts";
import type {
  EngineFace,
  EngineHandlers,
  EngineOptions,
  ModelConfigJson,
  NativeInfo,
  OptimizerOptions,
  TrainerFace,
  TrainerOptions,
} from "../../native/face.ts";
import type { JobPlace } from "../../rewards/index.ts";
import type { Arithmetic } from "../../shared/models/weight-types.ts";

/** The processes besides this one over which the engine and the trainer are distributed. */
export interface CoreProcesses {
  readonly list: readonly ProcessStatus[];
  /** Address of the store, without a password. */
  readonly store?: NonNullable<PipelineStatus["store"]>;
  /** Transport of the weights, in a sentence. */
  readonly weights?: string;
}

/** Creates engines and trainers: the native core, or a stand-in for the tests of the pipeline. */
export interface Core {
  info(): NativeInfo;
  engine(config: ModelConfigJson, options: EngineOptions, handlers: EngineHandlers): EngineFace;
  trainer(config: ModelConfigJson, options: TrainerOptions): TrainerFace;
  /** Absent if the core is entirely in this process. */
  processes?(): CoreProcesses;
  /**
   * Opens verifier hosts, each with at most `workers` jobs at a time. Absent or undefined if this process has
   * a pool.
   */
  verifierHosts?(workers: number): JobPlace | undefined;
}

/** The addon. Loaded when a run starts, so that recipes and the command line work without it. */
export async function nativeCore(): Promise<Core> {
  return (await import("../../native/index.ts")).core;
}

/**
 * @param arithmetic the run's: from arithmeticOf, or the recorded one
 * @param tokenBytes called only if stop strings need them: slow for a large vocabulary
 * @param use "evaluation" allocates for the contexts of evaluation, which may be longer than training's
 */
export function engineOptions(
  recipe: Recipe,
  arithmetic: Arithmetic,
  tokenBytes: () => readonly Uint8Array[],
  use: "training" | "evaluation" = "training",
): EngineOptions {
  const { engine, rollouts, seed, device, objective } = recipe;
  const needed = rollouts.stopStrings.length > 0;
  const routed = use === "training" && objective.router?.replay === true;
  return {
    ...engine,
    maxContext: use === "training" ? maxContext(recipe) : evaluationContext(recipe),
    runSeed: BigInt(seed),
    weightStorage: storageOf(recipe),
    arithmetic,
    device,
    ...(needed && { tokenBytes: tokenBytes() }),
    ...(routed && { routes: true }),
  };
}

export function rlOptimizer(recipe: Recipe): OptimizerOptions {
  const { optimizer: o, seed } = recipe;
  const { beta1, beta2, eps, weightDecay, gradientClip, moments } = o;
  return {
    kind: "adamw",
    beta1,
    beta2,
    eps,
    weightDecay,
    decayAll: false,
    muonMomentum: 0,
    gradientClip,
    moments,
    seed: BigInt(seed),
    memory: optimizerMemory(recipe, "adamw"),
  };
}

/**
 * @param arithmetic as in {@link engineOptions}
 * @param whole true: a trainer without adapters, even if the recipe has `lora`
 */
export function trainerOptions(recipe: Recipe, arithmetic: Arithmetic, whole = false): TrainerOptions {
  const sharding = shardingOf(recipe);
  return {
    ...(whole ? {} : loraOptions(recipe)),
    optimizer: rlOptimizer(recipe),
    packedTokens: recipe.training.packedTokens,
    headRows: recipe.training.headRows,
    weightStorage: storageOf(recipe),
    arithmetic,
    device: recipe.device,
    deterministic: recipe.deterministic,
    recompute: recipe.hardware?.recompute ?? false,
    ...(sharding && { sharding }),
  };
}
