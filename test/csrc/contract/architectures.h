// Small models of architectures that differ from Llama in more than names, with sizes that GPU kernels accept.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/config.h"

namespace hone::test {

/// One small model per architecture, with layers of every kind that it has, a sliding window of 5 if it has
/// windows, and, for Gemma-2, no soft caps.
inline std::vector<std::pair<std::string, model::ModelConfig>> architecture_configs() {
  const std::pair<const char*, const char*> parts[] = {
      {"phi3", R"("partial_rotary_factor": 0.5, "sliding_window": 5)"},
      {"olmo2", R"("rms_norm_eps": 1e-6)"},
      {"smollm3", R"("no_rope_layers": [1, 0])"},
      {"granite", R"("embedding_multiplier": 6.0, "residual_multiplier": 0.3, "attention_multiplier": 0.1, "logits_scaling": 2.0)"},
      {"gemma2", R"("sliding_window": 5, "query_pre_attn_scalar": 12, "attn_logit_softcapping": null, "final_logit_softcapping": null)"},
      {"gemma3_text", R"("sliding_window": 5, "query_pre_attn_scalar": 12, "sliding_window_pattern": 2)"},
      {"olmo3", R"("sliding_window": 5, "layer_types": ["sliding_attention", "full_attention"])"},
      {"glm4", R"("partial_rotary_factor": 0.5)"},
      {"exaone4", R"("sliding_window": 5, "sliding_window_pattern": 2)"},
      {"cohere", R"("logit_scale": 0.5, "attention_bias": true)"},
      {"cohere2", R"("logit_scale": 0.25, "sliding_window": 5, "sliding_window_pattern": 2)"},
      {"granitemoehybrid", R"("layer_types": ["attention", "attention"], "num_local_experts": 0, "position_embedding_type": "rope",
        "shared_intermediate_size": 56, "residual_multiplier": 0.3, "attention_multiplier": 0.1)"},
      {"qwen3_moe", R"("num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "norm_topk_prob": true)"},
      {"olmoe", R"("num_experts": 6, "num_experts_per_tok": 3)"},
      {"mixtral", R"("num_local_experts": 4, "num_experts_per_tok": 2)"},
      {"glm4_moe", R"("n_routed_experts": 8, "num_experts_per_tok": 2, "n_group": 4, "topk_group": 2, "moe_intermediate_size": 24,
        "first_k_dense_replace": 1, "routed_scaling_factor": 1.5, "use_qk_norm": true, "attention_bias": true)"},
      {"gpt_oss", R"("num_local_experts": 5, "num_experts_per_tok": 2, "sliding_window": 5)"}};
  std::vector<std::pair<std::string, model::ModelConfig>> out;
  for (const auto& [type, own] : parts) {
    const std::string text = std::string(R"({"model_type": ")") + type + R"(", "vocab_size": 61, "hidden_size": 40, "num_hidden_layers": 2,
      "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 56, "max_position_embeddings": 128, )" +
                             own + "}";
    out.emplace_back(type, model::parse_hf_config(Json::parse(text, type), type));
  }
  return out;
}

/// A small model of each mixture that architecture_configs() lacks.
inline std::vector<std::pair<std::string, model::ModelConfig>> mixture_configs() {
  const std::pair<const char*, const char*> parts[] = {
      {"granitemoe", R"("num_local_experts": 5, "num_experts_per_tok": 2, "residual_multiplier": 0.6, "attention_multiplier": 0.2, "logits_scaling": 2.0)"},
      {"lfm2_moe", R"("num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "num_dense_layers": 1, "layer_types": ["conv", "full_attention"])"},
      {"ernie4_5_moe", R"("moe_num_experts": 6, "moe_k": 2, "moe_intermediate_size": 24, "moe_num_shared_experts": 1)"},
      {"qwen2_moe", R"("num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "shared_expert_intermediate_size": 32)"},
      {"dots1", R"("n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "n_shared_experts": 2, "first_k_dense_replace": 1,
        "sliding_window": 5, "max_window_layers": 1)"},
      {"solar_open", R"("n_routed_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24)"},
      {"exaone_moe", R"("num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "sliding_window": 5, "sliding_window_pattern": 2)"},
      {"minimax_m2", R"("num_local_experts": 5, "num_experts_per_tok": 2, "rotary_dim": 8)"}};
  std::vector<std::pair<std::string, model::ModelConfig>> out;
  for (const auto& [type, own] : parts) {
    const std::string text = std::string(R"({"model_type": ")") + type + R"(", "vocab_size": 61, "hidden_size": 40, "num_hidden_layers": 2,
      "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 56, "max_position_embeddings": 256, )" + own + "}";
    out.emplace_back(type, model::parse_hf_config(Json::parse(text, type), type));
  }
  return out;
}

/// A model with layers of gated DeltaNet and of attention (CPU only), with two value heads per key head and
/// odd widths.
inline model::ModelConfig hybrid_config(bool attention_last = true) {
  const std::string types = attention_last ? R"(["linear_attention", "linear_attention", "full_attention"])"
                                           : R"(["linear_attention", "full_attention", "linear_attention"])";
  const std::string text = R"({"model_type": "qwen3_5_text", "vocab_size": 61, "hidden_size": 40, "num_hidden_layers": 3,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 12, "intermediate_size": 52, "max_position_embeddings": 256,
    "tie_word_embeddings": true, "partial_rotary_factor": 0.5, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
    "linear_key_head_dim": 9, "linear_value_head_dim": 21, "layer_types": )" + types + "}";
  return model::parse_hf_config(Json::parse(text, "hybrid"), "hybrid");
}

/// hybrid_config() with sizes that GPU kernels accept.
inline model::ModelConfig gpu_hybrid_config(bool attention_last = true) {
  model::ModelConfig c = hybrid_config(attention_last);
  c.head_dim = 16, c.mlp_width = 56;
  c.delta.key_dim = 12, c.delta.value_dim = 20;
  return c;
}

/// A model with layers of short convolution and of attention.
inline model::ModelConfig convolution_config() {
  const char* const text = R"({"model_type": "lfm2", "vocab_size": 61, "hidden_size": 40, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 12, "block_ff_dim": 52, "block_auto_adjust_ff_dim": false, "max_position_embeddings": 256,
    "full_attn_idxs": [1, 2], "conv_L_cache": 3})";
  return model::parse_hf_config(Json::parse(text, "convolution"), "convolution");
}

