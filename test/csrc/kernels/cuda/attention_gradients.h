// Bounds on the difference between gradients of packed attention on the device and by the CPU op.
#pragma once

#include "attention_batch.h"

#ifdef HONE_HAVE_CUDA

namespace hone::test {

/// For each element, how much rounding may change it, in units of one rounding: sum |p dout| for dv, sum |ds|
/// |k| for dq and sum |ds| |q| for dk, computed in f64 over a row's keys.
struct Spread {
  std::vector<double> dq, dk, dv;
};

inline void add_row(const PackedBatch& b, const PackedBatch::Forward& f, int64_t start, int64_t t, int64_t head,
             Spread& spread) {
  const AttentionShape& s = b.shape;
  const int64_t D = s.head_dim, kv = head * s.kv_heads / s.heads, at = t * s.q_width() + head * D;
  double delta = 0;
  for (int64_t d = 0; d < D; ++d) delta += double(f.out[size_t(at + d)]) * double(b.dout[size_t(at + d)]);
  for (int64_t j = s.window ? std::max(start, t - s.window + 1) : start; j <= t; ++j) {
    const int64_t key = j * s.kv_width() + kv * D;
    double score = 0, slope = 0;
    for (int64_t d = 0; d < D; ++d) {
      score += double(b.q[size_t(at + d)]) * double(b.k[size_t(key + d)]);
      slope += double(b.dout[size_t(at + d)]) * double(b.v[size_t(key + d)]);
    }
    const double p = std::exp(double(s.scale()) * score - double(f.lse[size_t(t * s.heads + head)]));
    const double ds = std::fabs(p * (slope - delta)) * double(s.scale());
    for (int64_t d = 0; d < D; ++d) {
      spread.dq[size_t(at + d)] += ds * std::fabs(double(b.k[size_t(key + d)]));
      spread.dk[size_t(key + d)] += ds * std::fabs(double(b.q[size_t(at + d)]));
      spread.dv[size_t(key + d)] += p * std::fabs(double(b.dout[size_t(at + d)]));
    }
  }
}

inline Spread spread_of(const PackedBatch& b, const PackedBatch::Forward& f) {
  Spread out{std::vector<double>(b.q.size()), std::vector<double>(b.k.size()), std::vector<double>(b.k.size())};
  for (size_t s = 0; s + 1 < b.starts.size(); ++s) {
    for (int64_t t = b.starts[s]; t < b.starts[s + 1]; ++t) {
      for (int64_t head = 0; head < b.shape.heads; ++head) add_row(b, f, b.starts[s], t, head, out);
    }
  }
  return out;
}

/// p and ds are rounded to bf16 before their products, and the sums once more, which allows 2^-8 of each.
/// Errors of what stays in f32, mainly the difference of slope and delta, are two orders smaller.
inline void expect_near(const std::vector<float>& got, const std::vector<float>& want, const std::vector<double>& spread) {
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], 1.05 * kBf16Rounding * (spread[i] + std::fabs(double(want[i]))) + 2e-5);
  }
}

/// The forward that both backwards get: the CPU op's, with `out` rounded to bf16 as on the device.
inline PackedBatch::Forward forward_of(const PackedBatch& batch) {
  PackedBatch::Forward f = batch.host_forward(batch.v);
  f.out = rounded_to_bf16(f.out);
  return f;
}

/// Whether two sets of gradients are equal to the bit.
inline bool same(const PackedBatch::Gradients& a, const PackedBatch::Gradients& b) {
  return same_bits(a.dq.data(), b.dq.data(), int64_t(a.dq.size())) &&
         same_bits(a.dk.data(), b.dk.data(), int64_t(a.dk.size())) &&
         same_bits(a.dv.data(), b.dv.data(), int64_t(a.dv.size()));
}

inline void expect_gradients(const PackedBatch& batch, const PackedBatch::Forward& forward,
                             const PackedBatch::Gradients& got) {
  const PackedBatch::Gradients want = batch.host_backward(forward);
  const Spread spread = spread_of(batch, forward);
  expect_near(got.dq, want.dq, spread.dq);
  expect_near(got.dk, want.dk, spread.dk);
  expect_near(got.dv, want.dv, spread.dv);
}

}  // namespace hone::test

#endif
