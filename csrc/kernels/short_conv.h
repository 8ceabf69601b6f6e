// A short convolution between two gates, in place of attention, and its backward.
#pragma once

#include "kernels/delta_rule.h"

namespace hone::kernels {

/// x, y and their gradients have the stream's activation dtype, weights and their gradients are f32.
/// y_t = c_t sum_j conv_j (b x)_{t - taps + 1 + j}, per channel. Computed one token at a time: a row's bits
/// depend only on its sequence, however its rows are divided among calls. The state of a run is the last taps
/// - 1 rows of b x, the oldest first: [taps - 1, C]. Takes and releases short_conv_scratch_bytes. Source:
/// transformers, modeling_lfm2.
struct ShortConvArgs {
  TensorView x;     // [R, 3C] in: b | c | x
  TensorView conv;  // [C, taps] f32 in, the weight of the oldest token first
  DeltaRuns runs;
  TensorView y;     // [R, C] out
  Arena* scratch = nullptr;
};
void short_conv(const Stream& stream, const ShortConvArgs& args);

/// The backward. dconv: sums over rows in f64, ascending (on a GPU f32 sums over 64 rows, added in f64), then added, so that bits
/// are independent of threads.
struct ShortConvGradArgs {
  TensorView x;        // [R, 3C] in
  TensorView conv;     // [C, taps] f32 in
  TensorView cu_rows;  // [S + 1] i32; runs begin with zero states
  TensorView dy;       // [R, C] in
  TensorView dx;       // [R, 3C] out
  TensorView dconv;    // [C, taps] f32 accumulated
  Arena* scratch = nullptr;
};
void short_conv_grad(const Stream& stream, const ShortConvGradArgs& args);

/// Scratch of the backward, which also suffices for the forward.
int64_t short_conv_scratch_bytes(const Stream& stream, int64_t rows, int64_t channels, int64_t taps);

}  // namespace hone::kernels
