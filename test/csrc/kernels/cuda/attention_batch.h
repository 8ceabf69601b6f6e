// Packed sequences with equal bf16 values on the host, for the CPU op, and on the device.
#pragma once

#include <algorithm>
#include <numeric>

#include "core/arena.h"
#include "device.h"
#include "kernels/attention.h"

#ifdef HONE_HAVE_CUDA

namespace hone::test {

struct AttentionShape {
  std::vector<int> lengths;
  int64_t heads, kv_heads, head_dim;
  int window = 0;

  float scale() const { return 1.0f / std::sqrt(float(head_dim)); }
  int64_t tokens() const { return std::accumulate(lengths.begin(), lengths.end(), int64_t(0)); }
  int64_t q_width() const { return heads * head_dim; }
  int64_t kv_width() const { return kv_heads * head_dim; }
  std::vector<int32_t> starts() const {
    std::vector<int32_t> out{0};
    for (const int n : lengths) out.push_back(out.back() + n);
    return out;
  }
};

/// A matrix on the device with gaps of NaN between rows, as if its rows were columns of a wider matrix.
struct DeviceRows {
  int64_t rows, heads, head_dim, stride;
  DeviceArray<uint16_t> memory;

  DeviceRows(int64_t rows, int64_t heads, int64_t head_dim, int64_t gap)
      : rows(rows), heads(heads), head_dim(head_dim), stride(heads * head_dim + gap), memory(rows * stride) {}
  DeviceRows(const std::vector<float>& values, int64_t heads, int64_t head_dim, int64_t gap)
      : DeviceRows(int64_t(values.size()) / (heads * head_dim), heads, head_dim, gap) {
    std::vector<uint16_t> bits(size_t(rows * stride), 0xffff);
    const int64_t width = heads * head_dim;
    for (int64_t i = 0; i < rows * width; ++i) {
      bits[size_t(i / width * stride + i % width)] = f32_to_bf16(values[size_t(i)]);
    }
    memory = DeviceArray<uint16_t>(bits);
  }
  TensorView view() const {
    TensorView out = memory.view(DType::kBF16, {rows, heads, head_dim});
    out.row_stride = stride;
    return out;
  }
  /// The rows without gaps. Expects that no gap was written.
  std::vector<float> values() const {
    const std::vector<uint16_t> bits = memory.download();
    std::vector<float> out;
    for (int64_t i = 0; i < rows * stride; ++i) {
      if (i % stride < heads * head_dim) out.push_back(bf16_to_f32(bits[size_t(i)]));
      else EXPECT_EQ(bits[size_t(i)], uint16_t(0xffff));
    }
    return out;
  }
};

/// Inputs and results of forward and backward. The CPU op gets the same values as the device.
struct PackedBatch {
  AttentionShape shape;
  std::vector<int32_t> starts;
  std::vector<float> q, k, v, dout;
  std::vector<float> sinks;  // [H], or empty

  explicit PackedBatch(const AttentionShape& s) : shape(s), starts(s.starts()) {
    q = rounded_to_bf16(random_floats(s.tokens() * s.q_width(), 2.0f));
    k = rounded_to_bf16(random_floats(s.tokens() * s.kv_width()));
    v = rounded_to_bf16(random_floats(s.tokens() * s.kv_width()));
    dout = rounded_to_bf16(random_floats(s.tokens() * s.q_width()));
  }
  /// Sinks that range from far below every score to far above.
  void add_sinks() {
    for (int64_t h = 0; h < shape.heads; ++h) sinks.push_back(float(h % 4) * 4.0f - 6.0f);
  }
  TensorView queries(const std::vector<float>& x) const {
    return f32(x.data(), {shape.tokens(), shape.heads, shape.head_dim});
  }
  TensorView keys(const std::vector<float>& x) const {
    return f32(x.data(), {shape.tokens(), shape.kv_heads, shape.head_dim});
  }
  TensorView host_starts() const { return i32(starts.data(), {int64_t(starts.size())}); }

