import { type ModelSizes, maxContext, type Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import type {
  EngineFace,
  EngineHandlers,
  EngineOptions,
  ModelConfigJson,
  NativeInfo,
  OptimizerOptions,
  TrainerFace,
  TrainerOptions,
} from "../native/face.ts";

/** What makes engines and trainers: the native core, or a stand-in for the tests of the line. */
export interface Core {
  info(): NativeInfo;
  engine(config: ModelConfigJson, options: EngineOptions, handlers: EngineHandlers): EngineFace;
  trainer(config: ModelConfigJson, options: TrainerOptions): TrainerFace;
}

/** The addon. Loaded when a run starts, so that recipes and the command line work without it. */
export async function nativeCore(): Promise<Core> {
  const native = await import("../native/index.ts");
  return {
    info: () => native.info(),
    engine: (config, options, handlers) => new native.Engine(config, options, handlers),
    trainer: (config, options) => new native.Trainer(config, options),
  };
}

/** Sizes of the model a run starts from. Throws HONE_ERR_UNSUPPORTED for a folder. */
export function sizesOf({ model }: Recipe): ModelSizes {
  if (model.config !== undefined) return model.config;
  throw new HoneError("HONE_ERR_UNSUPPORTED", `a run cannot start from ${model.folder} yet`);
}

/** The recipe's sizes as the config.json the core reads. */
export function modelConfigJson(recipe: Recipe, vocabulary: number): ModelConfigJson {
  const c = sizesOf(recipe);
  const type = c.qkNorm ? "qwen3" : c.qkvBias ? "qwen2" : "llama";
  return JSON.stringify({
    model_type: type,
    vocab_size: c.vocabulary ?? vocabulary,
    hidden_size: c.width,
    num_hidden_layers: c.layers,
    num_attention_heads: c.heads,
    num_key_value_heads: c.kvHeads,
    head_dim: c.headDim,
    intermediate_size: c.mlpWidth,
    max_position_embeddings: c.maxPositions,
    rms_norm_eps: c.normEps,
    rope_theta: c.ropeTheta,
    tie_word_embeddings: c.tiedHead,
    hidden_act: "silu",
  });
}

export function engineOptions(recipe: Recipe, tokenBytes: readonly Uint8Array[]): EngineOptions {
  return { ...recipe.engine, maxContext: maxContext(recipe), runSeed: BigInt(recipe.seed), tokenBytes };
}

export function rlOptimizer({ optimizer: o }: Recipe): OptimizerOptions {
  const { beta1, beta2, eps, weightDecay, gradientClip } = o;
  return { kind: "adamw", beta1, beta2, eps, weightDecay, decayAll: false, muonMomentum: 0, gradientClip };
}
