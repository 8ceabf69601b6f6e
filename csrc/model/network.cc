#include "model/network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/device.h"
#include "kernels/attention.h"
#include "kernels/axpby.h"
#include "kernels/embedding.h"
#include "kernels/experts.h"
#include "kernels/gather.h"
#include "kernels/rounding.h"
#include "model/layer.h"

namespace hone::model {
namespace {

void expect_rows(const TensorView& ids, const TensorView& positions) {
  const int64_t R = ids.dim(0);
  expect(ids, DType::kI32, {R}, "forward", "ids");
  expect(positions, DType::kI32, {R}, "forward", "positions");
}

void embed(const Stream& stream, const WeightSnapshot& weights, const TensorView& ids, const TensorView& x) {
  if (weights.embedding.empty()) kernels::packed_embedding(stream, {.ids = ids, .w = weights.head, .x = x});
  else kernels::embedding(stream, {.ids = ids, .table = weights.embedding, .x = x});
  const float scale = weights.config.embedding_scale;
  if (scale != 1.0f) kernels::axpby(stream, {.x = x, .a = scale, .y = x});
}

void final_norm(const Stream& stream, const WeightSnapshot& weights, const TensorView& x, const TensorView& hidden) {
  const ModelConfig& c = weights.config;
  norm_rows(stream, c, x, weights.final_norm, hidden);
  if (c.logits_scaling != 1.0) kernels::axpby(stream, {.x = hidden, .a = float(1.0 / c.logits_scaling), .y = hidden});
}

/// What a layer computes for this rank's own rows if ranks divide the rows, besides the activations that it
/// stores.
struct OwnRows {
  TensorView qkv;       // [T, (H+2K)D]
  TensorView attn_out;  // [T, H, D]
};

/// Attention over the keys and values of the micro-batch itself, which are rounded in place as a KV cache in
/// the weights' storage would round them. `own` and `kept` are used if ranks divide the rows.
class PackedSource final : public AttentionSource {
 public:
  PackedSource(const WeightSnapshot& weights, const PackedRows& rows, const OwnRows& own, const LayerActivations& kept)
      : config_(weights.config), rows_(rows), own_(own), kept_(kept), round_(weights.storage == DType::kBF16) {}
  void attend(const Stream& stream, int64_t layer, const TensorView& q, const TensorView& k, const TensorView& v,
              const TensorView& sinks, const TensorView& out, const TensorView& lse) override {
    if (round_ && k.dtype == DType::kF32) {  // rounds as the engine's pages do
      kernels::round_to_bf16(stream, k);
      kernels::round_to_bf16(stream, v);
    }
    if (!rows_.exchange) return attend_rows(stream, layer, {q, k, v}, sinks, out, lse);
    rows_.exchange->to_heads(stream, own_.qkv, qkv_widths(config_), kept_.qkv);
    attend_rows(stream, layer, heads_of(config_, layer, kept_.qkv, rows_.exchange->ranks()), {}, kept_.attn_out, lse);  // models with sinks have no such ranks: trainer/memory.h
    rows_.exchange->to_rows(stream, as_matrix(kept_.attn_out), {config_.q_width()}, as_matrix(own_.attn_out));
  }
  kernels::DeltaRuns runs(int64_t) override { return {rows_.cu_seqlens, nullptr}; }

 private:
  void attend_rows(const Stream& stream, int64_t layer, const HeadViews& of, const TensorView& sinks, const TensorView& out, const TensorView& lse) const {
    kernels::attention_packed(stream, {.q = of.q,
                                       .k = of.k,
                                       .v = of.v,
                                       .cu_seqlens = rows_.cu_seqlens,
                                       .out = out,
                                       .lse = lse,
                                       .scale = attention_scale(config_),
                                       .window = config_.window(layer),
                                       .deterministic = rows_.deterministic,
                                       .softcap = config_.attention_softcap,
                                       .sinks = sinks});
  }

