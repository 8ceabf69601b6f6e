#include "model/layer.h"

#include <algorithm>
#include <utility>

#include "core/device.h"
#include "kernels/axpby.h"
#include "kernels/head_gate.h"
#include "kernels/rms_norm.h"
#include "kernels/rounding.h"
#include "kernels/short_conv.h"
#include "kernels/swiglu.h"
#include "model/activation.h"

namespace hone::model {

TensorView head_view(const TensorView& matrix, int64_t first, int64_t count, int64_t dim) {
  TensorView view(matrix.as<std::byte>() + first * dtype_bytes(matrix.dtype), matrix.dtype, {matrix.dim(0), count, dim});
  view.row_stride = matrix.row_stride;
  return view;
}

std::vector<int64_t> qkv_widths(const ModelConfig& c) { return {c.q_width(), c.kv_width(), c.kv_width()}; }

HeadViews heads_of(const ModelConfig& c, int64_t layer, const TensorView& qkv, int64_t share) {
  const int64_t H = c.heads / share, K = c.kv_heads_of(layer) / share, D = c.head_dim_of(layer);
  return {head_view(qkv, 0, H, D), head_view(qkv, H * D, K, D), head_view(qkv, (H + K) * D, K, D)};
}

TensorView ones(Arena& arena, int64_t n) {
  const TensorView view = arena.take_view(DType::kF32, {n});
  std::fill_n(view.as<float>(), n, 1.0f);
  return view;
}

TensorView as_matrix(const TensorView& heads) { return {heads.data, heads.dtype, {heads.dim(0), heads.dim(1) * heads.dim(2)}}; }

TensorView column_view(const TensorView& matrix, int64_t first, int64_t count) {
  TensorView view(matrix.as<std::byte>() + first * dtype_bytes(matrix.dtype), matrix.dtype, {matrix.dim(0), count});
  view.row_stride = matrix.row_stride;
  return view;
}

TensorView linear_columns(const ModelConfig& c, int64_t layer, const TensorView& qkv) {
  return c.has_beside(layer) ? column_view(qkv, c.qkv_width(layer), c.delta.inputs()) : qkv;
}

namespace {

/// The next columns of a matrix, and their factor.
struct Scaled {
  int64_t count;
  double factor;
};
void scale_columns(const Stream& stream, const TensorView& matrix, std::initializer_list<Scaled> parts) {
  int64_t first = 0;
  for (const auto& [count, factor] : parts) {
    const TensorView columns = column_view(matrix, first, count);
    if (factor != 1.0) kernels::axpby(stream, {.x = columns, .a = float(factor), .y = columns});
    first += count;
  }
}

}  // namespace

void scale_entering(const Stream& stream, const ModelConfig& c, int64_t layer, const TensorView& qkv) {
  const Multipliers& m = c.multipliers;
  if (m == Multipliers()) return;
  if (c.attends(layer)) scale_columns(stream, qkv, {{c.q_width(layer), m.attention_in}, {c.kv_width(layer), m.attention_in * m.key}, {c.kv_width(layer), m.attention_in * m.attention_out}});
  if (!c.is_linear(layer)) return;
  const auto of = [&](size_t part) { return m.linear_in * m.linear[part]; };
  const kernels::DeltaSizes& s = c.delta;
  scale_columns(stream, linear_columns(c, layer, qkv), {{s.values(), of(0)}, {s.values(), of(1)}, {s.keys(), of(2)}, {s.keys(), of(3)}, {s.value_heads, of(4)}});
}

void scale_gate_up(const Stream& stream, const ModelConfig& c, const TensorView& gate_up) {
  const int64_t F = gate_up.dim(1) / 2;
  scale_columns(stream, gate_up, {{F, c.multipliers.gate}, {F, c.multipliers.down}});
}

TensorView of_width(const TensorView& buffer, int64_t width) { return {buffer.data, buffer.dtype, {buffer.dim(0), width}}; }

void norm_rows(const Stream& stream, const ModelConfig& config, const TensorView& x, const TensorView& weight, const TensorView& y) {
  kernels::rms_norm(stream, {.x = x, .weight = weight, .y = y, .eps = config.norm_eps, .offset = config.norm_offset, .centered = config.norm_centered});
}

namespace {

/// The input of attention or MLP: x after the norm, or x itself if the norm comes after.
const TensorView& entering(const Stream& stream, const ModelConfig& config, const TensorView& x, const TensorView& weight,
                           const LayerScratch& scratch) {
  if (!config.norms_before()) return x;
  norm_rows(stream, config, x, weight, scratch.normed);
  return scratch.normed;
}

/// Norms q and k over all their heads at once. (prepare_heads does so for each head.)
void norm_whole(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const TensorView& qkv) {
  const TensorView q = column_view(qkv, 0, config.q_width()), k = column_view(qkv, config.q_width(), config.kv_width());
  kernels::rms_norm(stream, {.x = q, .weight = weights.q_norm, .y = q, .eps = config.norm_eps, .offset = config.norm_offset});
  kernels::rms_norm(stream, {.x = k, .weight = weights.k_norm, .y = k, .eps = config.norm_eps, .offset = config.norm_offset});
}

/// Norms every head of v by itself; before that v may be a copy of k.
void norm_values(const Stream& stream, const ModelConfig& config, const TensorView& v, Arena* ops) {
  const int64_t mark = ops->mark();
  kernels::rms_norm(stream, {.x = v, .weight = ones(*ops, v.dim(2)), .y = v, .eps = config.norm_eps});
  ops->release(mark);
}

/// Norms and rotation of q and k in act.qkv, without a place for keys and values.
kernels::PrepareHeadsArgs prepared_heads(const ModelConfig& config, const PackedLayer& weights, const TensorView& positions,
                                         const TensorView& rope_table, int64_t layer, const LayerActivations& act) {
  const int64_t H = config.heads, K = config.kv_heads_of(layer), D = config.head_dim_of(layer);
  return {.qk = head_view(act.qkv, 0, H + K, D),
          .v = head_view(act.qkv, (H + K) * D, K, D),
          .q_norm = config.qk_norm_whole ? TensorView{} : weights.q_norm,
          .k_norm = config.qk_norm_whole ? TensorView{} : weights.k_norm,
          .eps = config.norm_eps,
          .positions = positions,
          .table = rope_table,
          .norm_offset = config.norm_offset,
          .interleaved = config.rope.interleaved,
          .norm_last = config.qk_norm_last};
}

/// The end of a half: out += factor norm(product). `kept` holds the product for the backward, if it is wanted.
struct Ending {
  TensorView norm, kept, out;
};
/// Where the last matrix product of attention or MLP writes: it adds to `out` directly, unless its result is
/// normed or scaled first.
TensorView product_of(const ModelConfig& config, const Ending& half, const LayerScratch& scratch) {
  if (!config.adds_apart()) return half.out;
  return half.kept.empty() ? scratch.added : half.kept;
}
void add_half(const Stream& stream, const ModelConfig& config, const Ending& half, const LayerScratch& scratch) {
  if (!config.adds_apart()) return;
  const TensorView product = product_of(config, half, scratch);
  TensorView added = product;
  if (config.norms_after()) {
    added = scratch.normed;
    norm_rows(stream, config, product, half.norm, added);
  }
  kernels::axpby(stream, {.x = added, .a = config.residual_scale, .y = half.out, .b = 1.0f});
}

/// The recurrence of gated DeltaNet or Mamba-2, or a short convolution: writes y from the columns x of act.qkv.
void mix_linear(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const TensorView& x, const kernels::DeltaRuns& runs,
                const TensorView& y, Arena* ops) {
  if (config.delta.is_convolution()) return kernels::short_conv(stream, {.x = x, .conv = weights.delta.conv, .runs = runs, .y = y, .scratch = ops});
  if (!config.delta.mamba) {
    return kernels::delta_rule(stream, {.x = x, .weights = weights.delta, .runs = runs, .y = y, .sizes = config.delta, .eps = config.norm_eps, .scratch = ops});
  }
  kernels::mamba(stream, {.x = x, .weights = weights.delta, .runs = runs, .y = y, .sizes = config.delta, .steps = config.steps, .eps = config.norm_eps, .scratch = ops});
  if (config.multipliers.linear_out != 1.0) kernels::axpby(stream, {.x = y, .a = float(config.multipliers.linear_out), .y = y});
}

/// The projections of gated DeltaNet, Mamba-2 or a short convolution.
void project_linear(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const TensorView& x, const LayerActivations& act, Arena* ops) {
  const int64_t mark = ops->mark();
  const TensorView made = config.delta_by_head ? ops->take_view(act.qkv.dtype, {x.dim(0), weights.qkv.n}) : act.qkv;
  kernels::linear(stream, {.x = x, .w = weights.qkv, .bias = {}, .y = made, .scratch = ops});
  if (config.delta_by_head) kernels::delta_columns_by_kind(stream, {made, act.qkv, config.delta});
  ops->release(mark);
}

/// Computes q, k and v into act.qkv, and the heads' gates into act.gates.
void project_gated(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const TensorView& x,
                   const LayerActivations& act, Arena* ops) {
  const int64_t mark = ops->mark();
  const TensorView joined = ops->take_view(act.qkv.dtype, {x.dim(0), weights.qkv.n});
  kernels::linear(stream, {.x = x, .w = weights.qkv, .bias = {}, .y = joined, .scratch = ops});
  kernels::split_gated_heads(stream, {joined, act.qkv, act.gates, config.head_dim});
  ops->release(mark);
}

}  // namespace

TensorView LayerActivations::mixed() const { return gated.empty() ? as_matrix(attn_out) : gated; }

void layer_attention(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, int64_t layer,
                     const TensorView& positions, const TensorView& rope_table, AttentionSource& attention,
                     const LayerActivations& act, const LayerScratch& scratch) {
  const int64_t H = config.heads, K = config.kv_heads_of(layer), D = config.head_dim_of(layer);
  if (!config.mixes_tokens(layer)) return;
  const TensorView& x = entering(stream, config, act.input, weights.attn_norm, scratch);
  if (!config.attends(layer)) {
    project_linear(stream, config, weights, x, act, scratch.ops);
    scale_entering(stream, config, layer, act.qkv);
    return mix_linear(stream, config, weights, act.qkv, attention.runs(layer), as_matrix(act.attn_out), scratch.ops);
  }
  const int64_t made = config.held_width(layer) - (config.keys_are_values(layer) ? K * D : 0);
  const kernels::LinearArgs product{.x = x, .w = weights.qkv, .bias = weights.qkv_bias, .y = column_view(act.qkv, 0, made), .scratch = scratch.ops};
  kernels::PrepareHeadsArgs heads = prepared_heads(config, weights, positions, rope_table, layer, act);
  heads.to = attention.place(layer);
  const bool between = config.has_beside(layer) || config.multipliers != Multipliers();  // more is done before norms and rotation
  if (act.qk_raw.empty() && !config.qk_norm_whole && !config.gated_attention && !config.value_norm && !between) {
    kernels::linear_heads(stream, {product, heads});
  } else {
    if (config.gated_attention) project_gated(stream, config, weights, x, act, scratch.ops);
    else kernels::linear(stream, product);
    scale_entering(stream, config, layer, act.qkv);
    if (config.keys_are_values(layer)) copy_rows(stream, column_view(act.qkv, H * D, K * D), column_view(act.qkv, (H + K) * D, K * D));
    if (!act.qk_raw.empty()) copy_rows(stream, column_view(act.qkv, 0, config.raw_width(layer)), act.qk_raw);
    if (config.value_norm) norm_values(stream, config, heads.v, scratch.ops);
    if (config.qk_norm_whole) norm_whole(stream, config, weights, act.qkv);
    kernels::prepare_heads(stream, heads);
  }
  attention.attend(stream, layer, head_view(act.qkv, 0, H, D), head_view(act.qkv, H * D, K, D), heads.v, weights.sinks, act.attn_out, act.lse);
  if (!act.v.empty()) copy_rows(stream, column_view(act.qkv, (H + K) * D, K * D), act.v);
  if (config.gated_attention) kernels::head_gate(stream, {as_matrix(act.attn_out), act.gates, act.gated});
  if (config.has_beside(layer)) mix_linear(stream, config, weights, linear_columns(config, layer, act.qkv), attention.runs(layer), act.beside, scratch.ops);
}

void restore_heads(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const TensorView& positions,
                   const TensorView& rope_table, const LayerActivations& act, bool round_keys) {
  const int64_t raw = config.q_width() + config.kv_width();
  const kernels::PrepareHeadsArgs heads = prepared_heads(config, weights, positions, rope_table, 0, act);
  copy_rows(stream, act.qk_raw, column_view(act.qkv, 0, raw));
  if (config.qk_norm_whole) norm_whole(stream, config, weights, act.qkv);
  kernels::prepare_heads(stream, heads);
  if (round_keys) kernels::round_to_bf16(stream, head_view(act.qkv, config.q_width(), config.kv_heads, config.head_dim));
  copy_rows(stream, act.v, column_view(act.qkv, raw, config.kv_width()));
}

namespace {

/// Computes, from their input x, what MLP and experts store for the backward; with `whole` also scratch.mlp,
/// the MLP's inner values.
void layer_inner(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const TensorView& x,
                 const LayerActivations& act, const LayerScratch& scratch, bool whole) {
  if (weights.router.n > 0) enter_experts(stream, config, weights, x, act.experts, *scratch.ops);
  const int64_t F = weights.down.k;
  if (F == 0) return;
  const TensorView gate_up = of_width(act.gate_up, weights.gate_up.n);
  const bool scaled = config.multipliers != Multipliers(), apart = scaled || config.squared_relu;
  if (!whole || apart) kernels::linear(stream, {.x = x, .w = weights.gate_up, .bias = {}, .y = gate_up, .scratch = scratch.ops});
  if (scaled) scale_gate_up(stream, config, gate_up);
  if (!whole) return;
  if (apart) activate(stream, config, gate_up, of_width(scratch.mlp, F));
  else kernels::linear_swiglu(stream, {.x = x, .w = weights.gate_up, .gate_up = gate_up, .y = of_width(scratch.mlp, F), .gelu = config.gelu, .keep = act.kept, .scratch = scratch.ops});
  if (weights.shared_gate.n > 0) kernels::row_gate(stream, {act.experts.shared, of_width(scratch.mlp, F)});
}

/// Multiplies layer_inner's results by the last matrices of MLP and experts; writes to `product`, or adds to
/// it.
void layer_products(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const LayerActivations& act,
                    const LayerScratch& scratch, const TensorView& product, bool accumulate) {
  const int64_t F = weights.down.k;
  if (F > 0) {
    kernels::linear(stream, {.x = of_width(scratch.mlp, F), .w = weights.down, .bias = {}, .y = product, .accumulate = accumulate, .scratch = scratch.ops});
  } else if (!accumulate) {
    zero(stream, product.data, product.numel() * dtype_bytes(product.dtype));
  }
  if (weights.router.n > 0) leave_experts(stream, config, weights, act.experts, product, *scratch.ops);
}

/// layer_output of a layer whose halves both read norm(act.middle). What it adds goes to `out`: the backward reads act.middle.
void parallel_output(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const LayerActivations& act,
                     const LayerScratch& scratch, const TensorView& out) {
  layer_inner(stream, config, weights, entering(stream, config, act.middle, weights.attn_norm, scratch), act, scratch, !out.empty());
  if (out.empty()) return;
  copy_rows(stream, act.middle, out);
  kernels::linear(stream, {.x = act.attn_rows, .w = weights.o, .bias = weights.o_bias, .y = out, .accumulate = true, .scratch = scratch.ops});
  layer_products(stream, config, weights, act, scratch, out, true);
}

/// Adds the products of attention, and of what is beside it, to act.middle.
void attention_output(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const LayerActivations& act, const LayerScratch& scratch) {
  const Ending attended{weights.attn_after, act.attn_added, act.middle};
  const TensorView y = product_of(config, attended, scratch);
  kernels::linear(stream, {.x = act.attn_rows, .w = weights.o, .bias = weights.o_bias, .y = y, .accumulate = !config.adds_apart(), .scratch = scratch.ops});
  if (weights.o_beside.n > 0) kernels::linear(stream, {.x = act.beside_rows, .w = weights.o_beside, .bias = {}, .y = y, .accumulate = true, .scratch = scratch.ops});
  add_half(stream, config, attended, scratch);
}

}  // namespace

void layer_output(const Stream& stream, const ModelConfig& config, const PackedLayer& weights,
                  const LayerActivations& act, const LayerScratch& scratch, const TensorView& out) {
  if (config.parallel) return parallel_output(stream, config, weights, act, scratch, out);
  const bool apart = config.adds_apart();
  const Ending ending{weights.mlp_after, act.mlp_added, out};
  if (weights.o.n > 0) attention_output(stream, config, weights, act, scratch);
  if (weights.down.n == 0 && weights.router.n == 0) return out.empty() ? void() : copy_rows(stream, act.middle, out);
  const TensorView& x = entering(stream, config, act.middle, weights.mlp_norm, scratch);
  const bool whole = !out.empty() || !act.mlp_added.empty();
  layer_inner(stream, config, weights, x, act, scratch, whole);
  if (!whole) return;
  if (out.empty()) return layer_products(stream, config, weights, act, scratch, act.mlp_added, false);
  copy_rows(stream, act.middle, out);
  layer_products(stream, config, weights, act, scratch, product_of(config, ending, scratch), !apart);
  add_half(stream, config, ending, scratch);
  if (!weights.scalar.empty()) kernels::axpby(stream, {.x = out, .a = *weights.scalar.as<float>(), .y = out});
}

void layer_forward(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, int64_t layer,
                   const TensorView& positions, const TensorView& rope_table, AttentionSource& attention,
                   const LayerActivations& act, const LayerScratch& scratch, const TensorView& out) {
  layer_attention(stream, config, weights, layer, positions, rope_table, attention, act, scratch);
  copy_rows(stream, act.input, act.middle);
  layer_output(stream, config, weights, act, scratch, out);
}

int64_t gated_heads_bytes(const Stream& stream, const ModelConfig& c, int64_t rows) {
  const DType type = activation_dtype(stream);
  return c.gated_attention ? Arena::view_bytes(type, rows * c.qkv_width()) + Arena::view_bytes(type, rows * c.q_width()) : 0;
}

int64_t delta_columns_bytes(const Stream& stream, const ModelConfig& c, int64_t rows) {
  return c.delta_by_head ? Arena::view_bytes(activation_dtype(stream), rows * c.delta.inputs()) : 0;
}

int64_t layer_ops_bytes(const Stream& stream, const ModelConfig& c, int64_t rows) {
  int64_t most = 0;
  const int64_t F = c.widest_mlp();
  const auto product = [&](int64_t n, int64_t k) {
    most = std::max({most, kernels::linear_scratch_bytes(stream, rows, n, k), kernels::linear_scratch_bytes(stream, rows, k, n)});
  };
  product(c.gate_up_width(F), c.width), product(c.width, F);
  for (int64_t l = 0; l < (c.has_kinds() ? c.layers : 1); ++l) product(c.in_width(l), c.width), product(c.width, c.mixed_width(l)), product(c.width, c.beside_width(l));
  if (c.value_norm) most = std::max(most, 2 * Arena::view_bytes(DType::kF32, std::max(c.head_dim, c.full_head_dim)));
  most += std::max(gated_heads_bytes(stream, c, rows), delta_columns_bytes(stream, c, rows));
  most = std::max(most, expert_scratch_bytes(stream, c, rows));
  if (!c.is_hybrid()) return most;
  const int64_t mixing = c.delta.is_convolution() ? kernels::short_conv_scratch_bytes(stream, rows, c.delta.channels(), c.delta.taps)
                         : c.delta.mamba          ? kernels::mamba_scratch_bytes(rows, c.delta)
                                                  : kernels::delta_rule_scratch_bytes(stream, rows, c.delta);
  return std::max(most, mixing);
}

int64_t layer_gradient_bytes(const Stream& stream, const ModelConfig& c, int64_t rows) {
  const bool rounds = c.experts.shared_gate && stream.is_cuda();  // the gradient of the shared MLP's gate
  const int64_t ops = layer_ops_bytes(stream, c, rows) + (rounds ? Arena::view_bytes(activation_dtype(stream), rows) : 0);
  if (c.delta.is_convolution() || c.delta.mamba) return ops;
  return std::max(ops, kernels::delta_rule_grad_scratch_bytes(stream, rows, c.delta));
}

void check_positions(const TensorView& positions, int64_t most) {
  const int32_t* at = positions.as<int32_t>();
  for (int64_t r = 0; r < positions.dim(0); ++r) {
    if (at[r] >= 0 && at[r] < most) continue;
    fail(Code::kShape, "forward: position %d of row %lld is outside [0, %lld): raise max_position_embeddings.", at[r],
         (long long)r, (long long)most);
  }
}

}  // namespace hone::model
