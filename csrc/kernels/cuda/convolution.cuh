// Convolutions over the last few rows of a sequence, and their gradients, for the kernels of delta_rule.h and short_conv.h.
#pragma once

#include "core/cuda/launch.cuh"
#include "kernels/cuda/scratch.h"
#include "kernels/cuda/vector.cuh"
#include "kernels/delta_rule.h"

namespace hone::kernels::cuda {

/// DeltaRuns as kernels read them: run s has rows [cu[s], cu[s + 1]).
struct Runs {
  const int32_t* cu;
  int count;
  float* const* states;
  int64_t offset;

  static Runs of(const DeltaRuns& runs) {
    return {runs.cu_rows.as<const int32_t>(), int(runs.cu_rows.dim(0) - 1), runs.states, runs.offset};
  }
  /// The run that has the row; runs may be empty.
  __device__ __forceinline__ int of_row(int row) const {
    int low = 0, high = count;  // cu[low] <= row < cu[high]
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (cu[middle] <= row) low = middle;
      else high = middle;
    }
    return low;
  }
  /// The state of this layer that the run continues; null: it begins with zeros.
  __device__ __forceinline__ float* state(int run) const {
    float* const whole = states ? states[run] : nullptr;
    return whole ? whole + offset : nullptr;
  }
};

/// Columns of a bf16 matrix as the input of a convolution.
struct PlainInput {
  const bf16* x;
  int64_t stride;
  __device__ __forceinline__ float at(int64_t row, int c) const { return to_f32(x[row * stride + c]); }
};

/// sum_j w_j x_{t - taps + 1 + j} of every channel. w [channels, taps]. The rows before a run are the first taps - 1 rows of its
/// state, the oldest first, or zeros.
template <class Input>
struct Convolution {
  Input in;
  const float* w;
  int channels, taps;
  Runs runs;
  int64_t rows;

  int64_t items() const { return rows * channels; }
  __device__ __forceinline__ float at(int row, int run, int c) const {
    const int first = runs.cu[run];
    const float* const tail = row - first < taps - 1 ? runs.state(run) : nullptr;
    float sum = 0.0f;
    for (int j = 0; j < taps; ++j) {
      const int from = row - (taps - 1) + j;
      if (from >= first) sum = fmaf(w[c * taps + j], in.at(from, c), sum);
      else if (tail) sum = fmaf(w[c * taps + j], tail[(from - first + taps - 1) * channels + c], sum);
    }
    return sum;
  }
  /// The gradient of the input, given that of the sums by `d`.
  template <class Gradient>
  __device__ __forceinline__ float grad_at(const Gradient& d, int row, int run, int c) const {
    const int end = runs.cu[run + 1];
    float sum = 0.0f;
    for (int j = 0; j < taps && row + taps - 1 - j >= 0; ++j) {
      const int reader = row + taps - 1 - j;
      if (reader < end) sum = fmaf(w[c * taps + j], d.at(reader, c), sum);
    }
    return sum;
  }
};

inline constexpr int kConvThreads = 256;

/// Stores the last taps - 1 rows of every run in its state. A thread has a channel of a run.
template <class Input>
__global__ void __launch_bounds__(kConvThreads) keep_tails_kernel(Convolution<Input> a) {
  const Item item(a.channels);
  if (int(item.row) >= a.runs.count) return;
  const int run = int(item.row), c = int(item.piece), end = a.runs.cu[run + 1], rows = end - a.runs.cu[run], kept = a.taps - 1;
  float* const tail = a.runs.state(run);
  if (!tail || rows == 0) return;
  // ascending, so that rows that stay are read before they are overwritten
  for (int j = 0; j < kept; ++j) {
    const int from = rows - kept + j;
    tail[j * a.channels + c] = from >= 0 ? a.in.at(end - kept + j, c) : tail[(j + rows) * a.channels + c];
  }
}

template <class Input>
void keep_tails(const Stream& stream, const Convolution<Input>& a) {
  if (!a.runs.states || a.taps == 1) return;
  HONE_LAUNCH(keep_tails_kernel<Input>, blocks_for(int64_t(a.runs.count) * a.channels, kConvThreads), kConvThreads, 0, stream, a);
}

/// sums [strips][channels][taps]: the gradient of w over kConvStrip rows, ascending in f32. A thread has a channel of a strip.
template <class Input, class Gradient>
__global__ void __launch_bounds__(kConvThreads) tap_sums_kernel(Convolution<Input> a, Gradient d, float* sums) {
  const Item item(a.channels);
  const int64_t begin = int64_t(item.row) * kConvStrip;
  if (begin >= a.rows) return;
  const int c = int(item.piece), end = int(min(begin + kConvStrip, a.rows));
  int run = a.runs.of_row(int(begin));
  float sum[kMostTaps] = {};
  for (int row = int(begin); row < end; ++row) {
    while (a.runs.cu[run + 1] <= row) ++run;
    const int first = a.runs.cu[run];
    const float slope = d.at(row, c);
#pragma unroll
    for (int j = 0; j < kMostTaps; ++j) {
      const int from = row - (a.taps - 1) + j;
      if (j < a.taps && from >= first) sum[j] = fmaf(slope, a.in.at(from, c), sum[j]);
    }
  }
#pragma unroll
  for (int j = 0; j < kMostTaps; ++j) {
    if (j < a.taps) sums[(int64_t(item.row) * a.channels + c) * a.taps + j] = sum[j];
  }
}

/// out[c] += sum over the rows of sums [rows, stride], in f64: 32 threads have every 32nd row, in order, and then their sums are
/// added in order. A block has 32 columns.
static __global__ void __launch_bounds__(1024) add_rows_kernel(const float* sums, int64_t rows, int64_t stride, int64_t width, float* out) {
  __shared__ double parts[32][33];
  const int lane = int(threadIdx.x) / 32, inner = int(threadIdx.x) % 32;
  const int64_t c = int64_t(blockIdx.x) * 32 + inner;
  double total = 0.0;
  if (c < width) {
    for (int64_t r = lane; r < rows; r += 32) total += double(sums[r * stride + c]);
  }
  parts[lane][inner] = total;
  __syncthreads();
  if (lane != 0 || c >= width) return;
  for (int i = 1; i < 32; ++i) total += parts[i][inner];
  out[c] += float(total);
}

inline void add_rows(const Stream& stream, const float* sums, int64_t rows, int64_t stride, int64_t width, float* out) {
  HONE_LAUNCH(add_rows_kernel, blocks_for(width, 32), 1024, 0, stream, sums, rows, stride, width, out);
}

/// Adds to dw [channels, taps]. sums: conv_sums floats.
template <class Input, class Gradient>
void tap_gradient(const Stream& stream, const Convolution<Input>& a, const Gradient& d, float* sums, float* dw) {
  const int64_t strips = ceil_div(a.rows, kConvStrip), width = int64_t(a.channels) * a.taps;
  HONE_LAUNCH((tap_sums_kernel<Input, Gradient>), blocks_for(strips * a.channels, kConvThreads), kConvThreads, 0, stream, a, d, sums);
  add_rows(stream, sums, strips, width, width, dw);
}

}  // namespace hone::kernels::cuda
