// A mixture of experts in place of a layer's MLP: forward, the same for generation and training, and backward.
#pragma once

#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "model/adapters.h"
#include "model/row_blocks.h"
#include "model/weight_snapshot.h"

namespace hone::model {

/// Choices that rows of a forward were given, and those of them that the layer's router would have made otherwise.
struct RouteCounts {
  int64_t given = 0, replaced = 0;
};

/// What the experts of a layer keep of R rows for the backward, k experts a row, so R k pairs, in the order of experts.
struct ExpertActivations {
  TensorView scores;   // [R, E] f32
  TensorView experts;  // [R, k] i32, ascending in a row
  TensorView weights;  // [R, k] f32
  TensorView begins;   // [E + 1] i32, rows [R k] i32, pairs [R, k] i32: kernels/experts.h
  TensorView rows, pairs;
  TensorView gate_up;  // [R k, 2F]; the backward puts its gradient here
  TensorView shared;   // [R, 1] f32: the gate of the MLP beside them, before its sigmoid; likewise. Empty without
  bool given = false;  // `experts` are there before the rows enter: kernels::RouteArgs
  int64_t* replaced = nullptr;
};
ExpertActivations take_experts(const ModelConfig& config, int64_t rows, Arena& arena);
int64_t expert_activation_bytes(const ModelConfig& config, int64_t rows);
/// Buffers of more rows, for the first of them.
ExpertActivations first_rows(ExpertActivations act, int64_t rows);

/// Routes x [R, C] and computes what act keeps.
void enter_experts(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const TensorView& x,
                   const ExpertActivations& act, Arena& scratch);
/// added [R, C] += sum over a row's experts, ascending, of weight times down(swiglu(gate_up)).
void leave_experts(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const ExpertActivations& act,
                   const TensorView& added, Arena& scratch);
/// What either takes and releases.
int64_t expert_scratch_bytes(const ModelConfig& config, int64_t rows);

/// Transposed packs, one an expert, and the router's.
struct TransposedExperts {
  kernels::PackedMatrix router, shared_gate;
  std::vector<kernels::PackedMatrix> gate_up, down;
};

/// Where the gradients of a block's rows go; views without memory are frozen. With adapters those of matrices go to theirs.
struct ExpertGradients {
  RowRange rows;
  LayerViews to;
  const Adapters* adapters = nullptr;
  TensorBlock* of_adapters = nullptr;
};
/// Terms of the loss about routers, kernels/router_loss.h; off where both coefficients are 0.
struct RouterTerms {
  double balance_coef = 0.0, z_coef = 0.0;  // of a layer and sequence
  TensorView starts{};       // [S+1] i32: where the rows of a sequence begin
  double* losses = nullptr;  // [S] accumulated
  bool on() const { return balance_coef != 0.0 || z_coef != 0.0; }
};
struct ExpertsBackwardArgs {
  TensorView x;         // [R, C] in: what entered
  TensorView dadded;    // [R, C] in
  TensorView dx;        // [R, C] accumulated, or out
  bool accumulate = false;
  const ExpertActivations& act;  // gate_up is overwritten
  const PackedLayer& weights;
  const TransposedExperts& transposed;
  const std::vector<ExpertGradients>& gradients;
  kernels::Arithmetic arithmetic;
  int64_t layer = 0;
  double* expert_rows = nullptr;  // [L, E] or null: how many of the rows went to each expert is added
  RouterTerms terms{};
};
void experts_backward(const Stream& stream, const ModelConfig& config, const ExpertsBackwardArgs& args, Arena& scratch);
int64_t experts_backward_bytes(const ModelConfig& config, int64_t rows);

}  // namespace hone::model
