#include "model/tensor_specs.h"

namespace hone::model {
namespace {

constexpr const char* kCorrection = "e_score_correction_bias";
constexpr const char* kExpertBias = "expert_bias";  // the same in LFM2's files
constexpr const char* kScalar = "layer_scalar";

class Layout {
 public:
  explicit Layout(std::vector<TensorSpec>& specs) : specs_(specs) {}
  void align() { offset_ = (offset_ + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment; }
  void add(std::string name, std::vector<int64_t> shape, bool matrix = false) {
    specs_.push_back({std::move(name), std::move(shape), offset_, matrix});
    offset_ += specs_.back().numel();
  }
  /// Aligns, then adds.
  void start(std::string name, std::vector<int64_t> shape, bool matrix = false) { align(), add(std::move(name), std::move(shape), matrix); }

 private:
  std::vector<TensorSpec>& specs_;
  int64_t offset_ = 0;
};

void add_projections(Layout& out, const ModelConfig& c, int64_t index, const std::string& layer) {
  const LayerNames names = layer_names(c);
  const std::string attention = layer + names.attention + ".";
  out.align();
  if (c.fused_qkv) {
    out.add(attention + "qkv_proj.weight", {c.qkv_width(), c.width}, true);
  } else {
    out.add(attention + "q_proj.weight", {(c.gated_attention ? 2 : 1) * c.q_width(index), c.width}, true);
    out.add(attention + "k_proj.weight", {c.kv_width(index), c.width}, true);
    if (!c.keys_are_values(index)) out.add(attention + "v_proj.weight", {c.kv_width(index), c.width}, true);
    if (c.has_beside(index)) out.add(layer + "mamba.in_proj.weight", {c.delta.inputs(), c.width}, true);
  }
  if (c.qkv_bias) {
    out.start(attention + "q_proj.bias", {c.q_width()});
    out.add(attention + "k_proj.bias", {c.kv_width()});
    out.add(attention + "v_proj.bias", {c.kv_width()});
  }
  if (c.qk_norm) {
    out.align();
    out.add(attention + names.q_norm + ".weight", {c.q_norm_width(index)});
    out.start(attention + names.k_norm + ".weight", {c.k_norm_width(index)});
  }
}

void add_convolution(Layout& out, const ModelConfig& c, const std::string& prefix) {
  out.start(prefix + "in_proj.weight", {c.delta.inputs(), c.width}, true);
  out.start(prefix + "conv.weight", {c.delta.channels(), 1, c.delta.taps});
  out.start(prefix + "out_proj.weight", {c.width, c.delta.values()}, true);
}

/// Adds all but the matrix of the projections.
void add_mamba(Layout& out, const ModelConfig& c, const std::string& prefix) {
  const kernels::DeltaSizes& s = c.delta;
  out.start(prefix + "conv1d.weight", {s.channels(), 1, s.taps});
  out.start(prefix + "conv1d.bias", {s.channels()});
  for (const char* name : {"A_log", "dt_bias", "D"}) out.start(prefix + name, {s.value_heads});
  if (s.norms > 0) out.start(prefix + "norm.weight", {s.norm_width()});
  out.start(prefix + "out_proj.weight", {c.width, s.values()}, true);
}

void add_linear_attention(Layout& out, const ModelConfig& c, const std::string& layer) {
  const kernels::DeltaSizes& s = c.delta;
  if (s.is_convolution()) return add_convolution(out, c, layer + "conv.");
  if (s.mamba) {
    const std::string mamba = layer + layer_names(c).mamba + ".";
    out.start(mamba + "in_proj.weight", {s.inputs(), c.width}, true);
    return add_mamba(out, c, mamba);
  }
  const std::string prefix = layer + "linear_attn.";
  out.align();
  if (c.delta_by_head) {
    out.add(prefix + "in_proj_qkvz.weight", {s.channels() + s.values(), c.width}, true);
    out.add(prefix + "in_proj_ba.weight", {2 * s.value_heads, c.width}, true);
  } else {
    out.add(prefix + "in_proj_qkv.weight", {s.channels(), c.width}, true);
    out.add(prefix + "in_proj_z.weight", {s.values(), c.width}, true);
    out.add(prefix + "in_proj_b.weight", {s.value_heads, c.width}, true);
    out.add(prefix + "in_proj_a.weight", {s.value_heads, c.width}, true);
  }
  out.start(prefix + "conv1d.weight", {s.channels(), 1, s.taps});
  out.start(prefix + "A_log", {s.value_heads});
  out.start(prefix + "dt_bias", {s.value_heads});
  out.start(prefix + "norm.weight", {s.value_dim});
  out.start(prefix + "out_proj.weight", {c.width, s.values()}, true);
}

void add_attention(Layout& out, const ModelConfig& c, int64_t index, const std::string& layer) {
  const LayerNames names = layer_names(c);
  const std::string attention = layer + names.attention + ".";
  add_projections(out, c, index, layer);
  out.align();
  if (c.sinks) out.add(attention + "sinks", {c.heads});
  out.start(attention + names.attn_out + ".weight", {c.width, c.q_width(index)}, true);
  out.align();
  if (c.o_bias) out.add(attention + "o_proj.bias", {c.width});
  if (c.has_beside(index)) add_mamba(out, c, layer + "mamba.");
}

void add_mlp(Layout& out, const ModelConfig& c, const LayerNames& names, const std::string& mlp, int64_t width) {
  if (width == 0) return;
  out.align();
  if (c.fused_gate_up) {
    out.add(mlp + names.gate_up + ".weight", {2 * width, c.width}, true);
  } else {
    if (!c.squared_relu) out.add(mlp + names.gate + ".weight", {width, c.width}, true);
    out.add(mlp + names.up + ".weight", {width, c.width}, true);
  }
  out.start(mlp + names.down + ".weight", {c.width, width}, true);
}

/// Adds each matrix as one tensor of all experts, [E, inputs, outputs].
void add_turned_experts(Layout& out, const ModelConfig& c, const std::string& experts) {
  const ExpertsConfig& e = c.experts;
  const auto one = [&](const char* name, int64_t inputs, int64_t outputs) {
    out.start(experts + name, {e.count, inputs, outputs});
    out.align();
    if (e.biases) out.add(experts + name + "_bias", {e.count, outputs});
  };
  one("gate_up_proj", c.width, 2 * e.width);
  one("down_proj", e.width, c.width);
}

/// Adds each matrix as one tensor of all experts, [E, outputs, inputs].
void add_joined_experts(Layout& out, const ModelConfig& c, const std::string& sparse) {
  const ExpertsConfig& e = c.experts;
  out.start(sparse + "input_linear.weight", {e.count, 2 * e.width, c.width});
  out.start(sparse + "output_linear.weight", {e.count, c.width, e.width});
}

/// Adds gate and up of each expert, one expert after the other, then down of each.
void add_experts(Layout& out, const ModelConfig& c, const LayerNames& names, const std::string& sparse) {
  const ExpertsConfig& e = c.experts;
  out.align();
  const std::string router = sparse + names.router + ".";
  out.add(router + "weight", {e.count, c.width}, true);
  out.align();
  if (e.shared_gate) out.add(sparse + "shared_expert_gate.weight", {1, c.width}, true);
  out.align();
  if (e.biases) out.add(router + "bias", {e.count});
  out.align();
  const std::string correction = names.correction ? sparse + names.correction : router + kCorrection;
  if (e.correction && c.names == ModelConfig::Names::kErnieMoe) out.add(correction, {1, e.count});
  else if (e.correction) out.add(correction, {e.count});
  if (e.joined) return add_joined_experts(out, c, sparse);
  if (e.turned) return add_turned_experts(out, c, sparse + "experts.");
  const auto name = [&](int64_t i, const char* part) { return sparse + "experts." + std::to_string(i) + "." + part + ".weight"; };
  out.align();
  for (int64_t i = 0; i < e.count; ++i) {
    if (!c.squared_relu) out.add(name(i, names.expert_gate), {e.width, c.width}, true);
    out.add(name(i, names.expert_up), {e.width, c.width}, true);
  }
  out.align();
  for (int64_t i = 0; i < e.count; ++i) out.add(name(i, names.expert_down), {c.width, e.width}, true);
}

void add_layer(Layout& out, const ModelConfig& c, int64_t index) {
  const std::string layer = "model.layers." + std::to_string(index) + ".";
  const LayerNames names = layer_names(c);
  const auto norm = [&](const char* name) {
    if (!name) return;
    out.start(layer + name + ".weight", {c.width});
  };
  norm(c.mixes_tokens(index) ? names.attn_before : nullptr);
  if (c.attends(index)) add_attention(out, c, index, layer);
  else if (c.is_linear(index)) add_linear_attention(out, c, layer);
  norm(names.attn_after);
  norm(c.has_mlp(index) ? names.mlp_before : nullptr);
  add_mlp(out, c, names, layer + (c.mixes(index) ? names.shared : names.mlp) + ".", c.mlp_width_of(index));
  if (c.mixes(index)) add_experts(out, c, names, layer + names.sparse + ".");
  norm(names.mlp_after);
  out.align();
  if (c.layer_scalars) out.add(layer + kScalar, {1});
}

}  // namespace

LayerNames layer_names(const ModelConfig& config) {
  using Norms = ModelConfig::Norms;
  using Names = ModelConfig::Names;
  LayerNames out{};
  if (config.names == Names::kGraniteHybrid) {
    out.mlp = out.shared = "shared_mlp", out.gate_up = "input_linear", out.down = "output_linear";
    out.sparse = "block_sparse_moe", out.router = "router.layer";
  }
  if (config.names == Names::kErnieMoe) out.correction = "moe_statics.e_score_correction_bias";
  const bool beside_router = config.names == Names::kMixtral || config.arch == "exaone_moe";
  if (beside_router && config.experts.correction) out.correction = kCorrection;
  if (config.names == Names::kMixtral) out.sparse = "block_sparse_moe", out.expert_gate = "w1", out.expert_up = "w3", out.expert_down = "w2";
  if (config.experts.shared_gate) out.shared = "mlp.shared_expert";
  if (config.names == Names::kGptOss) out.router = "router";
  if (config.qk_norm_last) out.q_norm = "query_layernorm", out.k_norm = "key_layernorm";
  if (config.names == Names::kLfm2) {
    return {.attn_before = "operator_norm", .mlp_before = "ffn_norm", .mlp = "feed_forward", .down = "w2", .sparse = "feed_forward",
            .correction = kExpertBias, .expert_gate = "w1", .expert_up = "w3", .expert_down = "w2", .gate = "w1", .up = "w3",
            .q_norm = "q_layernorm", .k_norm = "k_layernorm", .attn_out = "out_proj", .final_norm = "embedding_norm"};
  }
  if (config.names == Names::kFalconH1) {
    return {.attn_before = "input_layernorm", .mlp_before = "pre_ff_layernorm", .mlp = "feed_forward", .final_norm = "final_layernorm"};
  }
  if (config.names == Names::kNemotronH) {
    return {.attn_before = "norm", .mlp_before = "norm", .attention = "mixer", .mamba = "mixer", .embedding = "embeddings", .mlp = "mixer", .sparse = "mixer",
            .shared = "mixer.shared_experts", .final_norm = "norm_f"};
  }
  if (config.norms_before()) out.attn_before = "input_layernorm";
  if (config.norms_mlp()) out.mlp_before = "post_attention_layernorm";
  if (config.norms == Norms::kBefore) return out;
  out.attn_after = "post_attention_layernorm", out.mlp_after = "post_feedforward_layernorm";
  if (config.norms == Norms::kAfter) return out;
  if (config.names == Names::kGlm4) out.attn_after = "post_self_attn_layernorm", out.mlp_after = "post_mlp_layernorm";
  else out.mlp_before = "pre_feedforward_layernorm";
  return out;
}

std::vector<TensorSpec> tensor_specs(const ModelConfig& config) {
  std::vector<TensorSpec> specs;
  Layout out(specs);
  out.add(std::string("model.") + layer_names(config).embedding + ".weight", {config.vocabulary, config.width});
  for (int64_t i = 0; i < config.layers; ++i) add_layer(out, config, i);
  out.start(std::string("model.") + layer_names(config).final_norm + ".weight", {config.width});
  if (!config.tied_head) {
    out.start("lm_head.weight", {config.vocabulary, config.width});
  }
  return specs;
}

bool is_frozen(const TensorSpec& spec) { return spec.name.ends_with(kCorrection) || spec.name.ends_with(kExpertBias) || spec.name.ends_with(kScalar); }

bool is_decayed(const TensorSpec& spec) {
  const size_t rank = spec.shape.size();
  return (rank == 2 && !spec.name.ends_with("_bias")) || (rank == 3 && (is_joined(spec) || spec.name.find(".experts.") != std::string::npos));
}

bool is_joined(const TensorSpec& spec) { return spec.shape.size() == 3 && spec.name.find(".block_sparse_moe.") != std::string::npos; }

}  // namespace hone::model
