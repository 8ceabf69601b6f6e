// What the backward of attention and that of the MLP have in common: buffers, blocks of rows, norms, gradients of matrices.
#pragma once

#include <vector>

#include "kernels/axpby.h"
#include "kernels/rms_norm.h"
#include "model/layer.h"
#include "model/network.h"

namespace hone::model {

/// Buffers of one layer's backward, reused by all layers.
struct BackwardScratch {
  TensorView normed;   // [Q, C] norm output, recomputed
  TensorView dnormed;  // [Q, C]
  TensorView dadded;   // [Q, C] gradient of the output of attention or MLP; only if config.adds_apart()
  TensorView mlp;      // [Q, F] swiglu output, recomputed; like dmlp, F of the widest MLP
  TensorView dmlp;     // [Q, F]
  TensorView dattn;    // [T, mixed_width]
  TensorView dbeside;  // [T, beside_width]
  TensorView dqkv;     // [T, made_width]
};

/// A block's rows and its gradients of one layer.
struct LayerBlock {
  RowBlock rows;
  const Gradients& grads;
  LayerViews layer;
};

/// What the backward of attention and of the MLP have in common.
struct HalfBackward {
  using Views = TensorView LayerViews::*;  // pointer to a member: one of a layer's tensors

  const Stream& stream;
  const ModelConfig& config;
  const PackedRows& rows;
  const std::vector<LayerBlock>& blocks;
  int64_t layer;
  const TensorView& rope_table;
  kernels::Arithmetic arithmetic;  // of gradients of matrices
  bool rounds_keys;                // attention reads keys rounded to bf16
  Arena& ops;  // scratch of the kernels, released after each call
  BackwardScratch scratch;
  TensorView dx;  // [Q, C] gradient of the residual stream, updated in place
  bool gathered;  // true if the rows are the loss rows only

  /// Calls each(rows, block) for every block that has rows.
  template <class Each>
  void for_blocks(const Each& each) const {
    for (const LayerBlock& block : blocks) {
      const RowRange range = gathered ? block.rows.outputs : block.rows.tokens;
      if (range.count > 0) each(range, block);
    }
  }

  /// The input of attention or MLP; recomputes the norm before it, if any.
  const TensorView& entering(const TensorView& x, const TensorView& weight) const {
    if (!config.norms_before()) return x;
    norm_rows(stream, config, x, weight, scratch.normed);
    return scratch.normed;
  }
  /// Where the gradient of the first product's input is written; dx itself, which is added to, if no norm
  /// precedes it.
  const TensorView& dentering() const { return config.norms_before() ? scratch.dnormed : dx; }
  /// Adds the gradient of attention's or the MLP's input to dx, given dentering().
  void leave(const TensorView& x, const TensorView& weight, Views dweight) const {
    if (!config.norms_before()) return;
    norm_backward({.x = x, .weight = weight, .dy = scratch.dnormed, .dx = dx, .dweight = {}, .accumulate = true, .centered = config.norm_centered}, dweight);
  }
  /// Adds the gradients of a matrix and, if dbias is not null, of its bias.
  void weight_gradient(Product product, const TensorView& dy, const TensorView& x, Views dw, Views dbias = nullptr) const {
    for_blocks([&](const RowRange& range, const LayerBlock& block) {
      const TensorView d = rows_of(dy, range), in = rows_of(x, range);
      const Gradients& to = block.grads;
      if (to.adapters) return to.adapters->gradient(stream, layer, product, d, in, *to.of_adapters, ops);
      kernels::linear_grad_weight(stream, {.dy = d, .x = in, .dw = block.layer.*dw, .dbias = dbias ? block.layer.*dbias : TensorView{}, .arithmetic = arithmetic});
    });
  }
  void norm_backward(const kernels::RmsNormGradArgs& whole, Views dweight) const {
    for_blocks([&](const RowRange& range, const LayerBlock& block) {
      kernels::RmsNormGradArgs args = whole;
      for (TensorView* view : {&args.x, &args.dy, &args.dx}) *view = rows_of(*view, range);
      args.dweight = block.layer.*dweight;
      args.eps = config.norm_eps;
      args.offset = config.norm_offset;
      args.scratch = &ops;
      kernels::rms_norm_grad(stream, args);
    });
  }
  /// Gradient of the last product of attention or MLP, whose output was `added`, given the gradient dx of the
  /// residual stream.
  TensorView of_added(const TensorView& added, const TensorView& weight, Views dweight) const {
    if (!config.adds_apart()) return dx;
    TensorView d = dx;
    if (config.residual_scale != 1.0f) {
      kernels::axpby(stream, {.x = dx, .a = config.residual_scale, .y = scratch.dadded});
      d = scratch.dadded;
    }
    if (config.norms_after()) norm_backward({.x = added, .weight = weight, .dy = d, .dx = scratch.dadded, .dweight = {}, .centered = config.norm_centered}, dweight);
    return scratch.dadded;
  }
};

}  // namespace hone::model