  struct Forward {
    std::vector<float> out, lse;
  };
  /// The forward by the CPU op, with `values` in place of v.
  Forward host_forward(const std::vector<float>& values) const {
    Forward r{poison(shape.tokens() * shape.q_width()), poison(shape.tokens() * shape.heads)};
    kernels::attention_packed({}, {queries(q), keys(k), keys(values), host_starts(), queries(r.out),
                                   f32(r.lse.data(), {shape.tokens(), shape.heads}), shape.scale(), shape.window, false, 0.0f,
                                   sinks.empty() ? TensorView{} : f32(sinks.data(), {shape.heads})});
    return r;
  }
  Forward device_forward(bool with_lse = true, bool deterministic = false) const {
    const int64_t T = shape.tokens(), H = shape.heads, K = shape.kv_heads, D = shape.head_dim;
    const DeviceRows dq(q, H, D, 8), dk(k, K, D, 16), dv(v, K, D, 24), out(T, H, D, 8);
    const DeviceArray<int32_t> cu(starts);
    const DeviceArray<float> lse(T * H), of_heads(sinks);
    kernels::attention_packed(device_stream(), {dq.view(), dk.view(), dv.view(), cu.view(DType::kI32, {cu.size()}),
                                                out.view(), with_lse ? lse.view(DType::kF32, {T, H}) : TensorView{},
                                                shape.scale(), shape.window, deterministic, 0.0f,
                                                sinks.empty() ? TensorView{} : of_heads.view(DType::kF32, {H})});
    return {out.values(), lse.download()};
  }

  struct Gradients {
    std::vector<float> dq, dk, dv;
  };
  /// The backward by the CPU op. It gets the same `out` (bf16 values) and `lse` as the device's, so that only
  /// their own rounding differs.
  Gradients host_backward(const Forward& forward) const {
    Gradients r{poison(shape.tokens() * shape.q_width()), poison(shape.tokens() * shape.kv_width()), {}};
    r.dv = r.dk;
    kernels::attention_packed_grad({}, {queries(q), keys(k), keys(v), host_starts(), queries(forward.out),
                                        f32(forward.lse.data(), {shape.tokens(), shape.heads}), queries(dout),
                                        queries(r.dq), keys(r.dk), keys(r.dv), shape.scale(), shape.window});
    return r;
  }
  Gradients device_backward(const Forward& forward, bool deterministic = false) const {
    const int64_t T = shape.tokens(), H = shape.heads, K = shape.kv_heads, D = shape.head_dim;
    const DeviceRows dev_q(q, H, D, 8), dev_k(k, K, D, 16), dev_v(v, K, D, 24), out(forward.out, H, D, 0);
    const DeviceRows dev_dout(dout, H, D, 8), dq(T, H, D, 16), dk(T, K, D, 8), dv(T, K, D, 16);
    const DeviceArray<int32_t> cu(starts);
    const DeviceArray<float> lse(forward.lse);
    Arena scratch(kernels::attention_packed_grad_scratch_bytes(device_stream(), T, H), "test", Memory::kDevice);
    kernels::attention_packed_grad(
        device_stream(), {dev_q.view(), dev_k.view(), dev_v.view(), cu.view(DType::kI32, {cu.size()}), out.view(),
                          lse.view(DType::kF32, {T, H}), dev_dout.view(), dq.view(), dk.view(), dv.view(),
                          shape.scale(), shape.window, &scratch, deterministic});
    return {dq.values(), dk.values(), dv.values()};
  }
};

inline std::vector<float> magnitudes(std::vector<float> values) {
  for (float& x : values) x = std::fabs(x);
  return values;
}
/// Relative size of half a unit in the last place of bf16.
inline constexpr double kBf16Rounding = 0x1p-8;

/// Compares with the CPU op. Probabilities and the result are rounded to bf16, which allows 2^-8 of sum p |v|
/// and of |out|; everything else is f32.
inline void expect_forward(const PackedBatch& batch, const PackedBatch::Forward& got) {
  const PackedBatch::Forward want = batch.host_forward(batch.v);
  const std::vector<float> spread = batch.host_forward(magnitudes(batch.v)).out;
  for (size_t i = 0; i < want.out.size(); ++i) {
    EXPECT_NEAR(got.out[i], want.out[i], 1.05 * kBf16Rounding * (double(spread[i]) + std::fabs(want.out[i])) + 1e-6);
  }
  for (size_t i = 0; i < want.lse.size(); ++i) {
    EXPECT_NEAR(got.lse[i], want.lse[i], 1e-5 * (1 + std::fabs(want.lse[i])));
  }
}

}  // namespace hone::test

#endif
