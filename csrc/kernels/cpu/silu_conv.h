// What gated DeltaNet and Mamba-2 have in common on the CPU: the convolution with SiLU before their recurrence, and its
// gradient.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/delta_rule.h"

namespace hone::kernels::cpu {

struct ConvRow;

/// Number of items per chunk that a thread takes, if one item is `work` multiply-adds.
int64_t recurrence_grain(double work);
/// This thread's scratch of at least this many floats. It grows to the longest sequence seen, and is kept until the thread ends.
float* recurrence_memory(int64_t floats);
inline double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }

/// c_t = silu(bias + sum_j w_j x_{t - taps + 1 + j}) of every channel and row, computed when made.
class SiluConv {
 public:
  /// x [R, channels] f32, strided rows; w [channels, taps]; bias [channels] or empty. A run's state begins with the last taps
  /// - 1 rows of x. Takes taps and outputs from `scratch`.
  SiluConv(const Stream& stream, const TensorView& x, const TensorView& w, const TensorView& bias, const DeltaRuns& runs, Arena& scratch);

  float* out(int64_t r) const { return out_ + r * channels; }
  int64_t rows() const { return x_.dim(0); }
  /// Calls each(row, run) for every row, divided among threads.
  template <class Each>
  void for_rows(const Stream& stream, const Each& each) const {
    stream.parallel_for(rows(), recurrence_grain(8.0 * double(channels)), [&](int64_t begin, int64_t end) {
      int64_t of = std::upper_bound(cu, cu + count + 1, int32_t(begin)) - cu - 1;
      for (int64_t r = begin; r < end; ++r) {
        while (cu[of + 1] <= r) ++of;
        each(r, of);
      }
    });
  }
  /// Stores the last rows of every run for the next call's convolution.
  void keep_tails() const;
  /// Writes dx [R, channels], strided rows, and adds to dw and to dbias unless that is empty, given d [R][channels], the
  /// gradient of the outputs, which is overwritten.
  void gradient(const Stream& stream, float* d, const TensorView& dx, const TensorView& dw, const TensorView& dbias) const;

  const int64_t channels, taps;
  const int32_t* const cu;   // [count + 1]
  const int64_t count;       // number of runs
  const DeltaRuns runs;

 private:
  void weights_gradient(int64_t first, int n, const float* d, const TensorView& dw, const TensorView& dbias) const;
  ConvRow row(int64_t r, int64_t of) const;

  TensorView x_;
  const float* bias_;
  float *taps_, *out_;  // [taps][channels], [R][channels]
};

}  // namespace hone::kernels::cpu
