import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Trainer } from "../native/index.ts";
import { parseConfig } from "../shared/models/config-json.ts";
import { NO_OPTIMIZER } from "./model-folder.ts";

const LAYERS = 2;
const MAX_HEAD_DIM = 16;
const MAX_KV_HEADS = 2;
const TOKENIZER_FILES = [
  "tokenizer.json",
  "tokenizer_config.json",
  "chat_template.jinja",
  "generation_config.json",
];

type Json = Readonly<Record<string, unknown>>;

/**
 * A small model of the same architecture: two layers (of Nemotron-H one of each kind), as many query heads per
 * key/value head, the same ratios of widths, every other field unchanged (rotary scaling, norms, tying, windows). The
 * vocabulary stays unless one is given.
 */
export function shrinkConfig(configJson: string, vocabulary?: number): string {
  const config = parseConfig(configJson) as Json;
  const inner = config["text_config"] as Json | undefined;
  const small =
    inner === undefined
      ? shrinkText(config, vocabulary)
      : { ...config, text_config: shrinkText(inner, vocabulary) };
  return JSON.stringify(small);
}

function shrinkText(text: Json, vocabulary: number | undefined): Json {
  const number = (name: string, otherwise: number) => Number(text[name] ?? otherwise);
  const heads = number("num_attention_heads", 1);
  const kvHeads = number("num_key_value_heads", heads);
  const [width, mlp] = [number("hidden_size", 1), number("intermediate_size", 1)];
  const headDim = number("head_dim", width / heads);
  const small = { kvHeads: Math.min(kvHeads, MAX_KV_HEADS), headDim: Math.min(headDim, MAX_HEAD_DIM) };
  const smallHeads = small.kvHeads * (heads / kvHeads);
  const smallWidth = inEights((width / (heads * headDim)) * smallHeads * small.headDim);
  return {
    ...text,
    num_hidden_layers: LAYERS,
    num_attention_heads: smallHeads,
    num_key_value_heads: small.kvHeads,
    hidden_size: smallWidth,
    head_dim: small.headDim,
    intermediate_size: inEights((mlp / width) * smallWidth),
    ...(vocabulary !== undefined && { vocab_size: vocabulary }),
    ...(text["rotary_dim"] !== undefined && {
      rotary_dim: Math.round((number("rotary_dim", 0) * small.headDim) / headDim),
    }),
    ...kindsOfLayers(text, smallWidth),
    ...ropeFactors(text, small.headDim / headDim),
  };
}

/** The lists of factors of longrope, one number for each rotated pair of a head: the first `share` of them. */
function ropeFactors(text: Json, share: number): Json {
  const cut = (list: unknown) =>
    Array.isArray(list) ? list.slice(0, Math.round(list.length * share)) : list;
  const smaller = (name: string): Json => {
    const rope = text[name] as Json | undefined | null;
    if (!Array.isArray(rope?.["short_factor"])) return {};
    const [short_factor, long_factor] = [cut(rope["short_factor"]), cut(rope["long_factor"])];
    return { [name]: { ...rope, short_factor, long_factor } };
  };
  return { ...smaller("rope_scaling"), ...smaller("rope_parameters") };
}

/** For a model of two kinds of layers: one layer of each, with small heads and as many value heads per key head. */
function kindsOfLayers(text: Json, width: number): Json {
  const types = text["layer_types"];
  if (text["model_type"] === "gemma4_text") {
    return {
      layer_types: ["sliding_attention", "full_attention"],
      global_head_dim: 2 * MAX_HEAD_DIM,
      num_global_key_value_heads: 1,
      per_layer_config: null,
    };
  }
  if (text["model_type"] === "nemotron_h") return nemotronLayers(text);
  const heads = Number(text["linear_num_key_heads"] ?? 0);
  if (heads === 0)
    return {
      ...(Array.isArray(types) && { layer_types: ofTwoKinds(types) }),
      ...(Array.isArray(text["full_attn_idxs"]) && { full_attn_idxs: [1] }),
      ...(Array.isArray(text["mlp_layer_types"]) && {
        mlp_layer_types: ofTwoKinds(text["mlp_layer_types"]),
      }),
      ...(Number(text["first_k_dense_replace"] ?? 0) > 1 && { first_k_dense_replace: 1 }),
      ...(Number(text["num_dense_layers"] ?? 0) > 1 && { num_dense_layers: 1 }),
      ...(text["mamba_n_heads"] !== undefined && mambaSizes(text, width)),
    };
  const headDim = (name: string) => Math.min(Number(text[name] ?? MAX_HEAD_DIM), MAX_HEAD_DIM);
  const keyHeads = Math.min(heads, MAX_KV_HEADS);
  return {
    layer_types: ["linear_attention", "full_attention"],
    linear_num_key_heads: keyHeads,
    linear_num_value_heads: keyHeads * (Number(text["linear_num_value_heads"] ?? heads) / heads),
    linear_key_head_dim: headDim("linear_key_head_dim"),
    linear_value_head_dim: headDim("linear_value_head_dim"),
  };
}

