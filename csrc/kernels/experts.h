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
  // a score is the sigmoid of its logit; otherwise scores are the softmax over all E logits
  bool sigmoid = false;
  // weights are the chosen scores divided by their sum; otherwise the scores themselves
  bool normalized = false;
  float scaling = 1.0f;     // factor of all weights
  // each group has E / groups consecutive experts; only experts of chosen groups can be chosen
  int64_t groups = 1, chosen_groups = 1;
};

/// Computes scores of E experts for R rows and chooses k experts per row: the highest scores, the lower index
/// if scores are equal. The correction is added to scores for the comparison only, not to weights. A group's
/// score is the sum of its two highest scores. Chosen experts are listed in ascending order, so that sums
/// over them have a fixed order. A row's result depends only on its logits, with the same bits on every
/// instruction set. Source: Fedus et al., Switch Transformers; DeepSeek-V3, sections 2.1.2 and 2.1.4
/// (sigmoid, groups, correction).
struct RouteArgs {
  TensorView scores;      // [R, E] f32 in: logits; out: scores
  TensorView correction;  // [E] f32 in, or empty
  TensorView experts;     // [R, k] i32 out
  TensorView weights;     // [R, k] f32 out
  Routing how;
  /// True: `experts` is an input, k ascending experts per row, and only weights are computed. A row whose
  /// first expert is -1 chooses as usual.
  bool given = false;
  // null, or incremented by the number of given experts that the row would not have chosen
  int64_t* replaced = nullptr;
};
void route(const Stream& stream, const RouteArgs& args);

/// Gradient of route's weights with respect to the logits; the choice of experts has no gradient.
struct RouteGradArgs {
  TensorView scores;    // [R, E] f32 in, scores that route computed
  TensorView experts;   // [R, k] i32 in
  TensorView dweights;  // [R, k] f32 in
  TensorView dlogits;   // [R, E] f32 out; may alias scores
  Routing how;
};
void route_grad(const Stream& stream, const RouteGradArgs& args);

/// Sorts the R k pairs (row, expert) by expert, then by row.
struct GroupRowsArgs {
  TensorView experts;  // [R, k] i32 in
  TensorView begins;   // [E + 1] i32 out: expert e has pairs begins[e] to begins[e + 1] - 1
  TensorView rows;     // [R k] i32 out: row of each pair
  TensorView pairs;    // [R, k] i32 out: index, in the sorted order, of each of a row's pairs
};
void group_rows(const GroupRowsArgs& args);

/// y[p] = x[p] W_e^T (+ bias_e) for every pair p of each expert e, with the bits of `linear`.
struct ExpertsLinearArgs {
  TensorView x;       // [R k, K] f32 in
  TensorView begins;  // [E + 1] i32 in
  const std::vector<PackedMatrix>& w;  // E of [N, K]
  TensorView y;       // [R k, N] f32 out
  TensorView bias{};  // [E, N] f32 in, or empty
};
void experts_linear(const Stream& stream, const ExpertsLinearArgs& args);

/// dW_e += dy^T x over the pairs of expert e whose row is in [first_row, last_row), in the order of
/// linear_grad_weight.
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

/// dbias_e += sum of weight x dy over the pairs of expert e whose row is in [first_row, last_row), rows
/// ascending.
struct ExpertsGradBiasArgs {
  TensorView dy;       // [R k, N] f32 in
  TensorView experts;  // [R, k] i32 in
  TensorView pairs;    // [R, k] i32 in
  TensorView weights;  // [R, k] f32 in, or empty: all are 1
  TensorView dbias;    // [E, N] f32 accumulated
  int64_t first_row = 0, last_row = 0;
};
void experts_grad_bias(const Stream& stream, const ExpertsGradBiasArgs& args);

/// to[r] += sum over j of weights[r, j] from[pairs[r, j]], j ascending; each product is rounded before it is
/// added.
struct CombineRowsArgs {
  TensorView from;     // [R k, C] f32 in
  TensorView pairs;    // [R, k] i32 in
  TensorView weights;  // [R, k] f32 in, or empty: all are 1
  TensorView to;       // [R, C] f32 accumulated, strided rows
};
void combine_rows(const Stream& stream, const CombineRowsArgs& args);

/// Gradient of y[r] = sum over j of weights[r, j] outputs[pairs[r, j]] with respect to the weights:
/// dweights[r, j] = dproduct . product of the pair; if the outputs have a bias, doutputs . bias is added.
/// Then the pair's rows of `product` and of `beside` are multiplied by the pair's weight.
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
