#include "kernels/cpu/silu_conv.h"

#include <cstring>
#include <vector>

#include "kernels/cpu/silu_conv_block.h"

namespace hone::kernels::cpu {

static_assert(kConvTaps == kMostTaps);

// Number of multiply-adds for which a chunk is worth moving to another core (about 10 us).
constexpr double kRecurrenceWork = 5e5;

int64_t recurrence_grain(double work) { return std::max<int64_t>(1, int64_t(kRecurrenceWork / std::max(work, 1.0))); }

float* recurrence_memory(int64_t floats) {
  thread_local std::vector<float> block;
  if (int64_t(block.size()) < floats) block.resize(size_t(floats));
  return block.data();
}

SiluConv::SiluConv(const Stream& stream, const TensorView& x, const TensorView& w, const TensorView& bias, const DeltaRuns& runs, Arena& scratch)
    : channels(w.dim(0)), taps(w.dim(1)), cu(runs.cu_rows.as<int32_t>()), count(runs.cu_rows.dim(0) - 1), runs(runs), x_(x),
      bias_(bias.empty() ? nullptr : bias.as<float>()) {
  taps_ = scratch.take_array<float>(taps * channels);
  out_ = scratch.take_array<float>(rows() * channels);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t j = 0; j < taps; ++j) taps_[j * channels + c] = w.as<float>()[c * taps + j];
  }
  const auto run = HONE_PICK(convolve_row);
  for_rows(stream, [&](int64_t r, int64_t of) { run(row(r, of), true, out(r)); });
}

ConvRow SiluConv::row(int64_t r, int64_t of) const {
  ConvRow made{{}, taps_, channels, taps, channels, bias_};
  for (int64_t j = 0; j < taps; ++j) {
    const int64_t from = r - (taps - 1) + j;
    if (from >= cu[of]) made.x[j] = x_.row<float>(from);
    else if (runs.states) made.x[j] = runs.state(of) + (from - cu[of] + taps - 1) * channels;
  }
  return made;
}

void SiluConv::keep_tails() const {
  const int64_t kept = taps - 1;
  const size_t bytes = size_t(channels) * sizeof(float);
  for (int64_t of = 0; of < count; ++of) {
    const int64_t old = std::max<int64_t>(0, kept - (cu[of + 1] - cu[of]));
    float* tail = runs.state(of);
    std::memmove(tail, tail + (kept - old) * channels, size_t(old) * bytes);
    for (int64_t j = old; j < kept; ++j) std::memcpy(tail + j * channels, x_.row<float>(cu[of + 1] - kept + j), bytes);
  }
}

void SiluConv::gradient(const Stream& stream, float* d, const TensorView& dx, const TensorView& dw, const TensorView& dbias) const {
  const auto slope = HONE_PICK(convolve_slope_row);
  const auto turned = HONE_PICK(convolve_row);
  for_rows(stream, [&](int64_t r, int64_t of) { slope(row(r, of), d + r * channels); });
  for_rows(stream, [&](int64_t r, int64_t of) {
    ConvRow made{{}, taps_, channels, taps, channels};
    for (int64_t j = 0; j < taps; ++j) made.x[j] = r + taps - 1 - j < cu[of + 1] ? d + (r + taps - 1 - j) * channels : nullptr;
    turned(made, false, dx.row<float>(r));
  });
  stream.parallel_for((channels + 15) / 16, recurrence_grain(16.0 * double(taps * rows())), [&](int64_t begin, int64_t end) {
    for (int64_t first = 16 * begin; first < std::min(16 * end, channels); first += 16) {
      weights_gradient(first, int(std::min<int64_t>(16, channels - first)), d, dw, dbias);
    }
  });
}

void SiluConv::weights_gradient(int64_t first, int n, const float* d, const TensorView& dw, const TensorView& dbias) const {
  const auto strip = HONE_PICK(convolve_weight_strip);
  double sums[kMostTaps * 16] = {}, biases[16] = {};
  for (int64_t of = 0; of < count; ++of) {
    const int64_t begin = cu[of], n_rows = cu[of + 1] - begin;
    if (n_rows > 0) strip(d + begin * channels + first, channels, x_.row<float>(begin) + first, x_.row_stride, n_rows, taps, n, sums);
  }
  for (int64_t r = 0; r < rows() && !dbias.empty(); ++r) {
    for (int i = 0; i < n; ++i) biases[i] += double(d[r * channels + first + i]);
  }
  for (int i = 0; i < n; ++i) {
    for (int64_t j = 0; j < taps; ++j) dw.as<float>()[(first + i) * taps + j] += float(sums[j * 16 + i]);
    if (!dbias.empty()) dbias.as<float>()[first + i] += float(biases[i]);
  }
}

}  // namespace hone::kernels::cpu