/// Granite-4.0-H: Mamba-2 of two groups of three heads before and after a layer of attention; with experts beside a shared MLP
/// if wanted.
inline model::ModelConfig mamba_config(bool experts = false) {
  const std::string text = R"({"model_type": "granitemoehybrid", "vocab_size": 61, "hidden_size": 40, "num_hidden_layers": 3,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 12, "intermediate_size": 12, "shared_intermediate_size": 52,
    "max_position_embeddings": 256, "tie_word_embeddings": true, "residual_multiplier": 0.6, "attention_multiplier": 0.2,
    "logits_scaling": 2.0, "mamba_n_groups": 2, "mamba_n_heads": 6, "mamba_d_head": 20, "mamba_d_state": 9, "mamba_expand": 3,
    "layer_types": ["mamba", "attention", "mamba"], "num_experts_per_tok": 2, "num_local_experts": )" + std::string(experts ? "5" : "0") + "}";
  return model::parse_hf_config(Json::parse(text, "mamba"), "mamba");
}

/// Falcon-H1: Mamba-2 of two groups beside attention in every layer, with norms of its output by group if wanted.
inline model::ModelConfig beside_config(bool norms = false) {
  const std::string text = R"({"model_type": "falcon_h1", "vocab_size": 61, "hidden_size": 40, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 12, "intermediate_size": 52, "max_position_embeddings": 256, "embedding_multiplier": 3.0,
    "lm_head_multiplier": 0.5, "mlp_multipliers": [0.9, 0.7], "key_multiplier": 0.6, "attention_in_multiplier": 1.1,
    "attention_out_multiplier": 0.9, "ssm_in_multiplier": 1.2, "ssm_out_multiplier": 0.8, "ssm_multipliers": [0.7, 0.8, 1.1, 0.9, 1.3],
    "mamba_d_ssm": 120, "mamba_n_groups": 2, "mamba_n_heads": 6, "mamba_d_head": 20, "mamba_d_state": 9, "mamba_norm_before_gate": false,
    "mamba_rms_norm": )" + std::string(norms ? "true}" : "false}");
  return model::parse_hf_config(Json::parse(text, "beside"), "beside");
}

