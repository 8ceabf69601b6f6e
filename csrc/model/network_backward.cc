// The hand-written backward of the network (network.cc), layer by layer from the last to the first.
#include <algorithm>

#include "kernels/attention.h"
#include "kernels/axpby.h"
#include "kernels/cast.h"
#include "kernels/embedding.h"
#include "kernels/gather.h"
#include "kernels/head_gate.h"
#include "kernels/rms_norm.h"
#include "kernels/rope.h"
#include "kernels/short_conv.h"
#include "model/activation.h"
#include "model/half_backward.h"

namespace hone::model {
namespace {

/// The MLP and the attention half never need their wide buffers at the same time, so these share memory.
BackwardScratch take_scratch(const ModelConfig& c, DType type, int64_t layer, int64_t T, int64_t Q, Arena& arena) {
  BackwardScratch s;
  s.normed = arena.take_view(type, {T, c.width});
  s.dnormed = arena.take_view(type, {T, c.width});
  if (c.adds_apart()) s.dadded = arena.take_view(type, {Q, c.width});
  s.normed.shape[0] = s.dnormed.shape[0] = Q;
  const int64_t mark = arena.mark();
  s.mlp = arena.take_view(type, {Q, c.widest_mlp()});
  s.dmlp = arena.take_view(type, {Q, c.widest_mlp()});
  const int64_t end = arena.mark();  // later buffers must not overlap these
  arena.release(mark);
  s.dattn = arena.take_view(type, {T, c.mixed_width(layer)});
  s.dbeside = arena.take_view(type, {T, c.beside_width(layer)});
  s.dqkv = arena.take_view(type, {T, c.made_width(layer)});
  if (arena.mark() < end) arena.take(end - arena.mark());
  return s;
}

struct Backward : HalfBackward {
  void mlp_backward(const TransposedLayer& wt, const LayerActivations& act, const TensorView& x, const TensorView& dmlp, bool accumulate) const {
    const int64_t F = wt.down.n;
    const TensorView gate_up = of_width(act.gate_up, config.gate_up_width(F)), mlp = of_width(scratch.mlp, F), dinner = of_width(scratch.dmlp, F);
    kernels::linear(stream, {.x = dmlp, .w = wt.down, .bias = {}, .y = dinner, .scratch = &ops});
    const TensorView& gate = act.experts.shared;
    if (!gate.empty()) kernels::row_gate(stream, {gate, dinner});
    activate_grad(stream, config, gate_up, dinner, mlp);
    if (config.multipliers != Multipliers()) scale_gate_up(stream, config, gate_up);
    if (!gate.empty()) kernels::row_gate_grad(stream, {.gate = gate, .gated = dinner, .x = mlp, .dgate = gate});
    weight_gradient(Product::kDown, dmlp, mlp, &LayerViews::down);
    weight_gradient(Product::kGateUp, gate_up, x, &LayerViews::gate_up);
    kernels::linear(stream, {.x = gate_up, .w = wt.gate_up, .bias = {}, .y = dentering(), .accumulate = accumulate, .scratch = &ops});
    if (!gate.empty()) shared_gate_gradient(wt, gate, x);
  }
  void shared_gate_gradient(const TransposedLayer& wt, const TensorView& gate, const TensorView& x) const {
    const int64_t mark = ops.mark();
    TensorView dgate = gate;
    if (x.dtype != gate.dtype) {
      dgate = ops.take_view(x.dtype, {gate.dim(0), 1});
      kernels::cast(stream, {.from = gate, .to = dgate});
    }
    for_blocks([&](const RowRange& range, const LayerBlock& block) {
      if (block.layer.shared_gate.empty()) return;
      kernels::linear_grad_weight(stream, {.dy = rows_of(dgate, range), .x = rows_of(x, range), .dw = block.layer.shared_gate, .dbias = {}});
    });
    kernels::linear(stream, {.x = dgate, .w = wt.experts.shared_gate, .bias = {}, .y = dentering(), .accumulate = true, .scratch = &ops});
    ops.release(mark);
  }
  std::vector<ExpertGradients> expert_gradients() const {
    std::vector<ExpertGradients> out;
    for_blocks([&](const RowRange& range, const LayerBlock& block) { out.push_back({range, block.layer, block.grads.adapters, block.grads.of_adapters}); });
    return out;
  }

