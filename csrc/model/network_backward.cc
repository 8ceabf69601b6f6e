// The hand-written backward of network.cc, layer by layer from the last to the first.
#include <algorithm>

#include "kernels/attention.h"
#include "kernels/embedding.h"
#include "kernels/gather.h"
#include "kernels/rms_norm.h"
#include "kernels/rope.h"
#include "kernels/swiglu.h"
#include "model/layer.h"
#include "model/network.h"

namespace hone::model {
namespace {

using kernels::PackedMatrix;

int64_t view_bytes(DType type, int64_t n) { return Arena::rounded(n * dtype_bytes(type)); }

PackedMatrix pack_transposed(const Stream& stream, const TensorView& w, DType storage, Arena& arena) {
  PackedMatrix out{w.dim(1), w.dim(0), storage, nullptr};
  out.panels = arena.take(kernels::packed_bytes(stream, out.n, out.k, storage));
  kernels::pack_matrix(stream, {.w = w, .transpose = true, .out = out});
  return out;
}

/// Buffers of one layer's backward, reused by all layers.
struct Scratch {
  TensorView normed;   // [Q, C] norm output, recomputed
  TensorView dnormed;  // [Q, C]
  TensorView mlp;      // [Q, F] swiglu output, recomputed
  TensorView dmlp;     // [Q, F]
  TensorView dattn;    // [T, HD]
  TensorView dqkv;     // [T, (H+2K)D]
};

/// The MLP and attention halves never need their wide buffers at once, so they share the memory.
Scratch take_scratch(const ModelConfig& c, DType type, int64_t T, int64_t Q, Arena& arena) {
  Scratch s;
  s.normed = arena.take_view(type, {T, c.width});
  s.dnormed = arena.take_view(type, {T, c.width});
  s.normed.shape[0] = s.dnormed.shape[0] = Q;
  const int64_t mark = arena.mark();
  s.mlp = arena.take_view(type, {Q, c.mlp_width});
  s.dmlp = arena.take_view(type, {Q, c.mlp_width});
  arena.release(mark);
  s.dattn = arena.take_view(type, {T, c.q_width()});
  s.dqkv = arena.take_view(type, {T, c.qkv_width()});
  return s;
}

struct Backward {
  const Stream& stream;
  const ModelConfig& config;
  const PackedRows& rows;
  const TensorView& rope_table;
  Arena& ops;  // what the kernels take for themselves and give back
  Scratch scratch;
  TensorView dx;  // [Q, C] gradient of the residual stream, updated in place

  void norm_forward(const TensorView& x, const TensorView& weight) const {
    kernels::rms_norm(stream, {.x = x, .weight = weight, .y = scratch.normed, .eps = config.norm_eps});
  }
  void norm_backward(const TensorView& x, const TensorView& weight, const TensorView& dweight) const {
    kernels::rms_norm_grad(stream, {.x = x,
                                    .weight = weight,
                                    .dy = scratch.dnormed,
                                    .dx = dx,
                                    .dweight = dweight,
                                    .eps = config.norm_eps,
                                    .accumulate = true,
                                    .scratch = &ops});
  }

  /// The MLP, and the weights of the output projection, on the rows that went through them.
  void output_half(const PackedLayer& w, const TransposedWeights::Layer& wt, const LayerActivations& act,
                const LayerViews& grad) const {
    const TensorView& dgate_up = act.gate_up;
    kernels::swiglu(stream, {.gate_up = act.gate_up, .y = scratch.mlp});
    kernels::linear_grad_weight(stream, {.dy = dx, .x = scratch.mlp, .dw = grad.down, .dbias = {}});
    kernels::linear(stream, {.x = dx, .w = wt.down, .bias = {}, .y = scratch.dmlp, .scratch = &ops});
    kernels::swiglu_grad(stream, {.gate_up = act.gate_up, .dy = scratch.dmlp, .dgate_up = dgate_up});
    norm_forward(act.middle, w.mlp_norm);
    kernels::linear_grad_weight(stream, {.dy = dgate_up, .x = scratch.normed, .dw = grad.gate_up, .dbias = {}});
    kernels::linear(stream, {.x = dgate_up, .w = wt.gate_up, .bias = {}, .y = scratch.dnormed, .scratch = &ops});
    norm_backward(act.middle, w.mlp_norm, grad.mlp_norm);
    kernels::linear_grad_weight(stream, {.dy = dx, .x = act.attn_rows, .dw = grad.o, .dbias = {}});
  }

