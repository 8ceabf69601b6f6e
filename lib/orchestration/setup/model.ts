import { evaluationContext, type ModelSizes, maxContext, type Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import {
  type ModelOrigin,
  modelFacts,
  originOf,
  readModelFile,
  resolveModelFolder,
  withContext,
} from "../../inference/index.ts";
import type { ModelConfigJson, TrainerFace } from "../../native/face.ts";
import type { PromptFormat, Tokenizer } from "../../text/index.ts";
import { openPrompts, type PromptPlace } from "./prompt-format.ts";

/** The model that a recipe trains: its network, prompts and tokenizer, and the source of its initial weights. */
export interface Model {
  /** config.json, as the core reads it. */
  readonly config: ModelConfigJson;
  readonly tokenizer: Tokenizer;
  readonly format: PromptFormat;
  /** The files with which other threads open the same tokenizer and format. */
  readonly prompts: PromptPlace;
  /** Model in the folder; undefined for a new model. */
  readonly origin: ModelOrigin | undefined;
  /**
   * Loads the folder's weights, with its adapter's, or fresh ones drawn with the recipe's seed, into a
   * trainer.
   */
  fill(trainer: TrainerFace): Promise<void>;
}

/**
 * Throws HONE_ERR_CONFIG for a recipe that does not fit the model (vocabulary, context, stop ids), and for a
 * faulty model folder HONE_ERR_IO, HONE_ERR_FORMAT or HONE_ERR_UNSUPPORTED; for a model of the Hub also
 * HONE_ERR_HUB. Reads only a sample of the weights.
 * @param clock current time for chat templates
 */
export async function openModel(recipe: Recipe, clock = new Date()): Promise<Model> {
  const { model, chatTemplate, rollouts } = recipe;
  const { stopIds } = rollouts;
  if (model.folder === undefined) {
    const prompts: PromptPlace = { stopIds };
    const { tokenizer, format } = openPrompts(prompts);
    const config = newModelConfig(model.config, tokenizer.vocabularySize);
    checkFit(recipe, config, tokenizer, "model.config.vocabulary");
    const fill = (trainer: TrainerFace) => trainer.initialize(BigInt(recipe.seed));
    return { config, tokenizer, format, prompts, origin: undefined, fill };
  }
  const folder = await resolveModelFolder(model.folder);
  const config = withContext(readModelFile(folder, "config.json"), evaluationContext(recipe));
  const chats = recipe.tokenizer === "model";
  const prompts = chats ? { folder, chat: { ...chatTemplate, clock }, stopIds } : { stopIds };
  const { tokenizer, format } = openPrompts(prompts);
  checkFit(recipe, config, tokenizer, `vocab_size of ${folder}/config.json`);
  const origin = originOf(folder, chatTemplate?.file);
  const fill = async (trainer: TrainerFace) => {
    await trainer.loadHf(folder);
    if (model.adapter !== undefined) await trainer.loadAdapters(model.adapter);
  };
  return { config, tokenizer, format, prompts, origin, fill };
}

/** Warning for a model folder without a chat template; undefined if there is one, or the recipe says that this is intended. */
export function templateWarning({ model, chatTemplate }: Recipe, format: PromptFormat): string | undefined {
  if (!format.lacksTemplate || chatTemplate?.plain) return undefined;
  return `${model.folder} has no chat template: prompts are plain text (chatTemplate.plain: true if that is meant, chatTemplate.file for a template)`;
}

/**
 * Writes the sizes as a config.json of the model family that they match. @param vocabulary used if the sizes
 * have none.
 */
export function newModelConfig(c: ModelSizes, vocabulary: number): ModelConfigJson {
  return JSON.stringify({
    model_type: familyOf(c),
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
    ...hybridOf(c),
    ...expertsOf(c),
  });
}

function familyOf({ attentionEvery, experts, qkNorm, qkvBias }: ModelSizes): string {
  if (attentionEvery !== undefined) return experts ? "qwen3_5_moe_text" : "qwen3_5_text";
  if (experts) return "qwen3_moe";
  return qkNorm ? "qwen3" : qkvBias ? "qwen2" : "llama";
}

function hybridOf({ attentionEvery: every, layers, heads, headDim }: ModelSizes) {
  if (every === undefined) return {};
  return {
    layer_types: Array.from({ length: layers }, (_, layer) =>
      (layer + 1) % every === 0 ? "full_attention" : "linear_attention",
    ),
    partial_rotary_factor: 0.25,
    linear_num_key_heads: heads,
    linear_num_value_heads: heads,
    linear_key_head_dim: headDim,
    linear_value_head_dim: headDim,
    linear_conv_kernel_dim: 4,
  };
}

function expertsOf({ experts, attentionEvery, mlpWidth }: ModelSizes) {
  if (experts === undefined) return {};
  return {
    num_experts: experts.count,
    num_experts_per_tok: experts.chosen,
    moe_intermediate_size: mlpWidth,
    ...(attentionEvery === undefined
      ? { norm_topk_prob: true }
      : { shared_expert_intermediate_size: mlpWidth }),
  };
}

/** An embedding may have more rows than the tokenizer has tokens, never fewer. */
function checkFit(
  recipe: Recipe,
  config: ModelConfigJson,
  tokenizer: Tokenizer,
  vocabularyField: string,
): void {
  const { vocabulary, maxPositions, experts } = modelFacts(config);
  if (recipe.objective.router !== undefined && experts === 0)
    throw unfit("objective.router is for mixtures of experts, but the model has no experts; leave it out");
  if (vocabulary < tokenizer.vocabularySize)
    throw unfit(`${vocabularyField} is ${vocabulary}, below the tokenizer's ${tokenizer.vocabularySize}`);
  const context = maxContext(recipe);
  if (context > maxPositions) {
    throw unfit(
      `rollouts.maxPromptTokens + maxOutputTokens is ${context}; the model has ${maxPositions} positions`,
    );
  }
  if (evaluationContext(recipe) > maxPositions) {
    throw unfit(
      `rollouts.maxPromptTokens with the largest budget of evaluation is ${evaluationContext(recipe)}; the model has ${maxPositions} positions`,
    );
  }
  const stray = recipe.rollouts.stopIds?.find((id) => id >= vocabulary);
  if (stray !== undefined)
    throw unfit(`rollouts.stopIds names ${stray}; the model's vocabulary is ${vocabulary}`);
}

const unfit = (message: string) => new HoneError("HONE_ERR_CONFIG", message);