  /// Backward of the MLP and the experts, on the rows that went through them, down to dentering().
  void mlp_half(const PackedLayer& w, const TransposedLayer& wt, const LayerActivations& act) const {
    const TensorView dmlp = of_added(act.mlp_added, w.mlp_after, &LayerViews::mlp_after);
    const TensorView& x = entering(act.middle, config.parallel ? w.attn_norm : w.mlp_norm);
    bool accumulate = !config.norms_before();
    if (w.gate_up.n > 0) {
      mlp_backward(wt, act, x, dmlp, accumulate);
      accumulate = true;
    }
    if (w.router.n > 0) {
      const std::vector<ExpertGradients> gradients = expert_gradients();
      experts_backward(stream, config, {.x = x, .dadded = dmlp, .dx = dentering(), .accumulate = accumulate, .act = act.experts, .weights = w, .transposed = wt.experts, .gradients = gradients, .arithmetic = arithmetic, .layer = layer, .expert_rows = rows.expert_rows, .terms = rows.router_terms(layer + 1 == config.layers)}, ops);
    }
  }
  /// Backward of the output projection of Mamba-2 beside attention, which has no adapters.
  void beside_backward(const TransposedLayer& wt, const LayerActivations& act, const TensorView& dadded, const TensorView& dbeside) const {
    for_blocks([&](const RowRange& range, const LayerBlock& block) {
      if (block.layer.o_beside.empty()) return;
      kernels::linear_grad_weight(stream, {.dy = rows_of(dadded, range), .x = rows_of(act.beside_rows, range), .dw = block.layer.o_beside, .dbias = {}, .arithmetic = arithmetic});
    });
    kernels::linear(stream, {.x = dadded, .w = wt.o_beside, .bias = {}, .y = dbeside, .scratch = &ops});
  }
  /// Backward of MLP, experts and output projections down to the inputs of the last, dattn and dbeside. dx gets the gradient of the MLP's
  /// input before the projection, whose output is a part of that input, or with parallel halves after it.
  void output_half(const PackedLayer& w, const TransposedLayer& wt, const LayerActivations& act, const TensorView& dattn, const TensorView& dbeside) const {
    if (config.has_mlp(layer)) {
      mlp_half(w, wt, act);
      if (!config.parallel) leave(act.middle, w.mlp_norm, &LayerViews::mlp_norm);
    }
    if (!config.mixes_tokens(layer)) return;
    const TensorView dadded = of_added(act.attn_added, w.attn_after, &LayerViews::attn_after);
    weight_gradient(Product::kO, dadded, act.attn_rows, &LayerViews::o, &LayerViews::o_bias);
    kernels::linear(stream, {.x = dadded, .w = wt.o, .bias = {}, .y = dattn, .scratch = &ops});
    if (w.o_beside.n > 0) beside_backward(wt, act, dadded, dbeside);
    if (config.parallel) leave(act.middle, w.attn_norm, &LayerViews::attn_norm);
  }

