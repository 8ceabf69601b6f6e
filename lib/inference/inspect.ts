import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ResolveOptions, resolveModelHeads } from "./hub.ts";
import { shardsOf } from "./hub-cache.ts";
import { DEFAULT_MAX_POSITIONS, readModelFile } from "./model-folder.ts";
import { parseJson, readHeader } from "./safetensors-header.ts";

/** What a model folder holds, by its config and the headers of its weight files; no weight is read. */
export interface ModelFindings {
  /** model_type of config.json, and of the text decoder inside a wrapper. */
  readonly architecture: string;
  readonly decoder: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly tiedHead: boolean;
  readonly files: number;
  /** Text model's tensors by stored dtype. */
  readonly dtypes: Readonly<Record<string, { readonly tensors: number; readonly bytes: number }>>;
  readonly parameters: number;
  /** Vision towers, projectors and stored rotary frequencies: left aside on loading. */
  readonly skipped: { readonly tensors: number; readonly bytes: number };
  /** Bytes. One sequence of the longest context is what a key/value cache has to hold at least. */
  readonly memory: {
    readonly weights: number;
    readonly keyValuesPerToken: number;
    readonly longestContext: number;
    /** f32 master weights, gradients and two moments. */
    readonly training: number;
  };
}

/** Names that no text model has; csrc/model/hf_loader.cc leaves out the same. */
const NOT_TEXT = /^(?:model\.)?(?:vision_tower|multi_modal_projector)\.|rotary_emb\.inv_freq$/;
const SIZE_FIELDS = {
  vocabulary: "vocab_size",
  width: "hidden_size",
  layers: "num_hidden_layers",
  heads: "num_attention_heads",
  kvHeads: "num_key_value_heads",
  headDim: "head_dim",
  mlpWidth: "intermediate_size",
  maxPositions: "max_position_embeddings",
} as const;

/**
 * What a model folder or Hub name holds. Of a model that is not in the Hub's cache only the small files are downloaded;
 * of its weights the headers are asked for. Throws HONE_ERR_IO for a missing file, HONE_ERR_FORMAT naming the file
 * whose header is damaged, and what resolveModelFolder throws.
 */
export async function inspectModel(
  nameOrPath: string,
  options: Omit<ResolveOptions, "withWeights"> = {},
): Promise<ModelFindings> {
  const { folder: directory, withHead } = await resolveModelHeads(nameOrPath, options);
  const config = parseJson(readModelFile(directory, "config.json"), join(directory, "config.json"));
  const text = textModelOf(config);
  const sizes = sizesOf(text);
  const files = weightNames(directory);
  const dtypes: Record<string, { tensors: number; bytes: number }> = {};
  const skipped = { tensors: 0, bytes: 0 };
  let parameters = 0;
  for (const file of files) {
    for (const [name, tensor] of Object.entries(await withHead(file, readHeader))) {
      const bytes = tensor.data_offsets[1] - tensor.data_offsets[0];
      dtypes[tensor.dtype] ??= { tensors: 0, bytes: 0 };
      const part = NOT_TEXT.test(name) ? skipped : dtypes[tensor.dtype]!;
      part.tensors += 1;
      part.bytes += bytes;
      if (part !== skipped) parameters += tensor.shape.reduce((product, n) => product * n, 1);
    }
  }
  const keyValuesPerToken = sizes.layers * sizes.kvHeads * sizes.headDim * 2 * 4;
  return {
    architecture: String(config["model_type"]),
    decoder: String(text["model_type"]),
    sizes,
    tiedHead: text["tie_word_embeddings"] === true,
    files: files.length,
    dtypes: Object.fromEntries(Object.entries(dtypes).filter(([, { tensors }]) => tensors > 0)),
    parameters,
    skipped,
    memory: {
      weights: parameters * 4,
      keyValuesPerToken,
      longestContext: keyValuesPerToken * sizes.maxPositions,
      training: parameters * 16,
    },
  };
}

export type ModelSizeName = keyof typeof SIZE_FIELDS;

/** Sizes by the text of a config.json; a wrapper's are its text model's. */
export function modelSizes(configJson: string, where = "config.json"): Record<ModelSizeName, number> {
  return sizesOf(textModelOf(parseJson(configJson, where)));
}

/** Weights of the text model that a config.json describes, in all. */
export function parameterCount(configJson: string): number {
  const text = textModelOf(parseJson(configJson, "config.json"));
  const { vocabulary, width, layers, heads, kvHeads, headDim, mlpWidth } = sizesOf(text);
  const attention = width * headDim * (2 * heads + 2 * kvHeads);
  const biases = text["model_type"] === "qwen2" ? headDim * (heads + 2 * kvHeads) : 0;
  const headNorms = text["model_type"] === "qwen3" ? 2 * headDim : 0;
  const layer = attention + biases + 3 * width * mlpWidth + 2 * width + headNorms;
  return vocabulary * width * (text["tie_word_embeddings"] === true ? 1 : 2) + layers * layer + width;
}

/** A wrapper's config keeps the text model's fields in text_config; on tying the wrapper has the last word. */
function textModelOf(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const text: Record<string, unknown> = { ...config, ...(config["text_config"] as object | undefined) };
  const tied = config["tie_word_embeddings"] ?? text["tie_word_embeddings"];
  return { ...text, tie_word_embeddings: tied };
}

function sizesOf(text: Readonly<Record<string, unknown>>): Record<ModelSizeName, number> {
  const entries = Object.entries(SIZE_FIELDS).map(([name, field]) => [name, Number(text[field])]);
  const sizes = Object.fromEntries(entries) as Record<ModelSizeName, number>;
  // what transformers assumes where these are absent
  sizes.kvHeads ||= sizes.heads;
  sizes.headDim ||= sizes.width / sizes.heads;
  sizes.maxPositions ||= DEFAULT_MAX_POSITIONS;
  return sizes;
}

/** Paths of the weight files, by the index where there is one. Throws HONE_ERR_FORMAT for a damaged index. */
export function weightFiles(directory: string): string[] {
  return weightNames(directory).map((name) => join(directory, name));
}

function weightNames(directory: string): string[] {
  const index = "model.safetensors.index.json";
  if (!existsSync(join(directory, index))) return ["model.safetensors"];
  return shardsOf(readModelFile(directory, index), join(directory, index)).sort();
}
