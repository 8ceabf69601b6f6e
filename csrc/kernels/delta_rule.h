// Gated DeltaNet and its backward: short convolution, linear recurrence with a state per head, gated norm.
#pragma once

#include <cstdint>

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// Longest convolution.
inline constexpr int64_t kMostTaps = 8;

/// Heads and widths of a linear attention layer: N key heads of Dk, M value heads of Dv (a multiple of N), a
/// convolution over `taps` tokens. Without key heads (N = Dk = 0, M = 1) it is only a short convolution
/// (short_conv.h) of Dv channels.
struct DeltaSizes {
  int64_t key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0, taps = 0;
  int64_t keys() const { return key_heads * key_dim; }
  int64_t values() const { return value_heads * value_dim; }
  int64_t channels() const { return 2 * keys() + values(); }
  bool is_convolution() const { return key_heads == 0; }
  /// Columns of the input: q | k | v | z | b | a.
  int64_t inputs() const { return is_convolution() ? 3 * value_dim : channels() + values() + 2 * value_heads; }
  /// f32 numbers of a sequence's state: the last taps - 1 rows of q | k | v, the oldest first, then M states [Dk, Dv].
  int64_t state_floats() const { return (taps - 1) * channels() + value_heads * key_dim * value_dim; }
};

/// The weights of a layer other than its matrices.
struct DeltaWeights {
  TensorView conv;   // [channels, taps] f32, the oldest token's first
  TensorView decay;  // [M] f32, ln A
  TensorView dt;     // [M] f32
  TensorView norm;   // [Dv] f32
};

/// Runs of neighbouring rows, each of one sequence: [cu_rows[s], cu_rows[s + 1]).
struct DeltaRuns {
  TensorView cu_rows;                // [S + 1] i32
  float* const* states = nullptr;    // [S] state_floats each, read and overwritten; null: runs begin with zeros
};

/// c_t = silu(sum_j conv_j x_{t - taps + 1 + j}) = q | k | v;  q, k <- q / (|q| sqrt(Dk)), k / |k|;
/// S_t = g S_{t-1} + k (x) beta (v - (g S_{t-1})^T k),  g = exp(-A softplus(a + dt)), beta = sigmoid(b);
/// y = norm rms(S_t^T q) silu(z). A token at a time, in f32: a row's bits depend on its sequence alone, however its rows are
/// divided among calls. Takes and releases delta_rule_scratch_bytes.
/// Source: Yang et al., Gated Delta Networks, equation 10; transformers, modeling_qwen3_5.
struct DeltaRuleArgs {
  TensorView x;  // [R, inputs] f32 in
  DeltaWeights weights;
  DeltaRuns runs;
  TensorView y;  // [R, M Dv] f32 out
  DeltaSizes sizes;
  float eps = 1e-6f;  // of the norm
  Arena* scratch = nullptr;
};
void delta_rule(const Stream& stream, const DeltaRuleArgs& args);

/// Sums over rows are f32 chains over 64 rows of a sequence (dconv) or its rows (dnorm), added in f64 in order; those
/// of ddecay and ddt are f64: independent of threads. Recomputes states from one kept every 64 rows, in memory of the
/// thread.
struct DeltaRuleGradArgs {
  TensorView x;         // [R, inputs] f32 in
  DeltaWeights weights;
  TensorView cu_rows;   // [S + 1] i32; runs begin with zeros
  TensorView dy;        // [R, M Dv] f32 in
  TensorView dx;        // [R, inputs] f32 out
  DeltaWeights dweights;  // accumulated
  DeltaSizes sizes;
  float eps = 1e-6f;
  Arena* scratch = nullptr;
};
void delta_rule_grad(const Stream& stream, const DeltaRuleGradArgs& args);

/// Column order of the inputs: by key head as in Qwen3-Next's projections, q | k | v | z of its value heads for each
/// key head and then b | a for each, and by kind as above.
struct DeltaColumns {
  TensorView by_head;  // [R, inputs] f32
  TensorView by_kind;  // [R, inputs] f32
  DeltaSizes sizes;
};
/// Writes by_kind.
void delta_columns_by_kind(const Stream& stream, const DeltaColumns& args);
/// The inverse: writes by_head.
void delta_columns_by_head(const Stream& stream, const DeltaColumns& args);

/// Scratch of the backward, which needs more than the forward.
int64_t delta_rule_scratch_bytes(int64_t rows, const DeltaSizes& sizes);

}  // namespace hone::kernels
