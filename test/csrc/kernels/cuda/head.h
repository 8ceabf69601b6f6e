// An output head on the device in bf16, with the same rounded numbers on the host for the CPU op and for f64;
// runs its three passes with the kernels that the device prefers.
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

/// a, b: dLoss/dlogprob and dLoss/dentropy of each row. dh, dw: the gradients that backward() computes.
struct Gradient {
  std::vector<float> a, b, dh, dw;
};

struct Samples {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs, entropies;
};

inline SampleKey key_of(int64_t r) {
  return {0x1234567890abcdefull, uint32_t(r / 7), uint32_t(r % 7), uint32_t(3 * r + 1)};
}

struct Head {
  int64_t rows, width, vocabulary;
  bool tied;  // bf16 weights
  float temperature = 1.0f;
  int64_t chunk = kernels::kHeadGradientRows;  // rows per chunk of the gradient
  float before = 0.25f;  // value of every element of dw before a gradient is added
  int64_t gap = 0;  // elements of NaN between rows of h and dh on the device, a multiple of 8
  std::vector<float> h, w;
  std::vector<int32_t> targets;
  std::vector<float> logprobs, entropies, lse;

  /// A random head whose logits have a spread of about `scale`.
  Head(int64_t r, int64_t c, int64_t v, bool is_tied = false, float scale = 2.0f)
      : rows(r), width(c), vocabulary(v), tied(is_tied), h(rounded_to_bf16(random_floats(r * c))),
        w(random_floats(v * c, scale / std::sqrt(float(c)))) {
    if (tied) w = rounded_to_bf16(w);
    for (int64_t i = 0; i < r; ++i) targets.push_back(int32_t(random_int(0, v - 1)));
  }
  /// A head with only rows [first, first + count).
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

  /// The weights on the device, and scratch for all rows.
  struct Device {
    DeviceArray<float> exact;
    DeviceArray<uint16_t> rounded;
    Arena scratch;
    kernels::PackedMatrix w;

    explicit Device(const Head& m)
        : exact(m.tied ? std::vector<float>() : m.w), rounded(m.tied ? to_bf16(m.w) : std::vector<uint16_t>()),
          scratch(kernels::lm_head_scratch_bytes(device_stream(), m.rows, m.width, m.vocabulary, m.chunk), "test",
                  Memory::kDevice) {
      w.n = m.vocabulary;
      w.k = m.width;
      w.storage = m.tied ? DType::kBF16 : DType::kF32;
      w.panels = m.tied ? static_cast<void*>(rounded.data()) : static_cast<void*>(exact.data());
    }
  };

  /// `values` [rows, width] in bf16, with the gaps that rows have on the device.
  std::vector<uint16_t> spread_rows(const std::vector<float>& values) const {
    std::vector<uint16_t> out(size_t(rows * (width + gap)), 0xffff);
    const std::vector<uint16_t> rounded = to_bf16(values);
    for (int64_t r = 0; r < rows; ++r) std::copy_n(rounded.begin() + r * width, width, out.begin() + r * (width + gap));
    return out;
  }
  TensorView rows_view(const DeviceArray<uint16_t>& memory) const {
    return with_stride(memory.view(DType::kBF16, {rows, width}), width + gap);
  }

  void forward() {
    Device device(*this);
    const DeviceArray<uint16_t> x(spread_rows(h));
    const DeviceArray<int32_t> y(targets);
    const DeviceArray<float> p(rows), e(rows), l(rows);
    kernels::LmHeadArgs args;
    args.h = rows_view(x);
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

  /// Call after forward(): computes g.dh [rows, width] and g.dw [vocabulary, width] from g.a and, if
  /// with_entropy, g.b.
  void backward(Gradient& g, bool with_entropy) const {
    Device device(*this);
    const DeviceArray<uint16_t> x(spread_rows(h)), dh(rows * (width + gap));
    const DeviceArray<int32_t> y(targets);
    const DeviceArray<float> l(lse), e(entropies), a(g.a), b(g.b);
    const DeviceArray<float> dw(std::vector<float>(w.size(), before));
    kernels::LmHeadGradArgs args;
    args.h = rows_view(x);
    args.w = device.w;
    args.targets = y.view(DType::kI32, {rows});
    args.lse = l.view(DType::kF32, {rows});
    args.entropies = e.view(DType::kF32, {rows});
    args.a = a.view(DType::kF32, {rows});
    if (with_entropy) args.b = b.view(DType::kF32, {rows});
    args.dh = rows_view(dh);
    args.dw = dw.view(DType::kF32, {vocabulary, width});
    args.temperature = temperature;
    args.scratch = &device.scratch;
    args.chunk = chunk;
    kernels::lm_head_grad(device_stream(), args);
    EXPECT_EQ(device.scratch.used(), 0);
    const std::vector<float> spread = from_bf16(dh.download());
    g.dh.clear();
    for (int64_t i = 0; i < int64_t(spread.size()); ++i) {
      if (i % (width + gap) < width) g.dh.push_back(spread[size_t(i)]);
      else EXPECT_TRUE(std::isnan(spread[size_t(i)]));
    }
    g.dw = dw.download();
  }

  /// Samples: row r uses params[r mod number of params], and the key of row first + r.
  Samples sample(const std::vector<kernels::SamplingParams>& params, int64_t first = 0) const {
    std::vector<kernels::SamplingParams> all;
    std::vector<SampleKey> keys;
    for (int64_t r = 0; r < rows; ++r) {
      all.push_back(params[size_t(r) % params.size()]);
      keys.push_back(key_of(first + r));
    }
    Device device(*this);
    const DeviceArray<uint16_t> x(spread_rows(h));
    const DeviceArray<kernels::SamplingParams> p(all);
    const DeviceArray<SampleKey> k(keys);
    const DeviceArray<int32_t> tokens(rows);
    const DeviceArray<float> q(rows), e(rows);
    kernels::LmHeadSampleArgs args;
    args.h = rows_view(x);
    args.w = device.w;
    args.params = p.data();
    args.keys = k.data();
    args.tokens = tokens.view(DType::kI32, {rows});
    args.logprobs = q.view(DType::kF32, {rows});
    args.entropies = e.view(DType::kF32, {rows});
    args.scratch = &device.scratch;
    kernels::lm_head_sample(device_stream(), args);
    EXPECT_EQ(device.scratch.used(), 0);
    return {tokens.download(), q.download(), e.download()};
  }
};

}  // namespace hone::test

#endif
