#include "model/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "core/device.h"
#include "core/philox.h"

namespace hone::model {
namespace {

constexpr const char* kCorrection = "e_score_correction_bias";
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

void add_projections(Layout& out, const ModelConfig& c, int64_t index, const std::string& attention) {
  out.align();
  if (c.fused_qkv) {
    out.add(attention + "qkv_proj.weight", {c.qkv_width(), c.width}, true);
  } else {
    out.add(attention + "q_proj.weight", {(c.gated_attention ? 2 : 1) * c.q_width(index), c.width}, true);
    out.add(attention + "k_proj.weight", {c.kv_width(index), c.width}, true);
    if (!c.keys_are_values(index)) out.add(attention + "v_proj.weight", {c.kv_width(index), c.width}, true);
  }
  if (c.qkv_bias) {
    out.start(attention + "q_proj.bias", {c.q_width()});
    out.add(attention + "k_proj.bias", {c.kv_width()});
    out.add(attention + "v_proj.bias", {c.kv_width()});
  }
  if (c.qk_norm) {
    out.align();
    const LayerNames names = layer_names(c);
    out.add(attention + names.q_norm + ".weight", {c.q_norm_width(index)});
    out.start(attention + names.k_norm + ".weight", {c.k_norm_width(index)});
  }
}

void add_convolution(Layout& out, const ModelConfig& c, const std::string& prefix) {
  out.start(prefix + "in_proj.weight", {c.delta.inputs(), c.width}, true);
  out.start(prefix + "conv.weight", {c.delta.channels(), 1, c.delta.taps});
  out.start(prefix + "out_proj.weight", {c.width, c.delta.values()}, true);
}

void add_mamba(Layout& out, const ModelConfig& c, const std::string& prefix) {
  const kernels::DeltaSizes& s = c.delta;
  out.start(prefix + "in_proj.weight", {s.inputs(), c.width}, true);
  out.start(prefix + "conv1d.weight", {s.channels(), 1, s.taps});
  out.start(prefix + "conv1d.bias", {s.channels()});
  for (const char* name : {"A_log", "dt_bias", "D"}) out.start(prefix + name, {s.value_heads});
  out.start(prefix + "norm.weight", {s.norm_width()});
  out.start(prefix + "out_proj.weight", {c.width, s.values()}, true);
}

void add_linear_attention(Layout& out, const ModelConfig& c, const std::string& layer) {
  const kernels::DeltaSizes& s = c.delta;
  if (s.is_convolution()) return add_convolution(out, c, layer + "conv.");
  if (s.mamba) return add_mamba(out, c, layer + "mamba.");
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
  add_projections(out, c, index, layer + "self_attn.");
  out.align();
  if (c.sinks) out.add(layer + "self_attn.sinks", {c.heads});
  out.start(layer + "self_attn." + layer_names(c).attn_out + ".weight", {c.width, c.q_width(index)}, true);
  out.align();
  if (c.o_bias) out.add(layer + "self_attn.o_proj.bias", {c.width});
}

void add_mlp(Layout& out, const ModelConfig& c, const LayerNames& names, const std::string& mlp, int64_t width) {
  if (width == 0) return;
  out.align();
  if (c.fused_gate_up) {
    out.add(mlp + names.gate_up + ".weight", {2 * width, c.width}, true);
  } else {
    out.add(mlp + names.gate + ".weight", {width, c.width}, true);
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
  if (e.correction) out.add(router + kCorrection, {e.count});
  if (e.joined) return add_joined_experts(out, c, sparse);
  if (e.turned) return add_turned_experts(out, c, sparse + "experts.");
  const auto name = [&](int64_t i, const char* part) { return sparse + "experts." + std::to_string(i) + "." + part + ".weight"; };
  out.align();
  for (int64_t i = 0; i < e.count; ++i) {
    out.add(name(i, names.expert_gate), {e.width, c.width}, true);
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
  norm(names.attn_before);
  c.is_linear(index) ? add_linear_attention(out, c, layer) : add_attention(out, c, index, layer);
  norm(names.attn_after);
  norm(names.mlp_before);
  add_mlp(out, c, names, layer + (c.mixes(index) ? names.shared : names.mlp) + ".", c.mlp_width_of(index));
  if (c.mixes(index)) add_experts(out, c, names, layer + names.sparse + ".");
  norm(names.mlp_after);
  out.align();
  if (c.layer_scalars) out.add(layer + kScalar, {1});
}

bool ends_with(const std::string& text, const char* tail) {
  const size_t n = std::strlen(tail);
  return text.size() >= n && text.compare(text.size() - n, n, tail) == 0;
}

/// Whether a tensor is [E, outputs, inputs], one matrix of all experts.
bool is_joined(const TensorSpec& spec) { return spec.shape.size() == 3 && spec.name.find(".block_sparse_moe.") != std::string::npos; }

/// Standard deviation of a tensor's initial values; 0 stands for a constant (norms, biases and other
/// vectors).
double initial_deviation(const TensorSpec& spec, const ModelConfig& config) {
  if (spec.shape.size() == 1 || ends_with(spec.name, "_bias")) return 0.0;
  const bool turned = config.experts.turned && spec.shape.size() == 3, joined = is_joined(spec);
  if (!spec.matrix && !turned && !joined) return 0.02;
  const double deviation = 1.0 / std::sqrt(double(spec.shape[joined ? 2 : 1]));
  const LayerNames names = layer_names(config);
  const auto is = [&](const char* name) { return ends_with(spec.name, (std::string(name) + ".weight").c_str()); };
  const bool residual = (turned && ends_with(spec.name, "down_proj")) || is("o_proj") || is("out_proj") || is(names.down) || (config.mixes() && is(names.expert_down));
  return residual ? deviation / std::sqrt(2.0 * double(config.layers)) : deviation;
}

/// Number of blocks of four numbers that a thread draws at a time, which takes about a tenth of a
/// millisecond.
constexpr int64_t kNormalGrain = 1024;

/// Fills blocks [begin, end), of four numbers each, with normally distributed numbers: two per two Philox
/// words (Box-Muller in f64).
void fill_normal(float* out, int64_t n, int64_t begin, int64_t end, double deviation, uint64_t seed, uint32_t tensor) {
  for (int64_t block = begin; block < end; ++block) {
    const auto words = philox4x32({uint32_t(block), uint32_t(uint64_t(block) >> 32), tensor, 0x494e4954u},
                                  {uint32_t(seed), uint32_t(seed >> 32)});
    for (int pair = 0; pair < 2; ++pair) {
      const double radius = deviation * std::sqrt(-2.0 * std::log(open_closed_u32(words[size_t(2 * pair)])));
      const double angle = 2.0 * std::numbers::pi * double(words[size_t(2 * pair + 1)]) * 0x1p-32;
      const int64_t at = 4 * block + 2 * pair;
      if (at < n) out[at] = float(radius * std::cos(angle));
      if (at + 1 < n) out[at + 1] = float(radius * std::sin(angle));
    }
  }
}

/// The initial value of the elements of a vector that is not random.
float constant_of(const TensorSpec& spec, const ModelConfig& config) {
  if (ends_with(spec.name, ".bias") || ends_with(spec.name, "_proj_bias") || ends_with(spec.name, ".sinks")) return 0.0f;
  const bool plain = ends_with(spec.name, "linear_attn.norm.weight") || ends_with(spec.name, "dt_bias");
  return plain ? 1.0f : 1.0f - config.norm_offset;
}

/// Fills a vector with logarithms of rates that are uniform in (0, 16], the distribution that transformers
/// uses.
void fill_rates(float* out, int64_t n, uint64_t seed, uint32_t tensor) {
  for (int64_t i = 0; i < n; ++i) {
    const auto words = philox4x32({uint32_t(i), 0, tensor, 0x52415445u}, {uint32_t(seed), uint32_t(seed >> 32)});
    out[i] = float(std::log(16.0 * open_closed_u32(words[0])));
  }
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
  if (config.names == Names::kMixtral) out.sparse = "block_sparse_moe", out.expert_gate = "w1", out.expert_up = "w3", out.expert_down = "w2";
  if (config.experts.shared_gate) out.shared = "mlp.shared_expert";
  if (config.names == Names::kGptOss) out.router = "router";
  if (config.qk_norm_last) out.q_norm = "query_layernorm", out.k_norm = "key_layernorm";
  if (config.names == Names::kLfm2) {
    return {.attn_before = "operator_norm", .mlp_before = "ffn_norm", .mlp = "feed_forward", .down = "w2", .gate = "w1", .up = "w3",
            .q_norm = "q_layernorm", .k_norm = "k_layernorm", .attn_out = "out_proj", .final_norm = "embedding_norm"};
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
  out.add("model.embed_tokens.weight", {config.vocabulary, config.width});
  for (int64_t i = 0; i < config.layers; ++i) add_layer(out, config, i);
  out.start(std::string("model.") + layer_names(config).final_norm + ".weight", {config.width});
  if (!config.tied_head) {
    out.start("lm_head.weight", {config.vocabulary, config.width});
  }
  return specs;
}

bool is_frozen(const TensorSpec& spec) { return ends_with(spec.name, kCorrection) || ends_with(spec.name, kScalar); }

bool is_decayed(const TensorSpec& spec) {
  const size_t rank = spec.shape.size();
  return (rank == 2 && !ends_with(spec.name, "_bias")) || (rank == 3 && (is_joined(spec) || spec.name.find(".experts.") != std::string::npos));
}

int64_t parameter_bytes(const ModelConfig& config, DType dtype) {
  return Arena::view_bytes(dtype, total_elements(tensor_specs(config)));
}

LayerViews LayerViews::moved(const std::function<TensorView(const TensorView&)>& move) const {
  LayerViews out = *this;
  for (TensorView* view : {&out.attn_norm, &out.qkv, &out.qkv_bias, &out.q_norm, &out.k_norm, &out.sinks, &out.o, &out.o_bias, &out.attn_after,
                           &out.mlp_norm, &out.gate_up, &out.down, &out.mlp_after, &out.scalar, &out.delta.conv, &out.delta.decay, &out.delta.dt,
                           &out.delta.norm, &out.delta.conv_bias, &out.delta.skip, &out.router, &out.shared_gate, &out.router_bias, &out.correction, &out.experts_gate_up, &out.experts_gate_up_bias,
                           &out.experts_down, &out.experts_down_bias}) {
    if (!view->empty()) *view = move(*view);
  }
  return out;
}

Parameters::Parameters(const ModelConfig& config, const Stream& stream)
    : TensorBlock((config.check(), config), tensor_specs(config), stream) {
  find_layers();
}

void Parameters::find_layers() {
  const ModelConfig& c = config();
  layers_.clear();
  size_t at = 1;
  const auto next = [&](size_t skip = 1) {
    void* data = static_cast<std::byte*>(base()) + specs()[at].offset * dtype_bytes(dtype());
    at += skip;
    return data;
  };
  const auto typed = [&](void* data, std::initializer_list<int64_t> dims) { return TensorView(data, dtype(), dims); };
  const auto vector = [&](bool there, int64_t n, size_t tensors = 1) { return there ? typed(next(tensors), {n}) : TensorView{}; };
  for (int64_t i = 0; i < c.layers; ++i) {
    LayerViews v;
    v.attn_norm = vector(c.norms_before(), c.width);
    const bool linear = c.is_linear(i);
    const bool convolution = linear && c.delta.is_convolution(), mamba = linear && c.delta.mamba;
    v.qkv = typed(next(convolution || mamba ? 1 : linear ? (c.delta_by_head ? 2 : 4) : c.fused_qkv ? 1 : c.keys_are_values(i) ? 2 : 3), {c.in_width(i), c.width});
    if (linear) v.delta.conv = typed(next(), {c.delta.channels(), c.delta.taps});
    if (linear && !convolution) {
      v.delta.conv_bias = vector(mamba, c.delta.channels());
      v.delta.decay = typed(next(), {c.delta.value_heads});
      v.delta.dt = typed(next(), {c.delta.value_heads});
      v.delta.skip = vector(mamba, c.delta.value_heads);
      v.delta.norm = typed(next(), {c.delta.norm_width()});
    } else if (!linear) {
      v.qkv_bias = vector(c.qkv_bias, c.qkv_width(), 3);
      v.q_norm = vector(c.qk_norm, c.q_norm_width(i));
      v.k_norm = vector(c.qk_norm, c.k_norm_width(i));
      v.sinks = vector(c.sinks, c.heads);
    }
    v.o = typed(next(), {c.width, c.mixed_width(i)});
    v.o_bias = vector(c.o_bias && !linear, c.width);
    v.attn_after = vector(c.norms_after(), c.width);
    v.mlp_norm = vector(c.norms_mlp(), c.width);
    if (const int64_t F = c.mlp_width_of(i)) {
      v.gate_up = typed(next(c.fused_gate_up ? 1 : 2), {2 * F, c.width});
      v.down = typed(next(), {c.width, F});
    }
    if (c.mixes(i)) {
      const ExpertsConfig& e = c.experts;
      v.router = typed(next(), {e.count, c.width});
      if (e.shared_gate) v.shared_gate = typed(next(), {1, c.width});
      v.router_bias = vector(e.biases, e.count);
      v.correction = vector(e.correction, e.count);
      const auto matrices = [&](int64_t outputs, int64_t inputs, int64_t tensors) {
        const int64_t rows = e.turned ? inputs : outputs, columns = e.turned ? outputs : inputs;
        return typed(next(size_t(e.turned || e.joined ? 1 : tensors)), {e.count * rows, columns});
      };
      const auto biases = [&](int64_t n) { return e.biases ? typed(next(), {e.count, n}) : TensorView{}; };
      v.experts_gate_up = matrices(2 * e.width, c.width, 2 * e.count);
      v.experts_gate_up_bias = biases(2 * e.width);
      v.experts_down = matrices(c.width, e.width, e.count);
      v.experts_down_bias = biases(c.width);
    }
    v.mlp_after = vector(c.norms_after(), c.width);
    v.scalar = vector(c.layer_scalars, 1);
    layers_.push_back(v);
  }
}

bool Parameters::store_as(DType dtype) {
  const bool stored = TensorBlock::store_as(dtype);
  find_layers();
  return stored;
}

const LayerViews& Parameters::layer(int64_t i) const { return layers_[size_t(i)]; }

TensorView Parameters::embedding() const { return view(specs().front()); }

TensorView Parameters::final_norm() const { return view(specs()[specs().size() - (config().tied_head ? 1 : 2)]); }

TensorView Parameters::head() const { return view(config().tied_head ? specs().front() : specs().back()); }

void Parameters::initialize(uint64_t seed) {
  for (size_t i = 0; i < specs().size(); ++i) {
    const TensorSpec& spec = specs()[i];
    write(view(spec), [&](const TensorView& host) {
      float* const data = host.as<float>();
      const double deviation = initial_deviation(spec, config());
      const float constant = constant_of(spec, config());
      const int64_t n = spec.numel();
      if (ends_with(spec.name, "A_log")) return fill_rates(data, n, seed, uint32_t(i));
      if (deviation <= 0.0) return void(std::fill(data, data + n, constant));
      stream().parallel_for((n + 3) / 4, kNormalGrain, [&](int64_t begin, int64_t end) {
        fill_normal(data, n, begin, end, deviation, seed, uint32_t(i));
      });
    });
  }
}

}  // namespace hone::model
