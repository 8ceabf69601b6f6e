#include "model/layer.h"

#include <algorithm>
#include <utility>

#include "core/device.h"
#include "kernels/rms_norm.h"
#include "kernels/swiglu.h"

namespace hone::model {

TensorView head_view(const TensorView& matrix, int64_t first, int64_t count, int64_t dim) {
  TensorView view(matrix.as<std::byte>() + first * dtype_bytes(matrix.dtype), matrix.dtype, {matrix.dim(0), count, dim});
  view.row_stride = matrix.row_stride;
  return view;
}

TensorView column_view(const TensorView& matrix, int64_t first, int64_t count) {
  TensorView view(matrix.as<std::byte>() + first * dtype_bytes(matrix.dtype), matrix.dtype, {matrix.dim(0), count});
  view.row_stride = matrix.row_stride;
  return view;
}

void layer_attention(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, int64_t layer,
                     const TensorView& positions, const TensorView& rope_table, AttentionSource& attention,
                     const LayerActivations& act, const LayerScratch& scratch) {
  const int64_t H = config.heads, K = config.kv_heads, D = config.head_dim;
  kernels::rms_norm(stream, {.x = act.input, .weight = weights.attn_norm, .y = scratch.normed, .eps = config.norm_eps});
  kernels::linear(stream, {.x = scratch.normed, .w = weights.qkv, .bias = weights.qkv_bias, .y = act.qkv, .scratch = scratch.ops});
  if (!act.qk_raw.empty()) copy_rows(stream, column_view(act.qkv, 0, (H + K) * D), act.qk_raw);
  const TensorView v = head_view(act.qkv, (H + K) * D, K, D);
  kernels::prepare_heads(stream, {.qk = head_view(act.qkv, 0, H + K, D),
                                  .v = v,
                                  .q_norm = weights.q_norm,
                                  .k_norm = weights.k_norm,
                                  .eps = config.norm_eps,
                                  .positions = positions,
                                  .table = rope_table,
                                  .to = attention.place(layer)});
  attention.attend(stream, layer, head_view(act.qkv, 0, H, D), head_view(act.qkv, H * D, K, D), v, act.attn_out, act.lse);
}

void layer_output(const Stream& stream, const ModelConfig& config, const PackedLayer& weights,
                  const LayerActivations& act, const LayerScratch& scratch, const TensorView& out) {
  kernels::linear(stream, {.x = act.attn_rows,
                           .w = weights.o,
                           .bias = {},
                           .y = act.middle,
                           .accumulate = true,
                           .scratch = scratch.ops});
  kernels::rms_norm(
      stream, {.x = act.middle, .weight = weights.mlp_norm, .y = scratch.normed, .eps = config.norm_eps});
  kernels::linear(stream, {.x = scratch.normed, .w = weights.gate_up, .bias = {}, .y = act.gate_up, .scratch = scratch.ops});
  kernels::swiglu(stream, {.gate_up = act.gate_up, .y = scratch.mlp});
  copy_rows(stream, act.middle, out);
  kernels::linear(stream, {.x = scratch.mlp,
                           .w = weights.down,
                           .bias = {},
                           .y = out,
                           .accumulate = true,
                           .scratch = scratch.ops});
}

void layer_forward(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, int64_t layer,
                   const TensorView& positions, const TensorView& rope_table, AttentionSource& attention,
                   const LayerActivations& act, const LayerScratch& scratch, const TensorView& out) {
  layer_attention(stream, config, weights, layer, positions, rope_table, attention, act, scratch);
  copy_rows(stream, act.input, act.middle);
  layer_output(stream, config, weights, act, scratch, out);
}

int64_t linear_scratch_bytes(const Stream& stream, const ModelConfig& c, int64_t rows) {
  int64_t most = 0;
  for (const auto& [n, k] : {std::pair{c.qkv_width(), c.width}, {c.width, c.q_width()}, {2 * c.mlp_width, c.width}, {c.width, c.mlp_width}}) {
    most = std::max({most, kernels::linear_scratch_bytes(stream, rows, n, k), kernels::linear_scratch_bytes(stream, rows, k, n)});
  }
  return most;
}

void check_positions(const TensorView& positions, const TensorView& rope_table) {
  const int32_t* at = positions.as<int32_t>();
  for (int64_t r = 0; r < positions.dim(0); ++r) {
    if (at[r] >= 0 && at[r] < rope_table.dim(0)) continue;
    fail(Code::kShape, "forward: position %d of row %lld is outside [0, %lld): raise max_position_embeddings.", at[r],
         (long long)r, (long long)rope_table.dim(0));
  }
}

}  // namespace hone::model