  const ModelConfig& config_;
  const PackedRows& rows_;
  const OwnRows& own_;
  const LayerActivations& kept_;
  bool round_;
};

/// Buffers for the rows of mixed() and `beside` that the rest of a layer reads, where those are not all rows.
void take_mixed_rows(const ModelConfig& c, DType type, int64_t layer, int64_t outputs, LayerActivations& act, Arena& arena) {
  act.attn_rows = arena.take_view(type, {outputs, c.mixed_width(layer)});
  if (c.has_beside(layer)) act.beside_rows = arena.take_view(type, {outputs, c.beside_width(layer)});
}

/// Views of what attention, or what a linear layer has in its place, writes.
void take_mixing(const ModelConfig& c, DType type, int64_t layer, int64_t rows, Arena& arena, const HeadExchange* exchange, const TensorView& shared_qkv, LayerActivations& act) {
  const int64_t attended = exchange ? exchange->tokens() : rows, share = exchange ? exchange->ranks() : 1;
  const bool attends = c.attends(layer);
  if (!attends || shared_qkv.empty()) act.qkv = arena.take_view(type, {attended, c.held_width(layer) / share});
  else act.qkv = shared_qkv, act.v = arena.take_view(type, {rows, c.kv_width()});
  act.attn_out = attends ? arena.take_view(type, {attended, c.heads / share, c.head_dim_of(layer)})
                         : arena.take_view(type, {rows, c.delta.value_heads, c.delta.value_dim});
  if (c.has_beside(layer)) act.beside = act.beside_rows = arena.take_view(type, {rows, c.delta.values()});
  if (c.gated_attention && attends) {
    act.gates = arena.take_view(type, {rows, c.q_width()});
    act.gated = arena.take_view(type, {rows, c.q_width()});
  }
  act.attn_rows = act.mixed();
}

/// Views of one layer's activations; `outputs` rows go on after attention. exchange: of ranks that divide the rows, or null.
/// any_mlp: with room for the MLP and the experts of any layer. shared_qkv: LayerActivations::qkv of all layers, or empty.
LayerActivations take_layer(const ModelConfig& c, DType type, int64_t layer, int64_t rows, int64_t outputs, bool training, Arena& arena,
                            const HeadExchange* exchange = nullptr, bool any_mlp = false, const TensorView& shared_qkv = {}) {
  const bool attends = c.attends(layer), any = any_mlp && c.has_mlp(layer);
  LayerActivations act;
  if (c.mixes_tokens(layer)) take_mixing(c, type, layer, rows, arena, exchange, shared_qkv, act);
  if (const int64_t F = any ? c.widest_mlp() : c.mlp_width_of(layer)) act.gate_up = arena.take_view(type, {outputs, c.gate_up_width(F)});
  if (any ? c.mixes() : c.mixes(layer)) act.experts = take_experts(c, type, outputs, arena);
  act.kept = training;
  if (!training) return act;
  if (attends) act.lse = arena.take_view(DType::kF32, {act.attn_out.dim(0), act.attn_out.dim(1)});
  act.middle = arena.take_view(type, {outputs, c.width});
  if (c.mixes_tokens(layer) && (outputs != rows || exchange)) take_mixed_rows(c, type, layer, outputs, act, arena);
  if (c.norms_after()) {
    act.attn_added = arena.take_view(type, {outputs, c.width});
    act.mlp_added = arena.take_view(type, {outputs, c.width});
  }
  if (c.qk_norm && attends) act.qk_raw = arena.take_view(type, {rows, c.raw_width(layer)});
  return act;
}

/// Bytes of attention's (or DeltaNet's) activations: in generation all but the residual stream, in training
/// those that depend on the layer's kind.
int64_t mixing_bytes(const Stream& stream, const ModelConfig& c, int64_t layer, int64_t rows, bool training) {
  const auto bytes = [&](int64_t width) { return Arena::view_bytes(activation_dtype(stream), rows * width); };
  if (!c.attends(layer)) return bytes(c.held_width(layer)) + bytes(c.mixed_width(layer));
  const int64_t kept = training ? Arena::view_bytes(DType::kF32, rows * c.heads) + (c.qk_norm ? bytes(c.raw_width(layer)) : 0) : 0;
  return bytes(c.held_width(layer)) + bytes(c.q_width(layer)) + bytes(c.beside_width(layer)) + (c.gated_attention ? 2 * bytes(c.q_width()) : 0) + kept;
}

/// Whether layers of attention keep q and k before their norm alone, and share LayerActivations::qkv: norm and rotation cost
/// little to compute again. Not with heads of two sizes, where v has a norm, or where q, k and v are not all columns. divided: ranks divide the rows, and would have to exchange heads again.
bool shares_heads(const Stream& stream, const ModelConfig& c, bool recompute, bool divided) {
  return c.qk_norm && c.full_head_dim == 0 && !c.value_norm && !c.beside && !recompute && !divided && !stream.is_cuda();
}

/// Layers whose buffers differ: one of each kind that there is.
std::vector<int64_t> kinds_of(const ModelConfig& c) {
  std::vector<int64_t> out{0};
  for (int64_t l = 1; l < c.layers; ++l) {
    if (std::none_of(out.begin(), out.end(), [&](int64_t of) { return c.kind(of) == c.kind(l); })) out.push_back(l);
  }
  return out;
}

LayerScratch take_scratch(const ModelConfig& c, DType type, int64_t rows, Arena& arena) {
  return {.normed = arena.take_view(type, {rows, c.width}),
          .mlp = arena.take_view(type, {rows, c.widest_mlp()}),
          .added = c.adds_apart() ? arena.take_view(type, {rows, c.width}) : TensorView{},
          .ops = &arena};
}

LayerScratch first_rows(LayerScratch scratch, int64_t rows) {
  for (TensorView* view : {&scratch.normed, &scratch.mlp, &scratch.added}) {
    if (view->rank) view->shape[0] = rows;
  }
  return scratch;
}

/// Views of a layer's activations within shared buffers; `outputs` rows continue after attention. exchange:
/// ranks that divide the rows, or null.
LayerActivations in_buffers(const LayerActivations& buffers, const TensorView& input, int64_t outputs, const HeadExchange* exchange) {
  LayerActivations act = buffers;
  act.input = input;
  if (!exchange && buffers.attn_out.rank && outputs == buffers.attn_out.dim(0)) act.attn_rows = buffers.mixed(), act.beside_rows = buffers.beside;
  for (TensorView* view : {&act.attn_rows, &act.beside_rows, &act.middle, &act.gate_up, &act.attn_added, &act.mlp_added}) {
    if (view->rank) view->shape[0] = outputs;
  }
  if (act.experts.scores.rank) act.experts = first_rows(buffers.experts, outputs);
  return act;
}

/// One layer of the training forward. In the last layer only the loss rows continue after attention. out: [Q,
/// C]; empty if the layer's result is not needed.
void train_layer(const Stream& stream, const WeightSnapshot& weights, const PackedRows& rows, int64_t layer,
                 const LayerActivations& act, const TensorView& out, Arena& arena) {
  const ModelConfig& c = weights.config;
  const PackedLayer& w = weights.layers[size_t(layer)];
  const int64_t T = act.input.dim(0), Q = act.middle.dim(0);
  const DType type = activation_dtype(stream);
  const int64_t mark = arena.mark();
  LayerActivations at = act;  // a copy: with ranks it gets views of all rows, and experts may be given
  if (rows.exchange) {
    at.qkv = arena.take_view(type, {T, c.qkv_width()});
    at.attn_out = arena.take_view(type, {T, c.heads, c.head_dim});
    if (Q == T) at.attn_out.data = act.attn_rows.data;
  }
  const OwnRows own{at.qkv, at.attn_out};
  PackedSource attention(weights, rows, own, act);
  const LayerScratch scratch = take_scratch(c, type, T, arena);
  layer_attention(stream, c, w, layer, rows.positions, weights.rope_table(layer), attention, at, scratch);
  if (Q == T) {
    copy_rows(stream, act.input, act.middle);
  } else {
    if (c.mixes_tokens(layer)) kernels::gather_rows(stream, {.from = at.mixed(), .rows = rows.loss_rows, .to = act.attn_rows});
    if (c.has_beside(layer)) kernels::gather_rows(stream, {.from = at.beside, .rows = rows.loss_rows, .to = act.beside_rows});
    kernels::gather_rows(stream, {.from = act.input, .rows = rows.loss_rows, .to = act.middle});
  }
  if (rows.routes.rows && c.mixes(layer)) read_routes(c, layer, rows.routes, Q == T ? TensorView{} : rows.loss_rows, at.experts);
  layer_output(stream, c, w, at, first_rows(scratch, Q), out);
  arena.release(mark);
}

}  // namespace

void check_for_gpu(const ModelConfig& c) {
  const std::pair<const char*, int64_t> sizes[] = {
      {"hidden_size", c.width}, {"intermediate_size", c.widest_mlp()}, {"head_dim", c.head_dim}, {"moe_intermediate_size", c.experts.width},
      {"the number of values of linear attention (linear_num_value_heads linear_value_head_dim)", c.delta.values()},
      {"the number of columns of linear attention's projections", c.is_hybrid() ? c.delta.inputs() : 0}};
  for (const auto& [field, size] : sizes) {
    if (size % 8 == 0) continue;
    fail(Code::kUnsupported, "%s is %lld; on a GPU it must be a multiple of 8 (rows of 16 bytes).", field, (long long)size);
  }
  const std::pair<const char*, bool> parts[] = {
      {"capped attention scores", c.attention_softcap != 0.0f}, {"capped logits", c.logit_softcap != 0.0f},
      {"layers of Mamba-2", c.delta.mamba}, {"MLPs with a squared ReLU", c.squared_relu},
      {"a term in the sum that divides the experts' scores", c.experts.least_sum > 0.0},
      {"norms of rotated queries and keys", c.qk_norm_last}, {"heads of two sizes", c.full_head_dim > 0}, {"norms of values", c.value_norm},
      {"more than 1024 experts in a layer", c.experts.count > kernels::kMostCudaExperts},
      {"more than 32 groups of experts", c.experts.groups > kernels::kMostCudaExpertGroups}};
  for (const auto& [part, has] : parts) {
    if (has) fail(Code::kUnsupported, "%s has %s, which only the CPU's kernels have; choose device \"cpu\".", c.arch.c_str(), part);
  }
  const int64_t state = c.delta.is_convolution() ? 0 : std::max(c.delta.key_dim, c.delta.value_dim);
  if (state > kernels::kMostCudaDeltaDim || c.delta.taps > kernels::kMostTaps) {
    fail(Code::kUnsupported, "linear_key_head_dim is %lld, linear_value_head_dim %lld, and a convolution has %lld taps; the GPU kernels of gated DeltaNet take at most %lld, %lld and %lld.",
         (long long)c.delta.key_dim, (long long)c.delta.value_dim, (long long)c.delta.taps, (long long)kernels::kMostCudaDeltaDim, (long long)kernels::kMostCudaDeltaDim, (long long)kernels::kMostTaps);
  }
  if (c.head_dim > 256) {
    fail(Code::kUnsupported, "head_dim is %lld; the GPU attention takes at most 256.", (long long)c.head_dim);
  }
}

float attention_scale(const ModelConfig& config) {
  if (config.attention_multiplier > 0.0) return float(config.attention_multiplier);
  return 1.0f / std::sqrt(config.query_scalar > 0.0 ? float(config.query_scalar) : float(config.head_dim));
}

void forward(const Stream& stream, const WeightSnapshot& weights, const TensorView& ids, const TensorView& positions,
             AttentionSource& attention, Arena& scratch, const TensorView& hidden, uint8_t* routes) {
  const ModelConfig& c = weights.config;
  const int64_t R = ids.dim(0), mark = scratch.mark();
  expect_rows(ids, positions);
  const DType type = activation_dtype(stream);
  expect_contiguous(hidden, type, {R, c.width}, "forward", "hidden");
  if (!stream.is_cuda()) check_positions(positions, weights.config.max_positions);
  const TensorView x = scratch.take_view(type, {R, c.width});
  const LayerScratch layer_scratch = take_scratch(c, type, R, scratch);
  embed(stream, weights, ids, x);
  const int64_t layer_mark = scratch.mark();
  for (int64_t l = 0; l < c.layers; ++l) {
    LayerActivations act = take_layer(c, type, l, R, R, false, scratch);
    act.input = act.middle = x;
    layer_forward(stream, c, weights.layers[size_t(l)], l, positions, weights.rope_table(l), attention, act,
                  layer_scratch, x);
    if (routes && c.mixes(l)) write_routes(c, l, act.experts.experts, routes);
    scratch.release(layer_mark);
  }
  final_norm(stream, weights, x, hidden);
  scratch.release(mark);
}

int64_t forward_scratch_bytes(const Stream& stream, const ModelConfig& c, int64_t rows) {
  const auto bytes = [&](int64_t width) { return Arena::view_bytes(activation_dtype(stream), rows * width); };
  const int64_t F = c.widest_mlp();
  int64_t mixing = 0;
  for (const int64_t l : kinds_of(c)) mixing = std::max(mixing, mixing_bytes(stream, c, l, rows, false));
  return (c.adds_apart() ? 3 : 2) * bytes(c.width) + bytes(F) + mixing + bytes(c.gate_up_width(F)) + expert_activation_bytes(stream, c, rows) +
         layer_ops_bytes(stream, c, rows);
}

Activations forward_training(const Stream& stream, const WeightSnapshot& weights, const PackedRows& rows,
                             Arena& arena, bool recompute) {
  const ModelConfig& c = weights.config;
  const int64_t T = rows.ids.dim(0), R = rows.outputs();
  expect_rows(rows.ids, rows.positions);
  if (!stream.is_cuda()) check_positions(rows.positions, c.max_positions);
  const DType type = activation_dtype(stream);
  Activations saved;
  saved.hidden = arena.take_view(type, {R, c.width});
  TensorView x = arena.take_view(type, {T, c.width});
  embed(stream, weights, rows.ids, x);
  saved.recompute = recompute;
  if (recompute) {
    for (const int64_t l : kinds_of(c)) saved.shared[c.kind(l)] = take_layer(c, type, l, T, T, true, arena, rows.exchange, true);
    const int64_t last = c.layers - 1;
    if (R != T && !rows.exchange && c.mixes_tokens(last)) take_mixed_rows(c, type, last, R, saved.shared[c.kind(last)], arena);
  }
  TensorView qkv;
  if (shares_heads(stream, c, recompute, rows.exchange != nullptr)) qkv = arena.take_view(type, {T, c.qkv_width()});
  saved.layers.reserve(size_t(c.layers));
  for (int64_t l = 0; l < c.layers; ++l) {
    const int64_t Q = l + 1 < c.layers ? T : R;
    LayerActivations act = recompute ? in_buffers(saved.shared[c.kind(l)], x, Q, rows.exchange)
                                     : take_layer(c, type, l, T, Q, true, arena, rows.exchange, false, qkv);
    act.input = x;
    x = arena.take_view(type, {Q, c.width});
    if (weights.by_layer) weights.by_layer->forward(l);
    train_layer(stream, weights, rows, l, act, x, arena);
    saved.layers.push_back(act);
  }
  saved.last = x;
  final_norm(stream, weights, x, saved.hidden);
  return saved;
}

LayerActivations layer_activations(const Stream& stream, const WeightSnapshot& weights, const PackedRows& rows,
                                   int64_t layer, const Activations& saved, Arena& arena) {
  const LayerActivations& act = saved.layers[size_t(layer)];
  // The last layer's activations are still in the buffers when the backward begins with that layer.
  if (saved.recompute && layer + 1 < weights.config.layers) train_layer(stream, weights, rows, layer, act, {}, arena);
  return act;
}

namespace {

/// Bytes of what MLP and experts of layer l store for T tokens.
int64_t kept_mlp_bytes(const Stream& stream, const ModelConfig& c, int64_t l, int64_t T) {
  return Arena::view_bytes(activation_dtype(stream), T * c.gate_up_width(c.mlp_width_of(l))) + (c.mixes(l) ? expert_activation_bytes(stream, c, T) : 0);
}

}  // namespace

TrainingBytes training_bytes(const Stream& stream, const ModelConfig& c, int64_t T, bool recompute, bool divided, DType storage) {
  const auto bytes = [&](int64_t width) { return Arena::view_bytes(activation_dtype(stream), T * width); };
  const int64_t same = (c.norms_after() ? 3 : 1) * bytes(c.width) + (divided ? bytes(c.q_width()) : 0);
  const int64_t any_mlp = bytes(c.gate_up_width(c.widest_mlp())) + expert_activation_bytes(stream, c, T);
  int64_t layers = 0;
  for (const int64_t l : kinds_of(c)) layers += recompute ? same + (c.has_mlp(l) ? any_mlp : 0) + mixing_bytes(stream, c, l, T, true) : 0;
  for (int64_t l = 0; l < c.layers && !recompute; ++l) layers += same + kept_mlp_bytes(stream, c, l, T) + mixing_bytes(stream, c, l, T, true);
  // of the rank's rows, or of its heads
  const int64_t exchanged = divided ? bytes(c.qkv_width()) + bytes(c.q_width()) : 0;
  const int64_t forward_scratch = (c.adds_apart() ? 2 : 1) * bytes(c.width) + bytes(c.widest_mlp()) + layer_ops_bytes(stream, c, T);
  if (shares_heads(stream, c, recompute, divided)) {
    layers += bytes(c.qkv_width());
    for (int64_t l = 0; l < c.layers; ++l) layers -= c.is_linear(l) ? 0 : bytes(c.qkv_width()) - bytes(c.kv_width());
  }
  // The last layer keeps fewer rows of its MLP, but also the gathered rows of its attention.
  return {.kept = (2 + c.layers) * bytes(c.width) + layers + bytes(c.mixed_width(c.layers - 1)) + bytes(c.beside_width(c.layers - 1)),
          .scratch = exchanged + std::max(forward_scratch, backward_scratch_bytes(stream, c, T, storage))};
}

int64_t unused_gradient_width(const ModelConfig& c) {
  return std::max({c.width, c.q_width(), c.full_head_dim, c.delta.channels() * c.delta.taps, c.delta.value_heads, c.delta.norm_width()});
}

TensorView Gradients::head() const {
  if (window) return window->head();
  return parameters ? parameters->head() : TensorView{};
}

TensorView Gradients::embedding() const { return window ? window->embedding() : parameters->embedding(); }

TensorView Gradients::final_norm() const {
  if (window) return window->final_norm();
  if (parameters) return parameters->final_norm();
  return f32(unused.as<float>(), {adapters->block().config().width});
}

LayerViews Gradients::layer(const ModelConfig& c, int64_t i) const {
  if (window) return window->layer(i);
  if (parameters) return parameters->layer(i);
  const auto first = [&](int64_t n) { return f32(unused.as<float>(), {n}); };
  LayerViews out;
  out.attn_norm = out.attn_after = out.mlp_norm = out.mlp_after = first(c.width);
  out.q_norm = first(c.q_norm_width(i)), out.k_norm = first(c.k_norm_width(i));
  if (!c.is_linear(i)) return out;
  const kernels::DeltaSizes& s = c.delta;
  out.delta.conv = f32(unused.as<float>(), {s.channels(), s.taps});
  if (!s.is_convolution()) out.delta = {out.delta.conv, first(s.value_heads), first(s.value_heads), s.norm_width() > 0 ? first(s.norm_width()) : TensorView{}};
  if (s.mamba) out.delta.conv_bias = first(s.channels()), out.delta.skip = first(s.value_heads);
  return out;
}

}  // namespace hone::model
