// A plain f64 decoder, written from the formulas and sharing no code with csrc: the reference for the model
// tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "model/parameters.h"
#include "model/rope_table.h"

namespace hone::test {

using Vector = std::vector<double>;

/// The model's parameters by name, in f64, so that finite differences can change one element.
struct Reference {
  model::ModelConfig config;
  std::map<std::string, Vector> tensors;
  std::function<void(int64_t layer, const Vector& x)> entered{};  // called with the input of each MLP

  /// Returns the experts to which the last token that entered is routed; unset, or an empty result: the
  /// router's own choice.
  std::function<std::vector<int32_t>(int64_t layer)> given{};

  explicit Reference(const model::TensorBlock& from);
  const Vector& weight(int64_t layer, const char* name) const;
  const Vector& head() const { return tensors.at(config.tied_head ? "model.embed_tokens.weight" : "lm_head.weight"); }

  /// y[n] = w[n, k] x[k] (+ bias)
  static Vector apply(const Vector& w, const double* x, int64_t k, const Vector* bias = nullptr);
  Vector norm(const double* x, const Vector& w, bool centered = false) const;
  void rotate(double* head, int64_t layer, int64_t position) const;

  struct Projected { Vector q, k, v; };
  Projected project(int64_t layer, const Vector& normed, int64_t position) const;
  Vector attend(const std::vector<Projected>& rows, int64_t layer, size_t t) const;

  static double capped(double x, double cap) { return cap > 0 ? cap * std::tanh(x / cap) : x; }
  double gate(double g) const;
  Vector entering(const Vector& x, int64_t layer, const char* name) const;
  void add(Vector& x, Vector added, int64_t layer, const char* name) const;
  Vector gated(Vector gate_up, const Vector& down) const;
  Vector mlp(int64_t layer, const Vector& x) const;
  Vector router_logits(int64_t layer, const Vector& x) const;
  /// The experts to which x is routed, and their weights.
  std::vector<std::pair<int64_t, double>> route(int64_t layer, const Vector& x) const;
  /// turned(): x times an expert's matrix [inputs, outputs], plus its bias. limited_expert(): output of one
  /// of gpt-oss's experts for x.
  Vector turned(int64_t layer, const std::string& name, int64_t expert, const Vector& x) const;
  Vector limited_expert(int64_t layer, int64_t expert, const Vector& x) const;
  /// Adds the weighted outputs of the experts for x to `out`.
  void mix(int64_t layer, const Vector& x, Vector& out) const;

  /// Hidden states after the final norm, divided by logits_scaling, one per token of a single sequence.
  std::vector<Vector> hidden(const std::vector<int32_t>& ids) const;