  /// Backward of attention, from scratch.dattn to dqkv_all. Ranks that divide the rows exchange rows for
  /// heads.
  void attention_gradient(const LayerActivations& act, const TensorView& dqkv_all) const {
    HeadExchange* const exchange = rows.exchange;
    if (!exchange) return attention_gradient(act, scratch.dattn, dqkv_all, 1);
    const int64_t mark = ops.mark(), T = exchange->tokens(), share = exchange->ranks();
    const TensorView dout = ops.take_view(scratch.dattn.dtype, {T, config.q_width() / share});
    const TensorView dqkv = ops.take_view(scratch.dqkv.dtype, {T, config.qkv_width() / share});
    exchange->to_heads(stream, scratch.dattn, {config.q_width()}, dout);
    attention_gradient(act, dout, dqkv, share);
    exchange->to_rows(stream, dqkv, qkv_widths(config), dqkv_all);
    ops.release(mark);
  }
  void attention_gradient(const LayerActivations& act, const TensorView& dout, const TensorView& dqkv, int64_t share) const {
    const HeadViews of = heads_of(config, layer, act.qkv, share), d = heads_of(config, layer, dqkv, share);
    kernels::attention_packed_grad(stream, {.q = of.q,
                                            .k = of.k,
                                            .v = of.v,
                                            .cu_seqlens = rows.cu_seqlens,
                                            .out = act.attn_out,
                                            .lse = act.lse,
                                            .dout = {dout.data, dout.dtype, {dout.dim(0), of.q.dim(1), config.head_dim_of(layer)}},
                                            .dq = d.q,
                                            .dk = d.k,
                                            .dv = d.v,
                                            .scale = attention_scale(config),
                                            .window = config.window(layer),
                                            .scratch = &ops,
                                            .deterministic = rows.deterministic,
                                            .softcap = config.attention_softcap});
  }

  void sinks_gradient(const PackedLayer& w, const LayerActivations& act) const {
    for_blocks([&](const RowRange& range, const LayerBlock& block) {
      if (block.layer.sinks.empty()) return;
      const TensorView dout(scratch.dattn.data, scratch.dattn.dtype, {scratch.dattn.dim(0), config.heads, config.head_dim});
      kernels::attention_sinks_grad(stream, {.sinks = w.sinks, .out = rows_of(act.attn_out, range), .dout = rows_of(dout, range),
                                             .lse = rows_of(act.lse, range), .dsinks = block.layer.sinks});
    });
  }

