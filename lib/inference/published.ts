import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { HoneError } from "../errors.ts";
import { hasWeights } from "./expect-weights.ts";
import { parseHubName, resolveModelFolder } from "./hub.ts";
import { readModelFile } from "./model-folder.ts";

const QWEN3 = {
  model_type: "qwen3",
  vocab_size: 151_936,
  head_dim: 128,
  num_key_value_heads: 8,
  max_position_embeddings: 40_960,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  hidden_act: "silu",
};

/**
 * The text model's config.json of published models, so that plans, dry runs and benches need no download.
 * Source: the models' repositories; Apriel's decoder is Pixtral-12B's with 48 layers instead of 40 (arXiv
 * 2510.01141).
 */
export const PUBLISHED_CONFIGS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "ServiceNow-AI/Apriel-1.5-15b-Thinker": {
    model_type: "llava",
    tie_word_embeddings: false,
    text_config: {
      model_type: "mistral",
      vocab_size: 131_072,
      hidden_size: 5120,
      num_hidden_layers: 48,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      head_dim: 128,
      intermediate_size: 14_336,
      max_position_embeddings: 131_072,
      rms_norm_eps: 1e-5,
      rope_theta: 1_000_000_000,
      hidden_act: "silu",
    },
  },
  "Qwen/Qwen3-0.6B": {
    ...QWEN3,
    hidden_size: 1024,
    num_hidden_layers: 28,
    num_attention_heads: 16,
    intermediate_size: 3072,
    tie_word_embeddings: true,
  },
  "Qwen/Qwen3-1.7B": {
    ...QWEN3,
    hidden_size: 2048,
    num_hidden_layers: 28,
    num_attention_heads: 16,
    intermediate_size: 6144,
    tie_word_embeddings: true,
  },
  "Qwen/Qwen3-4B": {
    ...QWEN3,
    hidden_size: 2560,
    num_hidden_layers: 36,
    num_attention_heads: 32,
    intermediate_size: 9728,
    tie_word_embeddings: true,
  },
  "Qwen/Qwen3-8B": {
    ...QWEN3,
    hidden_size: 4096,
    num_hidden_layers: 36,
    num_attention_heads: 32,
    intermediate_size: 12_288,
    tie_word_embeddings: false,
  },
};

export interface FoundConfig {
  /** config.json as text. */
  readonly config: string;
  /** The model's folder, complete with weights; undefined for an entry of the table or a folder without them. */
  readonly folder: string | undefined;
  /** A folder with the model's tokenizer, and its template if it has one; may lack weights. */
  readonly tokenizer?: string | undefined;
}

/**
 * The config.json of a model folder or Hub name, without network access: from the folder itself, the Hub's cache, or
 * the table of published models. Throws HONE_ERR_IO naming the model if none of them has it, HONE_ERR_FORMAT.
 */
export async function findConfig(nameOrPath: string): Promise<FoundConfig> {
  if (existsSync(nameOrPath)) return foundIn(nameOrPath, hasWeights(nameOrPath));
  const name = parseHubName(nameOrPath)?.repo;
  if (name !== undefined) {
    for (const withWeights of [true, false]) {
      const here = { offline: true, withWeights };
      const folder = await resolveModelFolder(nameOrPath, here).catch(() => undefined);
      if (folder !== undefined) return foundIn(folder, withWeights);
    }
    if (Object.hasOwn(PUBLISHED_CONFIGS, name))
      return { config: JSON.stringify(PUBLISHED_CONFIGS[name]), folder: undefined };
  }
  throw new HoneError(
    "HONE_ERR_IO",
    `${nameOrPath} is no folder (looked for ${resolve(nameOrPath)}), is not in the Hub cache, and its sizes are not known either`,
    {
      hint: `Download it, or name one of ${Object.keys(PUBLISHED_CONFIGS).join(", ")}.`,
    },
  );
}

const foundIn = (folder: string, isComplete: boolean): FoundConfig => ({
  config: readModelFile(folder, "config.json"),
  folder: isComplete ? folder : undefined,
  tokenizer: existsSync(join(folder, "tokenizer.json")) ? folder : undefined,
});
