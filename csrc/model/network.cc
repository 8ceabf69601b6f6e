#include "model/network.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/attention.h"
#include "kernels/embedding.h"
#include "kernels/rms_norm.h"
#include "kernels/rounding.h"
#include "model/layer.h"

namespace hone::model {
namespace {

int64_t f32_bytes(int64_t n) { return Arena::rounded(n * int64_t(sizeof(float))); }

void expect_rows(const TensorView& ids, const TensorView& positions) {
  const int64_t R = ids.dim(0);
  expect(ids, DType::kI32, {R}, "forward", "ids");
  expect(positions, DType::kI32, {R}, "forward", "positions");
}

void final_norm(const Stream& stream, const WeightSnapshot& weights, const TensorView& x, const TensorView& hidden) {
  kernels::rms_norm(stream, {.x = x, .weight = weights.final_norm, .y = hidden, .eps = weights.config.norm_eps});
}

/// Keys and values of the micro-batch itself, rounded in place to what a cache of the weights' storage would keep.
class PackedSource final : public AttentionSource {
 public:
  PackedSource(const WeightSnapshot& weights, const TensorView& cu_seqlens)
      : config_(weights.config), round_(weights.storage == DType::kBF16), cu_seqlens_(cu_seqlens) {}
  void attend(const Stream& stream, int64_t, const TensorView& q, const TensorView& k, const TensorView& v,
              const TensorView& out, const TensorView& lse) override {
    if (round_ && k.dtype == DType::kF32) {  // what the engine's pages keep
      kernels::round_to_bf16(stream, k);
      kernels::round_to_bf16(stream, v);
    }
    kernels::attention_packed(stream, {.q = q,
                                       .k = k,
                                       .v = v,
                                       .cu_seqlens = cu_seqlens_,
                                       .out = out,
                                       .lse = lse,
                                       .scale = attention_scale(config_),
                                       .window = config_.sliding_window});
  }

