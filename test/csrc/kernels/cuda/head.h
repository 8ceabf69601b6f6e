// An output head in two places: on the device in bf16, and the same rounded numbers for the CPU op and for f64.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/arena.h"
#include "device.h"
#include "kernels/lm_head.h"

#ifdef HONE_HAVE_CUDA

namespace hone::test {

struct RowTruth {
  double logprob, entropy, lse;
};

struct Head {
  int64_t rows, width, vocabulary;
  bool tied;  // bf16 weights
  float temperature = 1.0f;
  std::vector<float> h, w;
  std::vector<int32_t> targets;
  std::vector<float> logprobs, entropies, lse;

  /// Logits spread by about `scale`.
  Head(int64_t r, int64_t c, int64_t v, bool is_tied = false, float scale = 2.0f)
      : rows(r), width(c), vocabulary(v), tied(is_tied), h(rounded_to_bf16(random_floats(r * c))),
        w(random_floats(v * c, scale / std::sqrt(float(c)))) {
    if (tied) w = rounded_to_bf16(w);
    for (int64_t i = 0; i < r; ++i) targets.push_back(int32_t(random_int(0, v - 1)));
  }
  /// Rows [first, first + count).
  Head part(int64_t first, int64_t count) const {
    Head out = *this;
    out.rows = count;
    out.h.assign(h.begin() + first * width, h.begin() + (first + count) * width);
    out.targets.assign(targets.begin() + first, targets.begin() + first + count);
    return out;
  }

  double logit(int64_t r, int64_t v) const {
    double z = 0;
    for (int64_t i = 0; i < width; ++i) z += double(h[size_t(r * width + i)]) * double(w[size_t(v * width + i)]);
    return z;
  }
  RowTruth truth(int64_t r) const {
    std::vector<double> y;
    for (int64_t v = 0; v < vocabulary; ++v) y.push_back(logit(r, v) / double(temperature));
    const double top = *std::max_element(y.begin(), y.end());
    double total = 0, entropy = 0;
    for (double x : y) total += std::exp(x - top);
    const double lse_of_row = top + std::log(total);
    for (double x : y) entropy -= std::exp(x - lse_of_row) * (x - lse_of_row);
    return {y[size_t(targets[size_t(r)])] - lse_of_row, entropy, lse_of_row};
  }

  /// The weights on the device, and scratch for `r` rows.
  struct Device {
    DeviceArray<float> exact;
    DeviceArray<uint16_t> rounded;
    Arena scratch;
    kernels::PackedMatrix w;

    explicit Device(const Head& m)
        : exact(m.tied ? std::vector<float>() : m.w), rounded(m.tied ? to_bf16(m.w) : std::vector<uint16_t>()),
          scratch(kernels::lm_head_scratch_bytes(device_stream(), m.rows, m.width, m.vocabulary), "test", Memory::kDevice) {
      w.n = m.vocabulary;
      w.k = m.width;
      w.storage = m.tied ? DType::kBF16 : DType::kF32;
      w.panels = m.tied ? static_cast<void*>(rounded.data()) : static_cast<void*>(exact.data());
    }
  };

  void forward() {
    Device device(*this);
    const DeviceArray<uint16_t> x(to_bf16(h));
    const DeviceArray<int32_t> y(targets);
    const DeviceArray<float> p(rows), e(rows), l(rows);
    kernels::LmHeadArgs args;
    args.h = x.view(DType::kBF16, {rows, width});
    args.w = device.w;
    args.targets = y.view(DType::kI32, {rows});
    args.logprobs = p.view(DType::kF32, {rows});
    args.entropies = e.view(DType::kF32, {rows});
    args.lse = l.view(DType::kF32, {rows});
    args.temperature = temperature;
    args.scratch = &device.scratch;
    kernels::lm_head(device_stream(), args);
    EXPECT_EQ(device.scratch.used(), 0);
    logprobs = p.download();
    entropies = e.download();
    lse = l.download();
  }
};

}  // namespace hone::test

#endif