  void norm_heads_backward(const PackedLayer& w, const LayerActivations& act, const TensorView& dqkv) const {
    const int64_t D = config.head_dim_of(layer), q_width = config.q_width(layer), kv_width = config.kv_width(layer);
    if (config.qk_norm_whole) {
      const TensorView dq = column_view(dqkv, 0, q_width), dk = column_view(dqkv, q_width, kv_width);
      norm_backward({.x = column_view(act.qk_raw, 0, q_width), .weight = w.q_norm, .dy = dq, .dx = dq, .dweight = {}}, &LayerViews::q_norm);
      return norm_backward({.x = column_view(act.qk_raw, q_width, kv_width), .weight = w.k_norm, .dy = dk, .dx = dk, .dweight = {}}, &LayerViews::k_norm);
    }
    const auto half = [&](int64_t first, int64_t heads, const TensorView& weight, Views dweight) {
      // On the CPU one head at a time, the order of dweight's sums; a GPU would need too many launches.
      const int64_t together = stream.is_cuda() ? heads : 1;
      for (int64_t h = 0; h < heads; h += together) {
        const TensorView d = head_view(dqkv, first + h * D, together, D);
        norm_backward({.x = head_view(act.qk_raw, first + h * D, together, D), .weight = weight, .dy = d, .dx = d, .dweight = {}}, dweight);
      }
    };
    half(0, config.heads, w.q_norm, &LayerViews::q_norm);
    half(q_width, config.kv_heads_of(layer), w.k_norm, &LayerViews::k_norm);
  }
  /// The gradient of v before its norms, which have no weight; added to that of k where v is k.
  void values_backward(const LayerActivations& act, const TensorView& dqkv) const {
    const int64_t mark = ops.mark(), K = config.kv_heads_of(layer), D = config.head_dim_of(layer), first = config.q_width(layer) + K * D;
    const TensorView d = head_view(dqkv, first, K, D), weight = ones(ops, D);
    kernels::rms_norm_grad(stream, {.x = head_view(act.qk_raw, first, K, D), .weight = weight, .dy = d, .dx = d, .dweight = ones(ops, D), .eps = config.norm_eps});
    if (config.keys_are_values(layer)) kernels::axpby(stream, {.x = column_view(dqkv, first, K * D), .a = 1.0f, .y = column_view(dqkv, first - K * D, K * D), .b = 1.0f});
    ops.release(mark);
  }
};

/// Applies rotary embedding to q and k of a matrix, or (back) its inverse.
void turn_heads(const Backward& b, const TensorView& qk, bool back) {
  const TensorView heads = head_view(qk, 0, b.config.heads + b.config.kv_heads_of(b.layer), b.config.head_dim_of(b.layer));
  kernels::rope(b.stream, {.x = heads, .positions = b.rows.positions, .table = b.rope_table, .inverse = back, .interleaved = b.config.rope.interleaved});
}

/// Computes the gradient of q, k and v before their norms and rotary embedding.
void heads_gradient(const Backward& b, const PackedLayer& w, const LayerActivations& act, const TensorView& dqkv) {
  if (!act.v.empty()) restore_heads(b.stream, b.config, w, b.rows.positions, b.rope_table, act, b.rounds_keys);
  if (b.config.sinks) b.sinks_gradient(w, act);
  b.attention_gradient(act, dqkv);
  if (b.config.qk_norm_last) {
    turn_heads(b, act.qk_raw, false);  // makes qk_raw the norms' input
    b.norm_heads_backward(w, act, dqkv);
  }
  turn_heads(b, dqkv, true);
  if (b.config.qk_norm && !b.config.qk_norm_last) b.norm_heads_backward(w, act, dqkv);
  if (b.config.value_norm) b.values_backward(act, dqkv);
}

/// heads_gradient with output gates: splits heads and gates, then joins their gradients in scratch.dqkv.
void gated_heads_gradient(const Backward& b, const PackedLayer& w, const LayerActivations& act) {
  const TensorView &joined = b.scratch.dqkv, &dattn = b.scratch.dattn;
  const int64_t mark = b.ops.mark(), T = joined.dim(0);
  const TensorView dqkv = b.ops.take_view(joined.dtype, {T, b.config.qkv_width()});
  const TensorView dgates = b.ops.take_view(joined.dtype, {T, b.config.q_width()});
  kernels::head_gate_grad(b.stream, {as_matrix(act.attn_out), act.gates, dattn, dattn, dgates});
  heads_gradient(b, w, act, dqkv);
  kernels::join_gated_heads(b.stream, {joined, dqkv, dgates, b.config.head_dim});
  b.ops.release(mark);
}

/// Backward of Mamba-2, alone or beside attention. Overwrites dy.
void mamba_gradient(const Backward& b, const PackedLayer& w, const LayerActivations& act, const TensorView& dy) {
  const ModelConfig& c = b.config;
  if (c.multipliers.linear_out != 1.0) kernels::axpby(b.stream, {.x = dy, .a = float(c.multipliers.linear_out), .y = dy});
  kernels::mamba_grad(b.stream, {.x = linear_columns(c, b.layer, act.qkv), .weights = w.delta, .cu_rows = b.rows.cu_seqlens, .dy = dy,
                                 .dx = linear_columns(c, b.layer, b.scratch.dqkv), .dweights = b.blocks.front().layer.delta, .sizes = c.delta, .steps = c.steps, .eps = c.norm_eps, .scratch = &b.ops});
}

/// Backward of gated DeltaNet, Mamba-2 or a short convolution.
void delta_gradient(const Backward& b, const PackedLayer& w, const LayerActivations& act) {
  if (b.blocks.size() != 1) fail(Code::kInternal, "backward: rows of gated DeltaNet in %zu blocks.", b.blocks.size());
  if (b.config.delta.is_convolution()) {
    return kernels::short_conv_grad(b.stream, {.x = act.qkv, .conv = w.delta.conv, .cu_rows = b.rows.cu_seqlens, .dy = b.scratch.dattn, .dx = b.scratch.dqkv,
                                               .dconv = b.blocks.front().layer.delta.conv, .scratch = &b.ops});
  }
  if (b.config.delta.mamba) return mamba_gradient(b, w, act, b.config.has_beside(b.layer) ? b.scratch.dbeside : b.scratch.dattn);
  const int64_t mark = b.ops.mark();
  const TensorView &dqkv = b.scratch.dqkv, made = b.config.delta_by_head ? b.ops.take_view(dqkv.dtype, {dqkv.dim(0), dqkv.dim(1)}) : dqkv;
  kernels::delta_rule_grad(b.stream, {.x = act.qkv, .weights = w.delta, .cu_rows = b.rows.cu_seqlens, .dy = b.scratch.dattn, .dx = made,
                                      .dweights = b.blocks.front().layer.delta, .sizes = b.config.delta, .eps = b.config.norm_eps, .scratch = &b.ops});
  if (b.config.delta_by_head) kernels::delta_columns_by_head(b.stream, {dqkv, made, b.config.delta});
  b.ops.release(mark);
}

/// Backward of the part of a layer before the output projection: attention, or what a linear layer has in its place.
void attention_half(const Backward& b, const PackedLayer& w, const TransposedLayer& wt, const LayerActivations& act) {
  if (!b.config.mixes_tokens(b.layer)) return;
  if (b.config.is_linear(b.layer)) delta_gradient(b, w, act);
  if (b.config.attends(b.layer)) b.config.gated_attention ? gated_heads_gradient(b, w, act) : heads_gradient(b, w, act, b.scratch.dqkv);
  scale_entering(b.stream, b.config, b.layer, b.scratch.dqkv);
  const TensorView& x = b.entering(act.input, w.attn_norm);
  const TensorView dqkv = column_view(b.scratch.dqkv, 0, b.config.in_width(b.layer));
  b.weight_gradient(Product::kQkv, dqkv, x, &LayerViews::qkv, &LayerViews::qkv_bias);
  kernels::linear(b.stream, {.x = dqkv, .w = wt.qkv, .bias = {}, .y = b.dentering(), .accumulate = !b.config.norms_before(), .scratch = &b.ops});
  b.leave(act.input, w.attn_norm, &LayerViews::attn_norm);
}

std::vector<LayerBlock> layer_blocks(const ModelConfig& config, const std::vector<BlockGradients>& blocks, int64_t layer) {
  std::vector<LayerBlock> out;
  for (const BlockGradients& block : blocks) out.push_back({block.rows, block.grads, block.grads.layer(config, layer)});
  return out;
}

}  // namespace

std::vector<BlockGradients> one_block(const PackedRows& rows, const Gradients& grads) {
  return {{{{0, rows.ids.dim(0)}, {0, rows.outputs()}}, grads}};
}

int64_t backward_scratch_bytes(const Stream& stream, const ModelConfig& c, int64_t tokens, DType storage) {
  const auto bytes = [&](int64_t width) { return Arena::view_bytes(activation_dtype(stream), tokens * width); };
  // Two more buffers for the last layer: dattn of the loss rows, and dx of all rows.
  int64_t mixing = 0;
  for (int64_t l = 0; l < (c.has_kinds() ? c.layers : 1); ++l) mixing = std::max(mixing, bytes(c.mixed_width(l)) + bytes(c.beside_width(l)) + bytes(c.made_width(l)));
  return transposed_layer_bytes(stream, c, storage) + (c.adds_apart() ? 4 : 3) * bytes(c.width) + bytes(c.mixed_width(c.layers - 1)) + bytes(c.beside_width(c.layers - 1)) + std::max(2 * bytes(c.widest_mlp()), mixing) +
         std::max(gated_heads_bytes(stream, c, tokens), delta_columns_bytes(stream, c, tokens)) +
         std::max({layer_gradient_bytes(stream, c, tokens), experts_backward_bytes(stream, c, tokens),
                   kernels::attention_packed_grad_scratch_bytes(stream, tokens, c.heads),
                   kernels::rms_norm_grad_scratch_bytes(stream, tokens, c.width),
                   kernels::rms_norm_grad_scratch_bytes(stream, tokens, c.q_width()),
                   kernels::rms_norm_grad_scratch_bytes(stream, tokens * c.heads, c.head_dim)});
}

void backward(const Stream& stream, const WeightSnapshot& weights, const PackedRows& rows, const Activations& saved,
              const TensorView& dhidden, const std::vector<BlockGradients>& blocks, Arena& arena) {
  const ModelConfig& c = weights.config;
  const int64_t T = rows.ids.dim(0), R = rows.outputs(), mark = arena.mark();
  const DType type = activation_dtype(stream);
  expect_contiguous(dhidden, type, {R, c.width}, "backward", "dhidden");
  if (c.logits_scaling != 1.0) kernels::axpby(stream, {.x = dhidden, .a = float(1.0 / c.logits_scaling), .y = dhidden});
  for (const auto& [of, grads] : blocks) {
    const TensorView d = rows_of(dhidden, of.outputs);
    if (of.outputs.count == 0) continue;
    kernels::rms_norm_grad(stream, {.x = rows_of(saved.last, of.outputs), .weight = weights.final_norm, .dy = d, .dx = d,
                                    .dweight = grads.final_norm(), .eps = c.norm_eps, .accumulate = false, .scratch = &arena,
                                    .offset = c.norm_offset, .centered = c.norm_centered});
  }
  TensorView dx = dhidden;  // [Q, C]
  if (R != T) dx = arena.take_view(type, {T, c.width});
  const int64_t gathered_rows = R != T ? R : 0;
  const TensorView dattn_rows = arena.take_view(type, {gathered_rows, c.mixed_width(c.layers - 1)}), dbeside_rows = arena.take_view(type, {gathered_rows, c.beside_width(c.layers - 1)});
  const int64_t layer_mark = arena.mark();  // a recomputed layer takes less from here than its backward
  for (int64_t l = c.layers - 1; l >= 0; --l) {
    const PackedLayer& layer = weights.layers[size_t(l)];
    const bool gathered = l == c.layers - 1 && R != T;
    if (weights.by_layer) weights.by_layer->backward(l);
    const TensorView& out = gathered ? dhidden : dx;
    if (!layer.scalar.empty()) kernels::axpby(stream, {.x = out, .a = *layer.scalar.as<float>(), .y = out});
    const LayerActivations act = layer_activations(stream, weights, rows, l, saved, arena);
    const TransposedLayer transposed = transpose_layer(stream, layer, arena);
    const std::vector<LayerBlock> of_layer = layer_blocks(c, blocks, l);
    Backward pass{{stream, c, rows, of_layer, l, weights.rope_table(l), weights.arithmetic, weights.storage == DType::kBF16, arena, take_scratch(c, type, l, T, gathered ? R : T, arena), out, gathered}};
    pass.output_half(layer, transposed, act, gathered ? dattn_rows : pass.scratch.dattn, gathered ? dbeside_rows : pass.scratch.dbeside);
    if (gathered) {
      if (c.mixes_tokens(l)) kernels::scatter_rows(stream, {.from = dattn_rows, .rows = rows.loss_rows, .to = pass.scratch.dattn});
      if (c.has_beside(l)) kernels::scatter_rows(stream, {.from = dbeside_rows, .rows = rows.loss_rows, .to = pass.scratch.dbeside});
      kernels::scatter_rows(stream, {.from = dhidden, .rows = rows.loss_rows, .to = dx});
      pass.dx = dx;
      pass.gathered = false;
      pass.scratch.normed.shape[0] = pass.scratch.dnormed.shape[0] = T;
    }
    attention_half(pass, layer, transposed, act);
    for (const BlockGradients& block : blocks) {
      if (block.grads.window) block.grads.window->finished(l);
    }
    arena.release(layer_mark);
  }
  if (c.embedding_scale != 1.0f) kernels::axpby(stream, {.x = dx, .a = c.embedding_scale, .y = dx});
  for (const auto& [of, grads] : blocks) {
    if (grads.adapters || of.tokens.count == 0) continue;
    kernels::embedding_grad(stream, {.ids = rows_of(rows.ids, of.tokens), .dx = rows_of(dx, of.tokens), .dtable = grads.embedding()});
  }
  arena.release(mark);
}

}  // namespace hone::model
