// Gradient norm, AdamW and Muon on f32 master weights.
#pragma once

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// Sum of squares of n f32 values in f64, over fixed strips of 4096 in order: independent of threads.
/// Returns NaN or Inf if any value is.
double sum_of_squares(const Stream& stream, const TensorView& x);

/// p <- p (1 - lr wd);  m <- b1 m + (1-b1) g;  v <- b2 v + (1-b2) g^2;  p <- p - lr m^ / (sqrt(v^) + eps),
/// with g = grad_scale * grad and bias-corrected m^ = m/(1-b1^step), v^ = v/(1-b2^step). In place.
/// Source: Loshchilov & Hutter 2019, in the order PyTorch computes it.
struct AdamWArgs {
  TensorView param, m, v;  // [n] f32 in/out
  TensorView grad;         // [n] f32 in
  float lr = 0, beta1 = 0.9f, beta2 = 0.95f, eps = 1e-8f, weight_decay = 0;
  float grad_scale = 1.0f;  // the clip factor
  int64_t step = 1;         // counted from 1
};
void adamw(const Stream& stream, const AdamWArgs& args);

/// Muon for one matrix: b <- momentum b + g; u = NewtonSchulz5(g + momentum b) sqrt(max(1, R/C));
/// p <- p (1 - lr wd) - lr u. Newton-Schulz: 5 steps of a = 3.4445, b = -4.7750, c = 2.0315 on g/|g|_F.
/// Source: Jordan et al. 2024 (Muon). R rows, C columns.
struct MuonArgs {
  TensorView param, momentum_buffer;  // [R, C] f32 in/out
  TensorView grad;                    // [R, C] f32 in
  float lr = 0, momentum = 0.95f, weight_decay = 0;
  float grad_scale = 1.0f;
  Arena* scratch = nullptr;           // muon_scratch_bytes
};
void muon(const Stream& stream, const MuonArgs& args);
int64_t muon_scratch_bytes(int64_t rows, int64_t columns);

}  // namespace hone::kernels