  /// logprob[t] = log p(ids[t] | earlier tokens); entropy[t] is that of the distribution that predicts
  /// ids[t]; both are 0 for t = 0.
  struct Predictions { Vector logprob, entropy; };
  Predictions predict(const std::vector<int32_t>& ids, double temperature) const;
};

/// A tiny decoder whose sizes are all awkward for vector code.
inline model::ModelConfig tiny_config() {
  model::ModelConfig c;
  c.arch = "llama";
  c.vocabulary = 37;
  c.width = 20;
  c.layers = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.head_dim = 6;
  c.mlp_width = 28;
  c.max_positions = 64;
  return c;
}

/// One small config for each switch of ModelConfig, each with an architecture that has the switch.
inline std::vector<std::pair<const char*, model::ModelConfig>> switch_configs() {
  const model::ModelConfig base = tiny_config();
  std::vector<std::pair<const char*, model::ModelConfig>> all{{"untied GQA", base}};
  const auto add = [&](const char* name, auto change) {
    model::ModelConfig c = base;
    change(c);
    all.emplace_back(name, c);
  };
  add("tied, one kv head", [](auto& c) { c.tied_head = true; c.kv_heads = 1; });
  add("qkv bias, tied", [](auto& c) { c.arch = "qwen2"; c.qkv_bias = true; c.tied_head = true; });
  add("qk norm, no grouping", [](auto& c) { c.arch = "qwen3"; c.qk_norm = true; c.kv_heads = 4; });
  // the MLP needs more memory than attention
  add("sliding window", [](auto& c) { c.arch = "mistral"; c.sliding_window = 3; c.mlp_width = 60; });
  add("yarn", [](auto& c) {
    c.arch = "mistral";
    c.rope.kind = model::RopeConfig::Kind::kYarn;
    c.rope.factor = 4.0;
    c.rope.original_max_positions = 8;
  });
  add("fused names, part of a head rotated", [](auto& c) { c.arch = "phi3"; c.fused_qkv = c.fused_gate_up = true; c.rope.partial = 0.67; });
  add("norms after, q and k normed whole", [](auto& c) {
    c.arch = "olmo2";
    c.norms = model::ModelConfig::Norms::kAfter;
    c.qk_norm = c.qk_norm_whole = true;
  });
  add("a layer without positions", [](auto& c) { c.arch = "smollm3"; c.rotated_layers = {true, false}; });
  add("multipliers", [](auto& c) {
    c.arch = "granite";
    c.embedding_scale = 3.0f, c.residual_scale = 0.3f, c.attention_multiplier = 0.2, c.logits_scaling = 1.7;
  });
  add("caps, window in turn", [](auto& c) {
    c.arch = "gemma2", c.norms = model::ModelConfig::Norms::kAround, c.norm_offset = 1.0f, c.gelu = true;
    c.attention_softcap = 2.0f, c.logit_softcap = 3.0f, c.embedding_scale = 2.0f, c.query_scalar = 11.0;
    c.sliding_window = 4, c.sliding_layers = {true, false}, c.tied_head = true;
  });
  add("two rotary bases", [](auto& c) {
    c.arch = "gemma3_text", c.norms = model::ModelConfig::Norms::kAround, c.norm_offset = 1.0f, c.gelu = true, c.qk_norm = true;
    c.sliding_window = 4, c.sliding_layers = {true, false}, c.sliding_theta = 50.0;
  });
  add("neighbours rotated, norms around, gate and up fused", [](auto& c) {
    c.arch = "glm4", c.norms = model::ModelConfig::Norms::kAround, c.names = model::ModelConfig::Names::kGlm4;
    c.fused_gate_up = c.qkv_bias = c.rope.interleaved = true, c.rope.partial = 0.67;
  });
  add("only layers with a window rotated, norms after", [](auto& c) {
    c.arch = "exaone4", c.norms = model::ModelConfig::Norms::kAfter, c.qk_norm = true;
    c.sliding_window = 4, c.sliding_layers = c.rotated_layers = {true, false};
  });
  const auto experts = [&](const char* name, auto change) {
    add(name, [&](auto& c) {
      c.experts.count = 6, c.experts.chosen = 2, c.experts.width = 10;
      change(c);
    });
  };
  experts("experts, normalized", [](auto& c) { c.arch = "qwen3_moe", c.qk_norm = true, c.experts.normalized = true; });
  experts("experts, not normalized, q and k normed whole", [](auto& c) { c.arch = "olmoe", c.qk_norm = c.qk_norm_whole = true; });
  experts("experts on one layer", [](auto& c) { c.arch = "qwen3_moe", c.qk_norm = true, c.experts.layers = {false, true}; });
  experts("experts by other names", [](auto& c) { c.arch = "mixtral", c.names = model::ModelConfig::Names::kMixtral, c.experts.normalized = true; });
  experts("experts in groups, sigmoid, one shared", [](auto& c) {
    c.arch = "glm4_moe", c.qkv_bias = true, c.rope.partial = 0.67;
    c.experts.sigmoid = c.experts.normalized = c.experts.correction = true, c.experts.scaling = 1.7;
    c.experts.groups = 3, c.experts.chosen_groups = 2, c.experts.shared_width = 14, c.experts.layers = {true, false};
  });
  experts("turned experts with biases and a limit, sinks", [](auto& c) {
    c.arch = "gpt_oss", c.names = model::ModelConfig::Names::kGptOss, c.qkv_bias = c.o_bias = c.sinks = true;
    c.sliding_window = 4, c.sliding_layers = {true, false}, c.mlp_width = 10;
    c.experts.turned = c.experts.biases = c.experts.normalized = true, c.experts.limit = 2.5;
  });
  experts("experts beside one with a gate", [](auto& c) {
    c.arch = "qwen3_moe", c.qk_norm = true, c.experts.normalized = c.experts.shared_gate = true, c.experts.shared_width = 14;
  });
  experts("experts whose sum is normed and scaled", [](auto& c) {
    c.arch = "olmo2", c.norms = model::ModelConfig::Norms::kAfter, c.qk_norm = c.qk_norm_whole = true, c.residual_scale = 0.6f;
    c.experts.sigmoid = true, c.experts.layers = {false, true};
  });
  add("parallel halves, norms that subtract the mean", [](auto& c) {
    c.arch = "cohere2", c.parallel = c.norm_centered = c.rope.interleaved = c.tied_head = true;
    c.logits_scaling = 4.0, c.sliding_window = 4, c.sliding_layers = c.rotated_layers = {true, false};
  });
  add("parallel halves with biases", [](auto& c) { c.arch = "cohere", c.parallel = c.norm_centered = c.qkv_bias = c.o_bias = true; });
  add("heads of two sizes, values normed, keys as values", [](auto& c) {
    c.arch = "gemma4_text", c.norms = model::ModelConfig::Norms::kAround, c.gelu = c.tied_head = c.qk_norm = c.value_norm = c.layer_scalars = true;
    c.attention_multiplier = 0.7, c.logit_softcap = 3.0f, c.embedding_scale = 2.0f;
    c.sliding_window = 4, c.sliding_layers = {true, false}, c.sliding_theta = 50.0;
    c.full_head_dim = 10, c.full_kv_heads = 1, c.full_keys_as_values = true;
    c.rope.kind = model::RopeConfig::Kind::kProportional, c.rope.partial = 0.5;
  });
  add("qk norm of what is rotated", [](auto& c) { c.arch = "hunyuan_v1_dense"; c.qk_norm = c.qk_norm_last = true; });
  return all;
}

/// Draws larger values than the default initialisation, so that norms, softmax and biases all have an effect.
inline void roughen(model::Parameters& parameters, uint64_t seed) {
  parameters.initialize(seed);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0.0f, 1.0f);
  for (const auto& spec : parameters.specs()) {
    float* data = parameters.view(spec).as<float>();
    for (int64_t i = 0; i < spec.numel(); ++i) {
      if (spec.shape.size() == 1) data[i] += 0.2f * normal(random);
      else if (!spec.matrix) data[i] = 0.5f * normal(random);
      else data[i] *= 1.5f;
    }
  }
}

/// Rounds all values to bf16, in which a frozen base is then stored.
inline void round_to_bf16(model::Parameters& parameters) {
  const TensorView flat = parameters.flat();
  for (int64_t i = 0; i < flat.numel(); ++i) flat.as<float>()[i] = bf16_to_f32(f32_to_bf16(flat.as<float>()[i]));
}

}  // namespace hone::test
