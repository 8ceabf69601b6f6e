// Packed attention and its gradient in f64: the reference for attention.test.cc.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "check.h"
#include "kernels/attention.h"

namespace kernels_attention_test {
using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

struct Shape {
  std::vector<int> lengths;
  int64_t heads, kv_heads, head_dim;
  int window = 0;
  float scale() const { return 1.0f / std::sqrt(float(head_dim)); }
  int64_t tokens() const { return std::accumulate(lengths.begin(), lengths.end(), 0); }
};

/// Inputs whose rows have gaps between them, as when q, k and v are columns of one matrix.
struct Packed {
  Shape shape;
  std::vector<int32_t> starts{0};
  std::vector<float> q, k, v, out, lse, dout, dq, dk, dv;
  int64_t q_gap = 5, k_gap = 3;
  std::vector<float> sinks;  // one per head, or none

  explicit Packed(const Shape& s) : shape(s) {
    for (int n : s.lengths) starts.push_back(starts.back() + n);
    const int64_t T = s.tokens();
    q = random_floats(T * q_stride());
    k = random_floats(T * k_stride());
    v = random_floats(T * k_stride());
    dout = random_floats(T * s.heads * s.head_dim);
    clear();
  }
  void clear() {
    const int64_t T = shape.tokens(), H = shape.heads, D = shape.head_dim;
    out = poison(T * H * D);
    lse = poison(T * H);
    dq = poison(T * q_stride());
    dk = poison(T * k_stride());
    dv = poison(T * k_stride());
  }
  int64_t q_stride() const { return shape.heads * shape.head_dim + q_gap; }
  int64_t k_stride() const { return shape.kv_heads * shape.head_dim + k_gap; }
  TensorView q_view(std::vector<float>& x) const {
    TensorView view = f32(x.data(), {shape.tokens(), shape.heads, shape.head_dim});
    view.row_stride = q_stride();
    return view;
  }
  TensorView k_view(std::vector<float>& x) const {
    TensorView view = f32(x.data(), {shape.tokens(), shape.kv_heads, shape.head_dim});
    view.row_stride = k_stride();
    return view;
  }
  TensorView out_view(std::vector<float>& x) const { return f32(x.data(), {shape.tokens(), shape.heads, shape.head_dim}); }
  TensorView sinks_view() const { return sinks.empty() ? TensorView{} : f32(sinks.data(), {shape.heads}); }
  TensorView cu() const { return i32(starts.data(), {int64_t(starts.size())}); }