/** The kind of the first layer and the next other kind, since a model needs a layer of attention. */
function ofTwoKinds(types: readonly unknown[]): readonly unknown[] {
  const other = types.find((type) => type !== types[0]);
  return other === undefined ? types.slice(0, LAYERS) : [types[0], other];
}

/** Mamba-2's heads are together `mamba_expand` times as wide as the model. */
function mambaSizes(text: Json, width: number): Json {
  const inner = Number(text["mamba_expand"] ?? 2) * width;
  return {
    mamba_d_head: 8,
    mamba_n_heads: inner / 8,
    mamba_n_groups: 1,
    mamba_d_state: MAX_HEAD_DIM,
    ...(text["mamba_d_ssm"] !== undefined && { mamba_d_ssm: inner }),
  };
}

/** One layer of each kind that the model has, in the order in which they first occur. */
function nemotronLayers(text: Json): Json {
  const names = text["layer_types"] ?? text["layers_block_type"];
  const kinds = new Set(
    Array.isArray(names) ? names : [...String(text["hybrid_override_pattern"] ?? "ME*-")],
  );
  return {
    num_hidden_layers: kinds.size,
    layer_types: undefined,
    layers_block_type: Array.isArray(names) ? [...kinds] : undefined,
    hybrid_override_pattern: Array.isArray(names) ? undefined : [...kinds].join(""),
    mamba_num_heads: 8,
    mamba_head_dim: 8,
    n_groups: 2,
    ssm_state_size: MAX_HEAD_DIM,
  };
}

const inEights = (size: number) => Math.max(8, Math.round(size / 8) * 8);

/** Characters by which byte-level vocabularies write the 256 bytes. Source: GPT-2, bytes_to_unicode. */
function byteNames(): string[] {
  const printable = (b: number) => (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xff && b !== 0xad);
  let next = 0x100;
  return Array.from({ length: 256 }, (_, b) => String.fromCharCode(printable(b) ? b : next++));
}

const MARKS = ["<s>", "</s>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"];
const STAND_IN_VOCABULARY = 256 + MARKS.length;

function byteTokenizer(): Json {
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };
  const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  return {
    version: "1.0",
    added_tokens: MARKS.map((content, i) => ({ id: 256 + i, content, ...plain })),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: { type: "BPE", vocab: Object.fromEntries(byteNames().map((name, id) => [name, id])), merges: [] },
  };
}

const CHAT_TEMPLATE =
  "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

/**
 * Writes a model folder from which a run can start: a small version of the architecture of `configJson`, random
 * weights, and the tokenizer and chat template of the folder `tokenizerOf`, or without one a byte tokenizer with a
 * plain template. `folder` must not exist yet. Throws HONE_ERR_CONFIG or HONE_ERR_UNSUPPORTED naming a field of the
 * config.
 */
export async function writeStandIn(folder: string, configJson: string, tokenizerOf?: string): Promise<void> {
  const config = shrinkConfig(configJson, tokenizerOf === undefined ? STAND_IN_VOCABULARY : undefined);
  const trainer = new Trainer(config, { optimizer: NO_OPTIMIZER, packedTokens: 64, weightStorage: "f32" });
  try {
    await trainer.initialize(1n);
    await trainer.save(folder, "");
  } finally {
    await trainer.close();
  }
  writeFileSync(join(folder, "config.json"), config);
  if (tokenizerOf !== undefined) {
    for (const name of TOKENIZER_FILES.filter((file) => existsSync(join(tokenizerOf, file))))
      copyFileSync(join(tokenizerOf, name), join(folder, name));
    return;
  }
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(byteTokenizer()));
  const chat = { bos_token: "<s>", eos_token: "</s>", chat_template: CHAT_TEMPLATE };
  writeFileSync(join(folder, "tokenizer_config.json"), JSON.stringify(chat));
}
