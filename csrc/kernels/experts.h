// Mixtures of experts: routing of rows to experts, products with one matrix per expert, and the combination of results.
// CPU only.
#pragma once

#include <vector>

#include "core/stream.h"
#include "core/tensor.h"
#include "kernels/matmul.h"

namespace hone::kernels {

/// Scoring and selection of experts. E experts, of which k are chosen for a row.
struct Routing {
  bool sigmoid = false;     // a score is the sigmoid of its logit; otherwise the softmax over all E
  bool normalized = false;  // weights are the chosen scores over their sum, otherwise the scores themselves
  float scaling = 1.0f;     // weights are multiplied by it
  int64_t groups = 1, chosen_groups = 1;  // of E / groups neighbours each; experts of other groups are not chosen
};

/// Scores E experts for R rows and chooses k: the highest scores, for equal ones the lower index. The correction is
/// added to scores for the comparison only, not in weights. A group's score is the sum of its two highest. Chosen
/// experts are in ascending order, regardless of their scores, so that sums over them have one order. A row's result
/// depends on its logits alone: the same bits on every instruction set.
/// Source: Fedus et al., Switch Transformers; DeepSeek-V3, sections 2.1.2 and 2.1.4 (sigmoid, groups, correction).
struct RouteArgs {
  TensorView scores;      // [R, E] f32 in: logits; out: scores
  TensorView correction;  // [E] f32 in, or empty
  TensorView experts;     // [R, k] i32 out
  TensorView weights;     // [R, k] f32 out
  Routing how;
  /// `experts` are in: k ascending ones a row, whose weights are computed as of chosen ones. A row whose first is -1 chooses.
  bool given = false;
  int64_t* replaced = nullptr;  // or null: += how many given rows would have chosen others
};
void route(const Stream& stream, const RouteArgs& args);

/// The gradient of weights to the logits. Which experts are chosen has none.
struct RouteGradArgs {
  TensorView scores;    // [R, E] f32 in, of route
  TensorView experts;   // [R, k] i32 in
  TensorView dweights;  // [R, k] f32 in
  TensorView dlogits;   // [R, E] f32 out; may alias scores
  Routing how;
};
void route_grad(const Stream& stream, const RouteGradArgs& args);

/// Sorts the R k pairs of row and expert by expert, then by row.
struct GroupRowsArgs {
  TensorView experts;  // [R, k] i32 in
  TensorView begins;   // [E + 1] i32 out: expert e has the pairs from begins[e] to begins[e + 1]
  TensorView rows;     // [R k] i32 out: the row of a pair
  TensorView pairs;    // [R, k] i32 out: the place of a row's pairs in that order
};
void group_rows(const GroupRowsArgs& args);

/// y[p] = x[p] W_e^T (+ bias_e) for every pair p of expert e, with the bits of `linear`.
struct ExpertsLinearArgs {
  TensorView x;       // [R k, K] f32 in
  TensorView begins;  // [E + 1] i32 in
  const std::vector<PackedMatrix>& w;  // E of [N, K]
  TensorView y;       // [R k, N] f32 out
  TensorView bias{};  // [E, N] f32 in, or empty
};
void experts_linear(const Stream& stream, const ExpertsLinearArgs& args);

/// dW_e += dy^T x over the pairs of expert e whose row is in [first_row, last_row), as linear_grad_weight adds them.
struct ExpertsGradWeightArgs {
  TensorView dy;      // [R k, N] f32 in
  TensorView x;       // [R k, K] f32 in
  TensorView begins;  // [E + 1] i32 in
  TensorView rows;    // [R k] i32 in
  TensorView dw;      // [E N, K] f32 accumulated
  int64_t first_row = 0, last_row = 0;
  Arithmetic arithmetic = Arithmetic::kF32;
};
void experts_grad_weight(const Stream& stream, const ExpertsGradWeightArgs& args);

/// dbias_e += sum over the rows r in [first_row, last_row) that chose e, ascending, of dy at their pair, times their weight.
struct ExpertsGradBiasArgs {
  TensorView dy;       // [R k, N] f32 in
  TensorView experts;  // [R, k] i32 in
  TensorView pairs;    // [R, k] i32 in
  TensorView weights;  // [R, k] f32 in, or empty: all are 1
  TensorView dbias;    // [E, N] f32 accumulated
  int64_t first_row = 0, last_row = 0;
};
void experts_grad_bias(const Stream& stream, const ExpertsGradBiasArgs& args);

/// to[r] += sum over j of weights[r, j] from[pairs[r, j]], j ascending, each product rounded before it is added.
struct CombineRowsArgs {
  TensorView from;     // [R k, C] f32 in
  TensorView pairs;    // [R, k] i32 in
  TensorView weights;  // [R, k] f32 in, or empty: all are 1
  TensorView to;       // [R, C] f32 accumulated, strided rows
};
void combine_rows(const Stream& stream, const CombineRowsArgs& args);

/// Of y = sum over j of weights[r, j] outputs[pairs[r, j]]: dweights[r, j] = dproduct . product of the pair; then both
/// rows that are given beside are multiplied by the pair's weight. With the biases of what makes outputs of products, they are
/// part of y: dweights gets doutputs . bias too.
struct WeighPairsArgs {
  TensorView pairs;     // [R, k] i32 in
  TensorView weights;   // [R, k] f32 in
  TensorView dproduct;  // [R k, F] f32 in
  TensorView product;   // [R k, F] f32 in and out
  TensorView beside;    // [R k, G] f32 in and out
  TensorView dweights;  // [R, k] f32 out
  TensorView experts{}, bias{}, doutputs{};  // [R, k] i32, [E, C] f32, [R k, C] f32 in; or all empty
};
void weigh_pairs(const Stream& stream, const WeighPairsArgs& args);

}  // namespace hone::kernels