  void attention_half(const PackedLayer& w, const TransposedWeights::Layer& wt, const LayerActivations& act,
                      const LayerViews& grad) const {
    const int64_t T = dx.dim(0), H = config.heads, K = config.kv_heads, D = config.head_dim;
    kernels::attention_packed_grad(stream, {.q = head_view(act.qkv, 0, H, D),
                                            .k = head_view(act.qkv, H * D, K, D),
                                            .v = head_view(act.qkv, (H + K) * D, K, D),
                                            .cu_seqlens = rows.cu_seqlens,
                                            .out = act.attn_out,
                                            .lse = act.lse,
                                            .dout = {scratch.dattn.data, scratch.dattn.dtype, {T, H, D}},
                                            .dq = head_view(scratch.dqkv, 0, H, D),
                                            .dk = head_view(scratch.dqkv, H * D, K, D),
                                            .dv = head_view(scratch.dqkv, (H + K) * D, K, D),
                                            .scale = attention_scale(config),
                                            .window = config.sliding_window,
                                            .scratch = &ops,
                                            .deterministic = rows.deterministic});
    kernels::rope(stream, {.x = head_view(scratch.dqkv, 0, H + K, D),
                           .positions = rows.positions,
                           .table = rope_table,
                           .inverse = true});
    if (config.qk_norm) norm_heads_backward(w, act, grad);
    norm_forward(act.input, w.attn_norm);
    kernels::linear_grad_weight(
        stream, {.dy = scratch.dqkv, .x = scratch.normed, .dw = grad.qkv, .dbias = grad.qkv_bias});
    kernels::linear(stream, {.x = scratch.dqkv, .w = wt.qkv, .bias = {}, .y = scratch.dnormed, .scratch = &ops});
    norm_backward(act.input, w.attn_norm, grad.attn_norm);
  }

