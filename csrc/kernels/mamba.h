// Mamba-2 and its backward: short convolution, linear recurrence with a state per head, gated norm. CPU only.
#pragma once

#include <limits>

#include "kernels/delta_rule.h"

namespace hone::kernels {

/// Bounds of a time step.
struct StepRange {
  double least = 0.0, most = std::numeric_limits<double>::infinity();
};

/// c_t = silu(bias + sum_j conv_j c'_{t - taps + 1 + j}) = x | B | C;  s = clamp(softplus(dt + dt_bias), least, most);
/// S_t = exp(-s A) S_{t-1} + s B (x) x;  o = S_t^T C + D x;  y = norm rms(o silu(z)), over each of DeltaSizes::norms equal
/// parts of the columns, or y = o silu(z) without norms.
/// Head h reads B and C of group h / (M / N). Computed one token at a time, in f32: a row's bits depend only on its
/// sequence, however its rows are divided among calls. Takes and releases mamba_scratch_bytes. A run's state:
/// DeltaSizes::state_floats. Source: Dao and Gu, Transformers are SSMs; transformers, modeling_granitemoehybrid,
/// modeling_falcon_h1.
struct MambaArgs {
  TensorView x;  // [R, inputs] f32 in, strided rows: z | x | B | C | dt
  DeltaWeights weights;
  DeltaRuns runs;
  TensorView y;  // [R, M Dv] f32 out
  DeltaSizes sizes;
  StepRange steps;
  float eps = 1e-6f;  // of the norm
  Arena* scratch = nullptr;
};
void mamba(const Stream& stream, const MambaArgs& args);

/// The backward. Sums over rows are independent of the number of threads: f32 sums over 64 rows of a sequence, which are
/// added in f64 in order (conv, norm), or f64 sums (conv_bias, decay, dt, skip). Gradients of B and C are f32 sums over the
/// heads of a part of a group (mamba_head_parts), and parts are added in order. States are recomputed from one stored every
/// 64 rows, in memory of each thread.
struct MambaGradArgs {
  TensorView x;         // [R, inputs] f32 in, strided rows
  DeltaWeights weights;
  TensorView cu_rows;   // [S + 1] i32; runs begin with zero states
  TensorView dy;        // [R, M Dv] f32 in
  TensorView dx;        // [R, inputs] f32 out, strided rows
  DeltaWeights dweights;  // accumulated
  DeltaSizes sizes;
  StepRange steps;
  float eps = 1e-6f;
  Arena* scratch = nullptr;
};
void mamba_grad(const Stream& stream, const MambaGradArgs& args);

/// Number of parts into which a group's heads are divided, so that threads can share them: at most eight.
int64_t mamba_head_parts(const DeltaSizes& sizes);
/// Scratch of the backward, which also suffices for the forward.
int64_t mamba_scratch_bytes(int64_t rows, const DeltaSizes& sizes);

}  // namespace hone::kernels
