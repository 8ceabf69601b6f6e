// Mixtures of experts: routing of rows to experts, products with one matrix per expert, and the combination of results.
// On CUDA activations are bf16 ("activation" below), the experts' matrices lie at equal distances, and given experts are refused. Where a comment speaks of the bits that the CPU gives, CUDA has the same order within its own arithmetic.
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
  float least_sum = 0.0f;  // added to that sum; CPU only
};

/// Limits on CUDA.
inline constexpr int64_t kMostCudaExperts = 1024, kMostCudaExpertGroups = 32;

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
  /// CPU only.
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
void group_rows(const Stream& stream, const GroupRowsArgs& args);

/// counts[e] += number of pairs of expert e.
struct CountRowsArgs {
  TensorView begins;  // [E + 1] i32 in
  TensorView counts;  // [E] f64 accumulated
};
void count_rows(const Stream& stream, const CountRowsArgs& args);

/// y[p] = x[p] W_e^T (+ bias_e) for every pair p of each expert e, with the bits of `linear`. On CUDA the number of pairs of an
/// expert is not read by the host.
struct ExpertsLinearArgs {
  TensorView x;       // [R k, K] activation in
  TensorView begins;  // [E + 1] i32 in
  const std::vector<PackedMatrix>& w;  // E of [N, K]; on CUDA at equal distances in memory
  TensorView y;       // [R k, N] activation out
  TensorView bias{};  // [E, N] f32 in, or empty
};
void experts_linear(const Stream& stream, const ExpertsLinearArgs& args);

/// dW_e += dy^T x over the pairs of expert e whose row is in [first_row, last_row), in the order of
/// linear_grad_weight.
struct ExpertsGradWeightArgs {
  TensorView dy;      // [R k, N] activation in
  TensorView x;       // [R k, K] activation in
  TensorView begins;  // [E + 1] i32 in
  TensorView rows;    // [R k] i32 in
  TensorView dw;      // [E N, K] f32 accumulated
  int64_t first_row = 0, last_row = 0;
  Arithmetic arithmetic = Arithmetic::kF32;  // CPU only
};
void experts_grad_weight(const Stream& stream, const ExpertsGradWeightArgs& args);

/// dbias_e += sum of weight x dy over the pairs of expert e whose row is in [first_row, last_row); on the CPU with
/// rows ascending, on CUDA in a fixed order of its own.
struct ExpertsGradBiasArgs {
  TensorView dy;       // [R k, N] activation in
  TensorView experts;  // [R, k] i32 in
  TensorView begins;   // [E + 1] i32 in
  TensorView rows;     // [R k] i32 in
  TensorView pairs;    // [R, k] i32 in
  TensorView weights;  // [R, k] f32 in, or empty: all are 1
  TensorView dbias;    // [E, N] f32 accumulated
  int64_t first_row = 0, last_row = 0;
};
void experts_grad_bias(const Stream& stream, const ExpertsGradBiasArgs& args);

/// The matrices B [N, r] of E experts' adapters: side by side as PEFT stores them, column j E + e being column j of
/// expert e; and turned round, row e r + j being that column. CUDA only.
struct ExpertColumnsArgs {
  TensorView columns;   // [N, r E] f32
  TensorView rows;      // [E r, N]
  int64_t experts = 0;  // E
};
/// Writes the columns to rows, bf16.
void turn_expert_columns(const Stream& stream, const ExpertColumnsArgs& args);
/// Adds rows, f32, to the columns.
void add_expert_columns(const Stream& stream, const ExpertColumnsArgs& args);

/// to[r] += sum over j of weights[r, j] from[pairs[r, j]], j ascending; each product is rounded to f32 before it
/// is added.
struct CombineRowsArgs {
  TensorView from;     // [R k, C] activation in
  TensorView pairs;    // [R, k] i32 in
  TensorView weights;  // [R, k] f32 in, or empty: all are 1
  TensorView to;       // [R, C] activation accumulated, strided rows
};
void combine_rows(const Stream& stream, const CombineRowsArgs& args);

/// Gradient of y[r] = sum over j of weights[r, j] outputs[pairs[r, j]] with respect to the weights:
/// dweights[r, j] = dproduct . product of the pair; if the outputs have a bias, doutputs . bias is added.
/// Then the pair's rows of `product` and of `beside` are multiplied by the pair's weight.
struct WeighPairsArgs {
  TensorView pairs;     // [R, k] i32 in
  TensorView weights;   // [R, k] f32 in
  TensorView dproduct;  // [R k, F] activation in
  TensorView product;   // [R k, F] activation in and out
  TensorView beside;    // [R k, G] activation in and out
  TensorView dweights;  // [R, k] f32 out
  // [R, k] i32, [E, C] f32, [R k, C] activation in; or an empty bias
  TensorView experts{}, bias{}, doutputs{};
};
void weigh_pairs(const Stream& stream, const WeighPairsArgs& args);

}  // namespace hone::kernels
