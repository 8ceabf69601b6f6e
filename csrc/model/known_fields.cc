#include "model/known_fields.h"

#include <algorithm>
#include <iterator>

#include "model/archs/archs.h"

namespace hone::model {
namespace {

/// Fields that do not affect the logits of a forward pass without dropout, whatever their value.
struct Harmless {
  const char* why;
  std::vector<const char*> fields;
};

const std::vector<Harmless>& harmless_fields() {
  static const std::vector<Harmless> kTable = {
      {"names, versions and where the file came from",
       {"architectures", "_name_or_path", "name_or_path", "auto_map", "transformers_version", "tokenizer_class",
        "unsloth_version", "unsloth_fixed", "is_llama_config", "is_composition", "transformers.js_config", "_commit_hash",
        "finetuning_task", "task_specific_params", "license", "is_decoder", "model_name", "original_model_name"}},
      {"ids of special tokens: tokenizer and stop rules read them elsewhere",
       {"bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "unk_token_id", "decoder_start_token_id",
        "image_token_id", "image_token_index", "boi_token_index", "eoi_token_index", "boi_token_id", "eoi_token_id",
        "begin_image_token_id", "end_image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id",
        "vision_token_id"}},
      {"how weights are first drawn", {"initializer_range", "initializer_factor", "rescale_layers", "init_std"}},
      {"noise while training, of which there is none here",
       {"attention_dropout", "hidden_dropout", "attn_pdrop", "resid_pdrop", "embd_pdrop", "embedding_dropout", "dropout",
        "residual_dropout", "classifier_dropout", "neftune_noise_alpha", "layerdrop", "router_jitter_noise"}},
      {"how the weights are stored or computed with, which the files themselves and the recipe say",
       {"dtype", "torch_dtype", "use_bfloat16", "torchscript", "pretraining_tp", "gradient_checkpointing",
        "low_cpu_mem_usage", "chunk_size_feed_forward", "use_flash_attn", "use_fused_mlp", "fused_ops"}},
      {"which implementation of the same attention runs",
       {"_attn_implementation", "_attn_implementation_autoset", "_attn_implementation_internal", "attn_implementation",
        "_flash_attn_2_enabled", "use_flash_attention", "use_flash_attention_2", "use_cache", "cache_implementation",
        "_experts_implementation"}},
      {"what a call returns beside the logits",
       {"output_attentions", "output_hidden_states", "output_scores", "return_dict", "return_dict_in_generate",
        "keys_to_ignore_at_inference", "id2label", "label2id", "num_labels", "problem_type", "tf_legacy_loss"}},
      {"defaults of text generation, which requests set themselves",
       {"max_length", "min_length", "max_new_tokens", "min_new_tokens", "do_sample", "early_stopping", "num_beams",
        "num_beam_groups", "diversity_penalty", "temperature", "top_k", "top_p", "min_p", "typical_p", "penalty_alpha",
        "repetition_penalty", "length_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "bad_words_ids",
        "num_return_sequences", "forced_bos_token_id", "forced_eos_token_id", "remove_invalid_values",
        "exponential_decay_length_penalty", "suppress_tokens", "begin_suppress_tokens", "prefix", "renormalize_logits"}},
      {"numbers that count only where a window is on, for architectures that have none by layer",
       {"max_window_layers", "sliding_window_size"}},
      {"sizes of contexts that tokenizers and servers read", {"model_max_length", "seq_length", "max_sequence_length", "finetuned"}},
  };
  return kTable;
}

/// Fields that change logits or the model's structure unless they have `value` (JSON text; null: no value is
/// supported).
struct Neutral {
  const char *field, *value, *meaning;
};

constexpr Neutral kNeutral[] = {
    {"use_mrope", "false", "rotary positions of several axes"},
    {"rope_interleaved", "false", "another pairing of rotary dimensions"},
    {"partial_rotary_factor", "1", "rotation of a part of each head"},
    {"rotary_pct", "1", "rotation of a part of each head"},
    {"attn_factor", "1", "another scale of rotated queries and keys"},
    {"attention_bias", "false", "biases of the attention projections"},
    {"attention_out_bias", "false", "a bias of the output projection"},
    {"mlp_bias", "false", "biases of the MLP"},
    {"lm_head_bias", "false", "a bias of the head"},
    {"bias", "false", "biases"},
    {"use_qk_norm", "false", "norms of queries and keys"},
    {"qk_layernorm", "false", "norms of queries and keys"},
    {"full_attn_mod", "1", "attention that is not full in every layer"},
    {"interpolate_factor", "1", "interpolated positions"},
    {"use_bidirectional_attention", "false", "attention to later tokens"},
    {"use_sliding_window", "false", "a sliding window"},
    {"sliding_window", "null", "a sliding window"},
    {"alibi", "false", "biases by distance"},
    {"is_encoder_decoder", "false", "an encoder beside the decoder"},
    {"add_cross_attention", "false", "attention to an encoder"},
    {"cross_attention_hidden_size", "null", "attention to an encoder"},
    {"tie_encoder_decoder", "false", "weights shared with an encoder"},
    {"pruned_heads", "{}", "heads that were taken out"},
    {"logit_scale", "1", "scaled logits"},
    {"logits_scaling", "1", "scaled logits"},
    {"embedding_multiplier", "1", "scaled embeddings"},
    {"residual_multiplier", "1", "scaled residual branches"},
    {"attention_multiplier", "null", "another scale of attention"},
    {"query_pre_attn_scalar", "null", "another scale of attention"},
    {"attn_logit_softcapping", "null", "capped attention scores"},
    {"final_logit_softcapping", "null", "capped logits"},
    {"logit_softcap", "null", "capped logits"},
    {"clip_qkv", "null", "clipped projections"},
    {"no_rope_layers", "null", "layers without positions"},
    {"layer_types", "null", "layers of several kinds"},
    {"quantization", "null", "quantized weights"},
    {"dual_chunk_attention_config", "null", "attention by chunks"},
    {"attention_chunk_size", "null", "attention by chunks"},
};

bool same_value(const Json& a, const Json& b) {
  if (a.kind() == Json::Kind::kNumber && b.kind() == Json::Kind::kNumber) return a.as_double("") == b.as_double("");
  return a.dump() == b.dump();
}

bool is_harmless(const std::string& name) {
  return std::any_of(harmless_fields().begin(), harmless_fields().end(), [&](const Harmless& row) {
    return std::any_of(row.fields.begin(), row.fields.end(), [&](const char* field) { return name == field; });
  });
}

/// Whether a field says only that all layers have attention without a window, as transformers 5 writes of such models.
bool is_uniform(const std::string& field, const Json& value) {
  if (field != "layer_types" || value.kind() != Json::Kind::kArray) return false;
  const std::vector<Json>& types = value.items(field.c_str());
  return std::all_of(types.begin(), types.end(), [](const Json& type) { return type.kind() == Json::Kind::kString && type.as_string("layer_types") == "full_attention"; });
}

}  // namespace

void judge_unread(const ConfigFields& fields, ConfigProblems& problems) {
  for (const auto& [name, value] : fields.unread()) {
    if (is_harmless(name) || is_uniform(name, *value)) continue;
    const auto row = std::find_if(std::begin(kNeutral), std::end(kNeutral), [&](const Neutral& r) { return name == r.field; });
    const std::string shown = fields.path(name.c_str()) + " = " + value->dump();
    if (row == std::end(kNeutral)) problems.unknown.push_back(shown);
    else if (!same_value(*value, Json::parse(row->value, row->field))) problems.add(Code::kUnsupported, shown + " means " + row->meaning + ", which this architecture does not have here.");
  }
}

std::string experts_of(const Json& config) {
  const Json* type = config.find("model_type");
  const std::string name = type && type->kind() == Json::Kind::kString ? type->as_string("model_type") : "";
  constexpr const char* kTypes[] = {"dbrx", "deepseek_v2", "deepseek_v3", "llama4", "jamba", "grok"};
  if (is_supported_mixture(name)) return "";
  const bool by_name = name.find("moe") != std::string::npos ||
                       std::any_of(std::begin(kTypes), std::end(kTypes), [&](const char* t) { return name == t; });
  const std::string refusal = "model_type \"" + name + "\" is a mixture of experts that is not supported; supported are dense models, and the mixtures qwen3_moe, olmoe, mixtral, glm4_moe, gpt_oss, qwen3_5_moe, qwen3_next, granitemoehybrid, nemotron_h, granitemoe, lfm2_moe, ernie4_5_moe, qwen2_moe, dots1, minimax_m2, solar_open, exaone_moe.";
  if (by_name) return refusal;
  for (const char* field : {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"}) {
    const Json* count = config.find(field);
    if (count && count->kind() == Json::Kind::kNumber && count->as_double(field) > 1) return refusal;
  }
  return "";
}

}  // namespace hone::model
