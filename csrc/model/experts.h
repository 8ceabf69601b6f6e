// A mixture of experts in place of a layer's MLP: the forward pass, which generation and training share, and
// the backward pass.
#pragma once

#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "model/adapters.h"
#include "model/row_blocks.h"
#include "model/weight_snapshot.h"

namespace hone::model {

/// Counts the expert choices that a forward pass was given as GivenRoutes, and how many of them the layer's
/// router would have made differently.
struct RouteCounts {
  int64_t given = 0, replaced = 0;
};

/// What a layer's mixture of experts stores in the forward of R rows for the backward. Each row goes to k
/// experts, which makes R k pairs, sorted by expert.
struct ExpertActivations {
  TensorView scores;   // [R, E] f32
  TensorView experts;  // [R, k] i32, ascending in a row
  TensorView weights;  // [R, k] f32
  TensorView begins;   // [E + 1] i32; rows is [R k] i32 and pairs [R, k] i32; see kernels/experts.h
  TensorView rows, pairs;
  TensorView gate_up;  // [R k, gate_up_width(F)] activation; the backward overwrites it with its gradient
  // [R, 1] f32: gate of the shared MLP before the sigmoid; overwritten like gate_up; empty without a gate
  TensorView shared;
  // `experts` is filled before the forward; for `given` and `replaced` see kernels::RouteArgs
  bool given = false;
  int64_t* replaced = nullptr;
};
ExpertActivations take_experts(const ModelConfig& config, DType type, int64_t rows, Arena& arena);
int64_t expert_activation_bytes(const Stream& stream, const ModelConfig& config, int64_t rows);
/// The same buffers viewed as buffers for only the first `rows` rows.
ExpertActivations first_rows(ExpertActivations act, int64_t rows);

/// Routes x [R, C] to experts and writes every view of act.
void enter_experts(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const TensorView& x,
                   const ExpertActivations& act, Arena& scratch);
/// added [R, C] += sum over each row's experts, in ascending order, of weight * down(swiglu(gate_up)).
void leave_experts(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const ExpertActivations& act,
                   const TensorView& added, Arena& scratch);
/// Scratch that enter_experts and leave_experts each take and release.
int64_t expert_scratch_bytes(const Stream& stream, const ModelConfig& config, int64_t rows);

/// Packed transposes of the router's, the gate's and each expert's matrices.
struct TransposedExperts {
  kernels::PackedMatrix router, shared_gate;
  std::vector<kernels::PackedMatrix> gate_up, down;
};

/// Where the gradients of one block of rows are added. Views without memory belong to frozen weights. If
/// `adapters` is set, gradients of adapted matrices go to `of_adapters` instead.
struct ExpertGradients {
  RowRange rows;
  LayerViews to;
  const Adapters* adapters = nullptr;
  TensorBlock* of_adapters = nullptr;
};
/// Auxiliary loss terms of routers (kernels/router_loss.h); off if both coefficients are 0.
struct RouterTerms {
  double balance_coef = 0.0, z_coef = 0.0;  // coefficients for one layer and one sequence
  TensorView starts{};       // [S+1] i32: first row of each sequence
  double* losses = nullptr;  // [S] added to, in the stream's memory
  bool on() const { return balance_coef != 0.0 || z_coef != 0.0; }
};
struct ExpertsBackwardArgs {
  TensorView x;         // [R, C] in: the input of enter_experts
  TensorView dadded;    // [R, C] in
  TensorView dx;        // [R, C] out; added to if `accumulate`
  bool accumulate = false;
  const ExpertActivations& act;  // gate_up is overwritten
  const PackedLayer& weights;
  const TransposedExperts& transposed;
  const std::vector<ExpertGradients>& gradients;
  kernels::Arithmetic arithmetic;
  int64_t layer = 0;
  TensorView expert_rows{};  // [L, E] f64 or empty: the number of rows that went to each expert is added
  RouterTerms terms{};
};
void experts_backward(const Stream& stream, const ModelConfig& config, const ExpertsBackwardArgs& args, Arena& scratch);
int64_t experts_backward_bytes(const Stream& stream, const ModelConfig& config, int64_t rows);

}  // namespace hone::model