/// Nemotron-H: an MLP, or experts, before and after layers of Mamba-2 and of attention.
inline model::ModelConfig halves_config(bool experts = false) {
  const std::string text = R"({"model_type": "nemotron_h", "vocab_size": 61, "hidden_size": 40, "num_attention_heads": 4, "num_key_value_heads": 2,
    "head_dim": 12, "intermediate_size": 52, "max_position_embeddings": 256, "mamba_num_heads": 6, "mamba_head_dim": 20, "n_groups": 2,
    "ssm_state_size": 9, "n_routed_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 12, "moe_shared_expert_intermediate_size": 14,
    "routed_scaling_factor": 1.5, "hybrid_override_pattern": ")" + std::string(experts ? "EM*-ME" : "-M*M-") + R"("})";
  return model::parse_hf_config(Json::parse(text, "halves"), "halves");
}

/// Heads of two sizes, whose keys serve as values in the layer without a window, which is the last.
inline model::ModelConfig two_sizes_config() {
  const char* const text = R"({"model_type": "gemma4_text", "vocab_size": 61, "hidden_size": 40, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 12, "global_head_dim": 20, "num_global_key_value_heads": 1, "attention_k_eq_v": true,
    "intermediate_size": 52, "max_position_embeddings": 256, "sliding_window": 5, "hidden_size_per_layer_input": 0})";
  return model::parse_hf_config(Json::parse(text, "two sizes"), "two sizes");
}

/// hybrid_config() with experts, and a shared expert that has a gate.
inline model::ModelConfig hybrid_mixture_config(bool by_head = false) {
  model::ModelConfig c = hybrid_config();
  c.arch = by_head ? "qwen3_next" : "qwen3_5_moe_text";
  c.delta_by_head = by_head;
  c.experts.count = 5, c.experts.chosen = 2, c.experts.width = 12, c.experts.shared_width = 14;
  c.experts.normalized = c.experts.shared_gate = true;
  return c;
}

/// hybrid_mixture_config() with sizes that GPU kernels accept.
inline model::ModelConfig gpu_hybrid_mixture_config(bool by_head = false) {
  model::ModelConfig c = gpu_hybrid_config();
  const model::ModelConfig mixture = hybrid_mixture_config(by_head);
  c.arch = mixture.arch, c.delta_by_head = by_head, c.experts = mixture.experts;
  c.experts.width = 24, c.experts.shared_width = 16;
  return c;
}

/// convolution_config() with sizes that GPU kernels accept.
inline model::ModelConfig gpu_convolution_config() {
  model::ModelConfig c = convolution_config();
  c.head_dim = 16, c.mlp_width = 56;
  return c;
}

/// The small model of one architecture.
inline model::ModelConfig architecture_config(const std::string& type) {
  for (const auto& [name, config] : architecture_configs()) {
    if (name == type) return config;
  }
  return {};
}

/// Gemma-3 with the heads of its published models, 256 wide.
inline model::ModelConfig wide_heads_config() {
  model::ModelConfig c = architecture_config("gemma3_text");
  c.head_dim = 256, c.query_scalar = 256;
  return c;
}

}  // namespace hone::test
