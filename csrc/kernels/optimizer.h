// Gradient norm, AdamW and Muon on f32 master weights.
#pragma once

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// Sum of squares of n f32 values in f64, over fixed strips of 4096 in order, so that bits are independent of
/// threads. NaN or Inf if any value is. CPU only; SumOfSquaresArgs leaves the result in GPU memory.
double sum_of_squares(const Stream& stream, const TensorView& x);

/// total (+)= sum of squares of n values in f64, over fixed strips in a fixed order. NaN or Inf if any value
/// is.
struct SumOfSquaresArgs {
  TensorView x;              // [n] f32 in
  TensorView total;          // [1] f64 out
  Arena* scratch = nullptr;  // sum_of_squares_scratch_bytes; may be null if that is 0
  bool accumulate = false;   // add to total instead of overwriting it
};
void sum_of_squares(const Stream& stream, const SumOfSquaresArgs& args);
int64_t sum_of_squares_scratch_bytes(const Stream& stream, int64_t n);

/// Computes the clip factor, in the memory of the norms: scale = min(1, clip / (norm + 1e-6)), norm =
/// sqrt(sum of totals); 1 if clip is 0; NaN if the norm is not finite, upon which adamw and muon change
/// nothing.
struct GradientScaleArgs {
  TensorView totals;  // [N] f64 in: sums of squares
  TensorView scale;   // [1] f32 out
  double clip = 0;
};
void gradient_scale(const Stream& stream, const GradientScaleArgs& args);

/// p <- p (1 - lr wd); m <- b1 m + (1-b1) g; v <- b2 v + (1-b2) g^2; p <- p - lr m^ / (sqrt(v^) + eps), with
/// g = grad_scale * grad and bias-corrected m^ = m/(1-b1^step), v^ = v/(1-b2^step). In place.
/// Moments in bf16 are rounded stochastically when stored: to either neighbour, with probabilities that make
/// the mean exact; p uses their unrounded values. Rounding never gives infinity, and never 0 for values above
/// 2^-133. Its random bits are Philox keyed by (seed, step, first + i): the same for any number of threads
/// and on either backend.
/// Source: Loshchilov & Hutter 2019, in the order in which PyTorch computes it.
struct AdamWArgs {
  TensorView param, m, v;  // [n] in/out; param f32, m and v both f32 or both bf16
  TensorView grad;         // [n] f32 in
  float lr = 0, beta1 = 0.9f, beta2 = 0.95f, eps = 1e-8f, weight_decay = 0;
  float grad_scale = 1.0f;  // the clip factor
  int64_t step = 1;         // counted from 1
  // [1] f32 in, or empty: a further factor of grad; if it is NaN nothing changes
  TensorView scale{};
  TensorView squared_change{};  // [1] f64 out, or empty: sum of (new - old)^2
  Arena* scratch = nullptr;     // adamw_scratch_bytes, for squared_change
  uint64_t seed = 0;            // seed of the stochastic rounding of bf16 moments
  int64_t first = 0;            // index of element 0 among all trained elements; also keys the rounding
  // GPU only: [n] bf16 or f32 out, or empty: copy of the new param; not written if nothing changes
  TensorView packed{};
};
/// Keeps the random bits of moment rounding apart from those of sampling, which may use the same seed.
inline constexpr uint64_t kMomentSeed = 0x6d6f6d656e747300u;
int64_t adamw_scratch_bytes(const Stream& stream, int64_t n);
void adamw(const Stream& stream, const AdamWArgs& args);

// Constants of Muon.
inline constexpr int kNewtonSchulzSteps = 5;
inline constexpr float kNewtonSchulzA = 3.4445f, kNewtonSchulzB = -4.7750f, kNewtonSchulzC = 2.0315f;
// floor of the gradient norm, with which a zero gradient stays zero
inline constexpr double kMuonNormFloor = 1e-7;

/// Muon for one matrix [R, C]: b <- momentum b + g; u = NewtonSchulz5(g + momentum b) sqrt(max(1, R/C)); p <-
/// p (1 - lr wd) - lr u. Newton-Schulz: 5 steps of x <- a x + b (x x^T) x + c (x x^T)^2 x, starting from
/// g/|g|_F. On a GPU the operands of these products are rounded to bf16, and sums are f32:
/// docs/explanation/numerics.md. Source: Jordan et al. 2024 (Muon).
struct MuonArgs {
  TensorView param, momentum_buffer;  // [R, C] f32 in/out
  TensorView grad;                    // [R, C] f32 in
  float lr = 0, momentum = 0.95f, weight_decay = 0;
  float grad_scale = 1.0f;
  // [1] f32 in, or empty: a further factor of grad; if it is NaN nothing changes
  TensorView scale{};
  TensorView squared_change{};  // [1] f64 out, or empty: sum of (new - old)^2
  Arena* scratch = nullptr;     // muon_scratch_bytes; may be null on the CPU
  // GPU only: [R C] bf16 or f32 out, or empty: copy of the new param; not written if nothing changes
  TensorView packed{};
};
void muon(const Stream& stream, const MuonArgs& args);
int64_t muon_scratch_bytes(const Stream& stream, int64_t rows, int64_t columns);

}  // namespace hone::kernels
