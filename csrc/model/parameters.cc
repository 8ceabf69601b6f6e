#include "model/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "core/device.h"
#include "core/philox.h"

namespace hone::model {
namespace {

bool ends_with(const std::string& text, const char* tail) {
  const size_t n = std::strlen(tail);
  return text.size() >= n && text.compare(text.size() - n, n, tail) == 0;
}

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

int64_t parameter_bytes(const ModelConfig& config, DType dtype) {
  return Arena::view_bytes(dtype, total_elements(tensor_specs(config)));
}

LayerViews LayerViews::moved(const std::function<TensorView(const TensorView&)>& move) const {
  LayerViews out = *this;
  for (TensorView* view : {&out.attn_norm, &out.qkv, &out.qkv_bias, &out.q_norm, &out.k_norm, &out.sinks, &out.o, &out.o_bias, &out.o_beside, &out.attn_after,
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
    v.attn_norm = vector(c.norms_before() && c.mixes_tokens(i), c.width);
    const bool linear = c.is_linear(i);
    const bool convolution = linear && c.delta.is_convolution(), mamba = linear && c.delta.mamba;
    const bool attends = c.attends(i);
    const int matrices_alone = convolution || mamba ? 1 : c.delta_by_head ? 2 : 4;
    if (c.mixes_tokens(i)) v.qkv = typed(next(size_t(!attends ? matrices_alone : c.fused_qkv ? 1 : c.keys_are_values(i) ? 2 : 3 + c.has_beside(i))), {c.in_width(i), c.width});
    if (attends) {
      v.qkv_bias = vector(c.qkv_bias, c.qkv_width(), 3);
      v.q_norm = vector(c.qk_norm, c.q_norm_width(i));
      v.k_norm = vector(c.qk_norm, c.k_norm_width(i));
      v.sinks = vector(c.sinks, c.heads);
      v.o = typed(next(), {c.width, c.q_width(i)});
      v.o_bias = vector(c.o_bias, c.width);
    }
    if (linear) v.delta.conv = typed(next(), {c.delta.channels(), c.delta.taps});
    if (linear && !convolution) {
      v.delta.conv_bias = vector(mamba, c.delta.channels());
      v.delta.decay = typed(next(), {c.delta.value_heads});
      v.delta.dt = typed(next(), {c.delta.value_heads});
      v.delta.skip = vector(mamba, c.delta.value_heads);
      v.delta.norm = vector(c.delta.norm_width() > 0, c.delta.norm_width());
    }
    if (linear) (attends ? v.o_beside : v.o) = typed(next(), {c.width, c.delta.values()});
    v.attn_after = vector(c.norms_after(), c.width);
    v.mlp_norm = vector(c.norms_mlp() && c.has_mlp(i), c.width);
    if (const int64_t F = c.mlp_width_of(i)) {
      v.gate_up = typed(next(c.fused_gate_up || c.squared_relu ? 1 : 2), {c.gate_up_width(F), c.width});
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
      v.experts_gate_up = matrices(c.gate_up_width(e.width), c.width, (c.squared_relu ? 1 : 2) * e.count);
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