  void norm_heads_backward(const PackedLayer& w, const LayerActivations& act, const LayerViews& grad) const {
    const int64_t D = config.head_dim, q_width = config.q_width();
    const auto half = [&](int64_t first, int64_t heads, const TensorView& weight, const TensorView& dweight) {
      // On the CPU head after head: the order of dweight's sums. A GPU would launch too often.
      const int64_t together = stream.is_cuda() ? heads : 1;
      for (int64_t h = 0; h < heads; h += together) {
        const TensorView d = head_view(scratch.dqkv, first + h * D, together, D);
        kernels::rms_norm_grad(stream, {.x = head_view(act.qk_raw, first + h * D, together, D),
                                        .weight = weight,
                                        .dy = d,
                                        .dx = d,
                                        .dweight = dweight,
                                        .eps = config.norm_eps,
                                        .accumulate = false,
                                        .scratch = &ops});
      }
    };
    half(0, config.heads, w.q_norm, grad.q_norm);
    half(q_width, config.kv_heads, w.k_norm, grad.k_norm);
  }
};

}  // namespace

TransposedWeights transpose_weights(const Stream& stream, const Parameters& parameters, const WeightSnapshot& weights,
                                    Arena& arena) {
  const auto turn = [&](const TensorView& master, const PackedMatrix& packed) {
    if (stream.is_cuda()) return PackedMatrix{packed.k, packed.n, packed.storage, packed.panels, true};
    return pack_transposed(stream, master, packed.storage, arena);
  };
  TransposedWeights out;
  for (int64_t l = 0; l < parameters.config().layers; ++l) {
    const LayerViews& from = parameters.layer(l);
    const PackedLayer& packed = weights.layers[size_t(l)];
    out.layers.push_back({.qkv = turn(from.qkv, packed.qkv),
                          .o = turn(from.o, packed.o),
                          .gate_up = turn(from.gate_up, packed.gate_up),
                          .down = turn(from.down, packed.down)});
  }
  out.head = turn(parameters.head(), weights.head);
  return out;
}

int64_t transposed_bytes(const Stream& stream, const ModelConfig& c, DType storage) {
  if (stream.is_cuda()) return 0;
  const auto bytes = [&](int64_t n, int64_t k, DType kept) {
    return Arena::rounded(kernels::packed_bytes(stream, n, k, kept));
  };
  const int64_t layer = bytes(c.width, c.qkv_width(), storage) + bytes(c.q_width(), c.width, storage) +
                        bytes(c.width, 2 * c.mlp_width, storage) + bytes(c.mlp_width, c.width, storage);
  return c.layers * layer + bytes(c.width, c.vocabulary, DType::kF32);
}

int64_t backward_scratch_bytes(const Stream& stream, const ModelConfig& c, int64_t tokens) {
  const auto bytes = [&](int64_t width) { return view_bytes(activation_dtype(stream), tokens * width); };
  // Two buffers more for the last layer: dattn of the loss rows, and dx of all rows.
  return 3 * bytes(c.width) + bytes(c.q_width()) +
         std::max(2 * bytes(c.mlp_width), bytes(c.q_width()) + bytes(c.qkv_width())) +
         std::max({linear_scratch_bytes(stream, c, tokens),
                   kernels::attention_packed_grad_scratch_bytes(stream, tokens, c.heads),
                   kernels::rms_norm_grad_scratch_bytes(stream, tokens, c.width),
                   kernels::rms_norm_grad_scratch_bytes(stream, tokens * c.heads, c.head_dim)});
}

void backward(const Stream& stream, const WeightSnapshot& weights, const TransposedWeights& transposed,
              const PackedRows& rows, const Activations& saved, const TensorView& dhidden, Parameters& grads,
              Arena& arena) {
  const ModelConfig& c = weights.config;
  const int64_t T = rows.ids.dim(0), R = rows.outputs(), mark = arena.mark();
  const DType type = activation_dtype(stream);
  expect_contiguous(dhidden, type, {R, c.width}, "backward", "dhidden");
  kernels::rms_norm_grad(stream, {.x = saved.last,
                                  .weight = weights.final_norm,
                                  .dy = dhidden,
                                  .dx = dhidden,
                                  .dweight = grads.final_norm(),
                                  .eps = c.norm_eps,
                                  .accumulate = false,
                                  .scratch = &arena});
  TensorView dx = dhidden;  // [Q, C]
  if (R != T) dx = arena.take_view(type, {T, c.width});
  const TensorView dattn_rows = arena.take_view(type, {R != T ? R : 0, c.q_width()});
  const int64_t layer_mark = arena.mark();
  for (int64_t l = c.layers - 1; l >= 0; --l) {
    const size_t i = size_t(l);
    const bool gathered = l == c.layers - 1 && R != T;
    Backward pass{stream, c, rows, weights.rope_table, arena, take_scratch(c, type, T, gathered ? R : T, arena), gathered ? dhidden : dx};
    pass.output_half(weights.layers[i], transposed.layers[i], saved.layers[i], grads.layer(l));
    const TensorView dattn = gathered ? dattn_rows : pass.scratch.dattn;
    kernels::linear(stream, {.x = pass.dx, .w = transposed.layers[i].o, .bias = {}, .y = dattn, .scratch = &arena});
    if (gathered) {
      kernels::scatter_rows(stream, {.from = dattn_rows, .rows = rows.loss_rows, .to = pass.scratch.dattn});
      kernels::scatter_rows(stream, {.from = dhidden, .rows = rows.loss_rows, .to = dx});
      pass.dx = dx;
      pass.scratch.normed.shape[0] = pass.scratch.dnormed.shape[0] = T;
    }
    pass.attention_half(weights.layers[i], transposed.layers[i], saved.layers[i], grads.layer(l));
    arena.release(layer_mark);
  }
  kernels::embedding_grad(stream, {.ids = rows.ids, .dx = dx, .dtable = grads.embedding()});
  arena.release(mark);
}

}  // namespace hone::model
