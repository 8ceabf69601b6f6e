// Gated DeltaNet and its backward: short convolution, linear recurrence with a state per head, gated norm.
#pragma once

#include <cstdint>

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// Largest number of taps of the convolution, and on a GPU of a state's rows and of its columns.
inline constexpr int64_t kMostTaps = 8, kMostCudaDeltaDim = 128;

/// Sizes of a linear-attention layer: N key heads of Dk, M value heads of Dv (M a multiple of N), a
/// convolution over `taps` tokens. Without key heads (N = Dk = 0, M = 1) the layer is only a short
/// convolution (short_conv.h) of Dv channels. With `mamba` it is Mamba-2 (mamba.h), whose groups are the key heads.
struct DeltaSizes {
  int64_t key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0, taps = 0;
  bool mamba = false;
  int64_t norms = 1;  // of Mamba-2: RMS norms of the output, each over as many columns; 0: none
  int64_t keys() const { return key_heads * key_dim; }
  int64_t values() const { return value_heads * value_dim; }
  int64_t channels() const { return 2 * keys() + values(); }
  bool is_convolution() const { return key_heads == 0; }
  /// Number of columns of the input: q | k | v | z | b | a; Mamba-2: z | x | B | C | dt.
  int64_t inputs() const { return is_convolution() ? 3 * value_dim : channels() + values() + (mamba ? 1 : 2) * value_heads; }
  /// Number of weights of the output's norm: those of a value head, or of all heads of Mamba-2.
  int64_t norm_width() const { return !mamba ? value_dim : norms > 0 ? values() : 0; }
  /// f32 numbers of a sequence's state: the last taps - 1 rows of the convolution's input, the oldest first, then M states [Dk, Dv].
  int64_t state_floats() const { return (taps - 1) * channels() + value_heads * key_dim * value_dim; }
};

/// The weights of a layer, except its matrices.
struct DeltaWeights {
  TensorView conv;   // [channels, taps] f32, the weight of the oldest token first
  TensorView decay;  // [M] f32, ln A
  TensorView dt;     // [M] f32, added to column a before the softplus
  TensorView norm;   // [norm_width] f32, weight of the output's RMS norm; empty: Mamba-2 without it
  // of Mamba-2 only:
  TensorView conv_bias{};  // [channels] f32
  TensorView skip{};       // [M] f32, D
};

/// Runs of consecutive rows; run s has rows [cu_rows[s], cu_rows[s + 1]) of one sequence.
struct DeltaRuns {
  TensorView cu_rows;                // [S + 1] i32
  // [S], in the stream's memory like what they point to: each run's state is the state_floats numbers from states[s] + offset
  // on, which are read and overwritten. null: runs begin with zero states. On a GPU a run's pointer may be null likewise
  float* const* states = nullptr;
  int64_t offset = 0;
  float* state(int64_t run) const { return states[run] + offset; }
};
/// Throws kShape unless cu_rows [S + 1] i32 covers `rows` rows; on a GPU, whose memory the host does not read, only shapes are checked.
void expect_runs(const Stream& stream, const TensorView& cu_rows, int64_t rows, const char* op);

/// x, y and their gradients have the stream's activation dtype, weights and their gradients are f32.
/// c_t = silu(sum_j conv_j x_{t - taps + 1 + j}) = q | k | v;  q, k <- q / (|q| sqrt(Dk)), k / |k|;
/// S_t = g S_{t-1} + k (x) beta (v - (g S_{t-1})^T k),  g = exp(-A softplus(a + dt)), beta = sigmoid(b);
/// y = norm rms(S_t^T q) silu(z). Computed one token at a time, in f32: a row's bits depend only on its
/// sequence, however its rows are divided among calls. Takes and releases delta_rule_scratch_bytes.
/// Source: Yang et al., Gated Delta Networks, equation 10; transformers, modeling_qwen3_5.
struct DeltaRuleArgs {
  TensorView x;  // [R, inputs] in
  DeltaWeights weights;
  DeltaRuns runs;
  TensorView y;  // [R, M Dv] out
  DeltaSizes sizes;
  float eps = 1e-6f;  // of the norm
  Arena* scratch = nullptr;
};
void delta_rule(const Stream& stream, const DeltaRuleArgs& args);

/// The backward. Sums over rows are independent of the number of threads: f32 sums over 64 rows of a sequence
/// (dconv; on a GPU over 64 rows of all), or over a sequence's rows (dnorm; on a GPU over 32 rows), which are added in f64 in
/// order; ddecay and ddt are summed in f64. States are recomputed from one stored every 64 rows, in memory of each thread or,
/// on a GPU, in the scratch. Takes and releases delta_rule_grad_scratch_bytes.
struct DeltaRuleGradArgs {
  TensorView x;         // [R, inputs] in
  DeltaWeights weights;
  TensorView cu_rows;   // [S + 1] i32; runs begin with zero states
  TensorView dy;        // [R, M Dv] in
  TensorView dx;        // [R, inputs] out
  DeltaWeights dweights;  // accumulated
  DeltaSizes sizes;
  float eps = 1e-6f;
  Arena* scratch = nullptr;
};
void delta_rule_grad(const Stream& stream, const DeltaRuleGradArgs& args);

/// Two column orders of the inputs. By head, as in Qwen3-Next's projections: for each key head q | k | v | z
/// with its value heads, then for each key head b | a. By kind: q | k | v | z | b | a of all heads.
struct DeltaColumns {
  TensorView by_head;  // [R, inputs] of the stream's activation dtype
  TensorView by_kind;  // [R, inputs]
  DeltaSizes sizes;
};
/// Reads by_head, writes by_kind.
void delta_columns_by_kind(const Stream& stream, const DeltaColumns& args);
/// Reads by_kind, writes by_head.
void delta_columns_by_head(const Stream& stream, const DeltaColumns& args);

int64_t delta_rule_scratch_bytes(const Stream& stream, int64_t rows, const DeltaSizes& sizes);
int64_t delta_rule_grad_scratch_bytes(const Stream& stream, int64_t rows, const DeltaSizes& sizes);

}  // namespace hone::kernels