 private:
  const ModelConfig& config_;
  bool round_;
  TensorView cu_seqlens_;
};

/// Views of one layer; its rows after attention are `outputs` in number.
LayerActivations take_layer(const ModelConfig& c, int64_t rows, int64_t outputs, bool training, Arena& arena) {
  LayerActivations act;
  act.qkv = arena.take_view(DType::kF32, {rows, c.qkv_width()});
  act.attn_out = arena.take_view(DType::kF32, {rows, c.heads, c.head_dim});
  act.attn_rows = f32(act.attn_out.as<float>(), {rows, c.q_width()});
  act.gate_up = arena.take_view(DType::kF32, {outputs, 2 * c.mlp_width});
  if (!training) return act;
  act.lse = arena.take_view(DType::kF32, {rows, c.heads});
  act.middle = arena.take_view(DType::kF32, {outputs, c.width});
  if (outputs != rows) act.attn_rows = arena.take_view(DType::kF32, {outputs, c.q_width()});
  if (c.qk_norm) act.qk_raw = arena.take_view(DType::kF32, {rows, c.q_width() + c.kv_width()});
  return act;
}

LayerScratch take_scratch(const ModelConfig& c, int64_t rows, Arena& arena) {
  return {arena.take_view(DType::kF32, {rows, c.width}), arena.take_view(DType::kF32, {rows, c.mlp_width})};
}

TensorView first_rows(TensorView view, int64_t rows) {
  view.shape[0] = rows;
  return view;
}

void gather_rows(const TensorView& from, const TensorView& rows, const TensorView& to) {
  for (int64_t r = 0; r < rows.dim(0); ++r) {
    std::memcpy(to.row<float>(r), from.row<float>(rows.as<int32_t>()[r]), size_t(to.dim(1)) * sizeof(float));
  }
}

/// One layer of the training forward; all but the loss rows stop after the attention of the last.
TensorView train_layer(const Stream& stream, const WeightSnapshot& weights, const PackedRows& rows, int64_t layer,
                       PackedSource& attention, LayerActivations& act, Arena& arena) {
  const ModelConfig& c = weights.config;
  const PackedLayer& w = weights.layers[size_t(layer)];
  const int64_t T = act.input.dim(0), Q = act.middle.dim(0);
  const TensorView out = arena.take_view(DType::kF32, {Q, c.width});
  const int64_t mark = arena.mark();
  const LayerScratch scratch = take_scratch(c, T, arena);
  if (Q == T) {
    layer_forward(stream, c, w, layer, rows.positions, weights.rope_table, attention, act, scratch, out);
  } else {
    layer_attention(stream, c, w, layer, rows.positions, weights.rope_table, attention, act, scratch.normed);
    gather_rows(f32(act.attn_out.as<float>(), {T, c.q_width()}), rows.loss_rows, act.attn_rows);
    gather_rows(act.input, rows.loss_rows, act.middle);
    layer_output(stream, c, w, act, {first_rows(scratch.normed, Q), first_rows(scratch.mlp, Q)}, out);
  }
  arena.release(mark);
  return out;
}

}  // namespace

float attention_scale(const ModelConfig& config) { return 1.0f / std::sqrt(float(config.head_dim)); }

void forward(const Stream& stream, const WeightSnapshot& weights, const TensorView& ids, const TensorView& positions,
             AttentionSource& attention, Arena& scratch, const TensorView& hidden) {
  const ModelConfig& c = weights.config;
  const int64_t R = ids.dim(0), mark = scratch.mark();
  expect_rows(ids, positions);
  expect_contiguous(hidden, DType::kF32, {R, c.width}, "forward", "hidden");
  check_positions(positions, weights.rope_table);
  const TensorView x = scratch.take_view(DType::kF32, {R, c.width});
  const LayerScratch layer_scratch = take_scratch(c, R, scratch);
  LayerActivations act = take_layer(c, R, R, false, scratch);
  act.input = act.middle = x;
  kernels::embedding(stream, {.ids = ids, .table = weights.embedding, .x = x});
  for (int64_t l = 0; l < c.layers; ++l) {
    layer_forward(stream, c, weights.layers[size_t(l)], l, positions, weights.rope_table, attention, act,
                  layer_scratch, x);
  }
  final_norm(stream, weights, x, hidden);
  scratch.release(mark);
}

int64_t forward_scratch_bytes(const ModelConfig& c, int64_t rows) {
  return 2 * f32_bytes(rows * c.width) + f32_bytes(rows * c.mlp_width) + f32_bytes(rows * c.qkv_width()) +
         f32_bytes(rows * c.q_width()) + f32_bytes(rows * 2 * c.mlp_width);
}

Activations forward_training(const Stream& stream, const WeightSnapshot& weights, const PackedRows& rows,
                             Arena& arena) {
  const ModelConfig& c = weights.config;
  const int64_t T = rows.ids.dim(0), R = rows.outputs();
  expect_rows(rows.ids, rows.positions);
  check_positions(rows.positions, weights.rope_table);
  Activations saved;
  saved.hidden = arena.take_view(DType::kF32, {R, c.width});
  TensorView x = arena.take_view(DType::kF32, {T, c.width});
  kernels::embedding(stream, {.ids = rows.ids, .table = weights.embedding, .x = x});
  PackedSource attention(weights, rows.cu_seqlens);
  saved.layers.reserve(size_t(c.layers));
  for (int64_t l = 0; l < c.layers; ++l) {
    LayerActivations act = take_layer(c, T, l + 1 < c.layers ? T : R, true, arena);
    act.input = x;
    x = train_layer(stream, weights, rows, l, attention, act, arena);
    saved.layers.push_back(act);
  }
  saved.last = x;
  final_norm(stream, weights, x, saved.hidden);
  return saved;
}

int64_t training_arena_bytes(const ModelConfig& c, int64_t tokens, int64_t) {
  const int64_t T = tokens;
  const int64_t layer = 2 * f32_bytes(T * c.width) + f32_bytes(T * c.qkv_width()) + f32_bytes(T * c.q_width()) +
                        f32_bytes(T * 2 * c.mlp_width) + f32_bytes(T * c.heads) +
                        (c.qk_norm ? f32_bytes(T * (c.q_width() + c.kv_width())) : 0);
  const int64_t forward_scratch = f32_bytes(T * c.width) + f32_bytes(T * c.mlp_width);
  // The last layer keeps fewer rows of its MLP, but gathers those of its attention.
  return 2 * f32_bytes(T * c.width) + c.layers * layer + f32_bytes(T * c.q_width()) +
         std::max(forward_scratch, backward_scratch_bytes(c, T));
}

}  // namespace hone::model