  void forward(const Stream& stream = {}) {
    attention_packed(stream, {q_view(q), k_view(k), k_view(v), cu(), out_view(out),
                              f32(lse.data(), {shape.tokens(), shape.heads}), shape.scale(), shape.window, false, 0.0f, sinks_view()});
  }
  void backward(const Stream& stream = {}) {
    attention_packed_grad(stream, {q_view(q), k_view(k), k_view(v), cu(), out_view(out),
                                   f32(lse.data(), {shape.tokens(), shape.heads}), out_view(dout), q_view(dq),
                                   k_view(dk), k_view(dv), shape.scale(), shape.window});
  }
};

inline int sequence_of(const Packed& p, int64_t t) {
  return int(std::upper_bound(p.starts.begin(), p.starts.end(), t) - p.starts.begin()) - 1;
}

/// Computes one row and head in f64: its output, and (returned) the natural log of its normaliser.
inline double reference_row(const Packed& p, int64_t t, int64_t head, std::vector<double>* out) {
  const Shape& s = p.shape;
  const int64_t start = p.starts[size_t(sequence_of(p, t))], D = s.head_dim;
  const int64_t kv = head * s.kv_heads / s.heads, low = s.window ? std::max(start, t - s.window + 1) : start;
  std::vector<double> score;
  for (int64_t j = low; j <= t; ++j) {
    double dot = 0;
    for (int64_t d = 0; d < D; ++d) {
      dot += double(p.q[size_t(t * p.q_stride() + head * D + d)]) * double(p.k[size_t(j * p.k_stride() + kv * D + d)]);
    }
    score.push_back(dot * double(s.scale()));
  }
  const double top = *std::max_element(score.begin(), score.end());
  double total = p.sinks.empty() ? 0.0 : std::exp(double(p.sinks[size_t(head)]) - top);
  for (double& x : score) total += x = std::exp(x - top);
  out->assign(size_t(D), 0);
  for (int64_t j = low; j <= t; ++j) {
    for (int64_t d = 0; d < D; ++d) {
      (*out)[size_t(d)] += score[size_t(j - low)] / total * double(p.v[size_t(j * p.k_stride() + kv * D + d)]);
    }
  }
  return top + std::log(total);
}

/// Rows [first, end) and heads [low, high).
struct Span {
  int64_t first, end, low, high;
};

/// The output rows and heads that depend on one row's query, or on one row's key and value.
inline Span moved_by_query(int64_t t, int64_t head) { return {t, t + 1, head, head + 1}; }
inline Span moved_by_key(const Packed& p, int64_t t, int64_t kv) {
  const int64_t group = p.shape.heads / p.shape.kv_heads;
  return {t, p.starts[size_t(sequence_of(p, t)) + 1], kv * group, (kv + 1) * group};
}

/// Sum of out * dout over the rows and heads of a span, in f64.
inline double reference_loss(const Packed& p, const Span& span) {
  double loss = 0;
  std::vector<double> out;
  for (int64_t t = span.first; t < span.end; ++t) {
    for (int64_t head = span.low; head < span.high; ++head) {
      reference_row(p, t, head, &out);
      const int64_t base = (t * p.shape.heads + head) * p.shape.head_dim;
      for (int64_t d = 0; d < p.shape.head_dim; ++d) loss += out[size_t(d)] * double(p.dout[size_t(base + d)]);
    }
  }
  return loss;
}

/// The derivative of reference_loss() with respect to element `i` of `input`, by central differences. The
/// step is a power of two, so that it is exact; the error is about h^2.
inline double central_difference(Packed& p, std::vector<float> Packed::*input, size_t i, const Span& span) {
  const float x = (p.*input)[i], h = 0x1p-9f;
  (p.*input)[i] = x + h;
  const double up = reference_loss(p, span), high = double((p.*input)[i]);
  (p.*input)[i] = x - h;
  const double down = reference_loss(p, span), low = double((p.*input)[i]);
  (p.*input)[i] = x;
  return (up - down) / (high - low);
}

/// One element of a gradient, and its value by central differences in f64.
struct Derivative {
  std::vector<float> Packed::*gradient;
  size_t at;
  double wanted;
};

/// `samples` random elements of each of the three gradients.
inline std::vector<Derivative> drawn_derivatives(Packed& p, int samples) {
  const Shape& s = p.shape;
  std::vector<Derivative> all;
  const auto draw = [&](std::vector<float> Packed::*input, std::vector<float> Packed::*gradient, int64_t heads, int64_t stride) {
    for (int i = 0; i < samples; ++i) {
      const int64_t t = random_int(0, s.tokens() - 1), head = random_int(0, heads - 1);
      const auto at = size_t(t * stride + head * s.head_dim + random_int(0, s.head_dim - 1));
      const Span span = input == &Packed::q ? moved_by_query(t, head) : moved_by_key(p, t, head);
      all.push_back({gradient, at, central_difference(p, input, at, span)});
    }
  };
  draw(&Packed::q, &Packed::dq, s.heads, p.q_stride());
  draw(&Packed::k, &Packed::dk, s.kv_heads, p.k_stride());
  draw(&Packed::v, &Packed::dv, s.kv_heads, p.k_stride());
  return all;
}

}  // namespace kernels_attention_test
