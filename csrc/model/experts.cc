#include "model/experts.h"

#include <algorithm>

#include "kernels/cast.h"
#include "kernels/experts.h"
#include "kernels/gather.h"
#include "kernels/router_loss.h"
#include "model/activation.h"

namespace hone::model {
namespace {

kernels::Routing routing_of(const ExpertsConfig& e) {
  return {.sigmoid = e.sigmoid,
          .normalized = e.normalized,
          .scaling = float(e.scaling),
          .groups = e.groups,
          .chosen_groups = e.chosen_groups,
          .least_sum = float(e.least_sum)};
}

int64_t f32_bytes(int64_t n) { return Arena::view_bytes(DType::kF32, n); }

}  // namespace

ExpertActivations take_experts(const ModelConfig& c, DType type, int64_t rows, Arena& arena) {
  const ExpertsConfig& e = c.experts;
  const int64_t k = e.chosen;
  ExpertActivations act;
  act.scores = arena.take_view(DType::kF32, {rows, e.count});
  act.experts = arena.take_view(DType::kI32, {rows, k});
  act.weights = arena.take_view(DType::kF32, {rows, k});
  act.begins = arena.take_view(DType::kI32, {e.count + 1});
  act.rows = arena.take_view(DType::kI32, {rows * k});
  act.pairs = arena.take_view(DType::kI32, {rows, k});
  act.gate_up = arena.take_view(type, {rows * k, c.gate_up_width(e.width)});
  if (e.shared_gate) act.shared = arena.take_view(DType::kF32, {rows, 1});
  return act;
}

int64_t expert_activation_bytes(const Stream& stream, const ModelConfig& c, int64_t rows) {
  const ExpertsConfig& e = c.experts;
  if (!c.mixes()) return 0;
  return f32_bytes(rows * e.count) + 4 * f32_bytes(rows * e.chosen) + f32_bytes(e.count + 1) + Arena::view_bytes(activation_dtype(stream), rows * e.chosen * c.gate_up_width(e.width)) +
         (e.shared_gate ? f32_bytes(rows) : 0);
}

ExpertActivations first_rows(ExpertActivations act, int64_t rows) {
  const int64_t k = act.experts.dim(1);
  for (TensorView* view : {&act.scores, &act.experts, &act.weights, &act.pairs, &act.shared}) view->shape[0] = rows;
  for (TensorView* view : {&act.rows, &act.gate_up}) view->shape[0] = rows * k;
  return act;
}

void enter_experts(const Stream& stream, const ModelConfig& c, const PackedLayer& w, const TensorView& x,
                   const ExpertActivations& act, Arena& scratch) {
  const int64_t mark = scratch.mark();
  kernels::linear(stream, {.x = x, .w = w.router, .bias = w.router_bias, .y = act.scores, .scratch = &scratch});
  if (w.shared_gate.n > 0) kernels::linear(stream, {.x = x, .w = w.shared_gate, .bias = {}, .y = act.shared, .scratch = &scratch});
  kernels::route(stream, {.scores = act.scores, .correction = w.correction, .experts = act.experts, .weights = act.weights, .how = routing_of(c.experts), .given = act.given, .replaced = act.replaced});
  kernels::group_rows(stream, {.experts = act.experts, .begins = act.begins, .rows = act.rows, .pairs = act.pairs});
  const TensorView entering = scratch.take_view(x.dtype, {act.rows.dim(0), c.width});
  kernels::gather_rows(stream, {.from = x, .rows = act.rows, .to = entering});
  kernels::experts_linear(stream, {.x = entering, .begins = act.begins, .w = w.experts_gate_up, .y = act.gate_up, .bias = w.experts_gate_up_bias});
  scratch.release(mark);
}

void leave_experts(const Stream& stream, const ModelConfig& c, const PackedLayer& w, const ExpertActivations& act,
                   const TensorView& added, Arena& scratch) {
  const int64_t mark = scratch.mark(), count = act.rows.dim(0);
  const TensorView products = scratch.take_view(added.dtype, {count, c.width}), inner = scratch.take_view(added.dtype, {count, c.experts.width});
  activate(stream, c, act.gate_up, inner, float(c.experts.limit));
  kernels::experts_linear(stream, {.x = inner, .begins = act.begins, .w = w.experts_down, .y = products, .bias = w.experts_down_bias});
  kernels::combine_rows(stream, {.from = products, .pairs = act.pairs, .weights = act.weights, .to = added});
  scratch.release(mark);
}

int64_t expert_scratch_bytes(const Stream& stream, const ModelConfig& c, int64_t rows) {
  if (!c.mixes()) return 0;
  const int64_t count = rows * c.experts.chosen;
  const DType type = activation_dtype(stream);
  return std::max(Arena::view_bytes(type, count * c.width) + Arena::view_bytes(type, count * c.experts.width), kernels::linear_scratch_bytes(stream, rows, c.experts.count, c.width));
}

namespace {

/// Adds the gradients of the router's auxiliary losses to dlogits. Recomputes the logits, since scores have
/// overwritten them.
void add_router_terms(const Stream& stream, const ModelConfig& c, const ExpertsBackwardArgs& a, const TensorView& dlogits, Arena& scratch) {
  const int64_t mark = scratch.mark();
  const TensorView logits = scratch.take_view(DType::kF32, {dlogits.dim(0), c.experts.count});
  kernels::linear(stream, {.x = a.x, .w = a.weights.router, .bias = a.weights.router_bias, .y = logits, .scratch = &scratch});
  kernels::router_loss(stream, {.logits = logits, .experts = a.act.experts, .starts = a.terms.starts, .dlogits = dlogits,
                                .balance_coef = a.terms.balance_coef, .z_coef = a.terms.z_coef, .sigmoid = c.experts.sigmoid, .losses = a.terms.losses});
  scratch.release(mark);
}

/// The router's gradients and what it adds to dx. Overwrites act.scores.
void router_backward(const Stream& stream, const ModelConfig& c, const ExpertsBackwardArgs& a, const TensorView& dweights, Arena& scratch) {
  const int64_t mark = scratch.mark();
  const TensorView& slopes = a.act.scores;
  kernels::route_grad(stream, {.scores = slopes, .experts = a.act.experts, .dweights = dweights, .dlogits = slopes, .how = routing_of(c.experts)});
  if (a.terms.on()) add_router_terms(stream, c, a, slopes, scratch);
  TensorView dlogits = slopes;
  if (activation_dtype(stream) != slopes.dtype) {
    dlogits = scratch.take_view(activation_dtype(stream), {slopes.dim(0), slopes.dim(1)});
    kernels::cast(stream, {.from = slopes, .to = dlogits});
  }
  for (const ExpertGradients& of : a.gradients) {
    if (of.to.router.empty()) continue;
    kernels::linear_grad_weight(stream, {.dy = rows_of(dlogits, of.rows), .x = rows_of(a.x, of.rows), .dw = of.to.router, .dbias = of.to.router_bias});
  }
  kernels::linear(stream, {.x = dlogits, .w = a.transposed.router, .bias = {}, .y = a.dx, .accumulate = a.accumulate, .scratch = &scratch});
  scratch.release(mark);
}

}  // namespace

void experts_backward(const Stream& stream, const ModelConfig& c, const ExpertsBackwardArgs& a, Arena& scratch) {
  const ExpertActivations& act = a.act;
  if (!a.expert_rows.empty()) kernels::count_rows(stream, {.begins = act.begins, .counts = TensorView(a.expert_rows.row<double>(a.layer), DType::kF64, {c.experts.count})});
  const int64_t mark = scratch.mark(), count = act.rows.dim(0), F = c.experts.width;
  const DType type = activation_dtype(stream);
  const TensorView wide = scratch.take_view(type, {count, c.width}), inner = scratch.take_view(type, {count, F}),
                   dinner = scratch.take_view(type, {count, F}),
                   dweights = scratch.take_view(DType::kF32, {act.experts.dim(0), c.experts.chosen});
  const bool turned = c.experts.turned;
  const auto weight_gradient = [&](ExpertProduct product, const TensorView& dy, const TensorView& x, TensorView LayerViews::*dw) {
    for (const ExpertGradients& of : a.gradients) {
      const RowRange& range = of.rows;
      if (of.adapters) of.adapters->gradient(stream, a.layer, product, {dy, x, act.begins, act.rows, range.first, range.first + range.count}, *of.of_adapters, scratch);
      if ((of.to.*dw).empty()) continue;
      kernels::experts_grad_weight(stream, {.dy = turned ? x : dy, .x = turned ? dy : x, .begins = act.begins, .rows = act.rows, .dw = of.to.*dw, .first_row = of.rows.first,
                                            .last_row = of.rows.first + of.rows.count, .arithmetic = a.arithmetic});
    }
  };
  const auto bias_gradient = [&](const TensorView& dy, const TensorView& weights, TensorView LayerViews::*dbias) {
    for (const ExpertGradients& of : a.gradients) {
      if ((of.to.*dbias).empty()) continue;
      kernels::experts_grad_bias(stream, {.dy = dy, .experts = act.experts, .begins = act.begins, .rows = act.rows, .pairs = act.pairs, .weights = weights, .dbias = of.to.*dbias,
                                          .first_row = of.rows.first, .last_row = of.rows.first + of.rows.count});
    }
  };
  kernels::gather_rows(stream, {.from = a.dadded, .rows = act.rows, .to = wide});
  kernels::experts_linear(stream, {.x = wide, .begins = act.begins, .w = a.transposed.down, .y = dinner});
  const TensorView& dgate_up = act.gate_up;
  activate_grad(stream, c, dgate_up, dinner, inner, float(c.experts.limit));
  kernels::weigh_pairs(stream, {.pairs = act.pairs, .weights = act.weights, .dproduct = dinner, .product = inner, .beside = dgate_up, .dweights = dweights,
                                .experts = act.experts, .bias = a.weights.experts_down_bias, .doutputs = wide});
  weight_gradient(ExpertProduct::kDown, wide, inner, &LayerViews::experts_down);
  bias_gradient(wide, act.weights, &LayerViews::experts_down_bias);
  kernels::gather_rows(stream, {.from = a.x, .rows = act.rows, .to = wide});
  weight_gradient(ExpertProduct::kGateUp, dgate_up, wide, &LayerViews::experts_gate_up);
  bias_gradient(dgate_up, {}, &LayerViews::experts_gate_up_bias);
  router_backward(stream, c, a, dweights, scratch);
  kernels::experts_linear(stream, {.x = dgate_up, .begins = act.begins, .w = a.transposed.gate_up, .y = wide});
  kernels::combine_rows(stream, {.from = wide, .pairs = act.pairs, .weights = {}, .to = a.dx});
  scratch.release(mark);
}

int64_t experts_backward_bytes(const Stream& stream, const ModelConfig& c, int64_t rows) {
  if (!c.mixes()) return 0;
  const int64_t count = rows * c.experts.chosen, slopes = rows * c.experts.count;
  const DType type = activation_dtype(stream);
  const int64_t router = std::max(f32_bytes(slopes) + kernels::linear_scratch_bytes(stream, rows, c.experts.count, c.width), stream.is_cuda() ? Arena::view_bytes(type, slopes) : 0);
  return Arena::view_bytes(type, count * c.width) + 2 * Arena::view_bytes(type, count * c.experts.width) + f32_bytes(count) + router;
}

}  // namespace hone::model
