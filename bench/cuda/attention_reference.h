// Packed causal attention in f64, row by row, of the values that fill_random wrote into q, k, v and dout [tokens,
// heads, head_dim].
#pragma once

#include <cmath>
#include <vector>

#include "report.h"

namespace hone::bench {

class AttentionReference {
 public:
  using Row = std::vector<double>;

  AttentionReference(int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t length)
      : heads_(heads), kv_heads_(kv_heads), dim_(head_dim), length_(length), scale_(1.0 / std::sqrt(double(head_dim))) {}

  struct Query {
    Row out, dq;
  };
  /// Returns the output row of the query of token t and head h, and the gradient with respect to the query.
  Query query(int64_t t, int64_t h) const {
    const Row q = line(t, h, heads_), dout = line(t, h, heads_);
    const int64_t first = t / length_ * length_, kv = h / (heads_ / kv_heads_);
    std::vector<double> weights, slopes;
    double most = -INFINITY, total = 0, mean = 0;
    for (int64_t j = first; j <= t; ++j) {
      weights.push_back(scale_ * dot(q, line(j, kv, kv_heads_)));
      most = std::max(most, weights.back());
    }
    for (double& w : weights) total += w = std::exp(w - most);
    Query result{Row(size_t(dim_)), Row(size_t(dim_))};
    for (int64_t j = first; j <= t; ++j) {
      const Row v = line(j, kv, kv_heads_);
      double& w = weights[size_t(j - first)];
      w /= total;
      add(result.out, w, v);
      slopes.push_back(dot(dout, v));
      mean += w * slopes.back();
    }
    for (int64_t j = first; j <= t; ++j) {
      const size_t i = size_t(j - first);
      add(result.dq, scale_ * weights[i] * (slopes[i] - mean), line(j, kv, kv_heads_));
    }
    return result;
  }

  struct Key {
    Row dk, dv;
  };
  /// Gradients of the key and the value of token t and key head kv. `lse` [T, heads] and `out` [T, heads, head_dim]
  /// come from the forward; `query` checks their rows.
  Key key(int64_t t, int64_t kv, const std::vector<float>& lse, const std::vector<uint16_t>& out) const {
    const Row k = line(t, kv, kv_heads_), v = k;
    const int64_t group = heads_ / kv_heads_, end = (t / length_ + 1) * length_;
    Key result{Row(size_t(dim_)), Row(size_t(dim_))};
    for (int64_t h = kv * group; h < (kv + 1) * group; ++h) {
      for (int64_t i = t; i < end; ++i) {
        const Row q = line(i, h, heads_);
        const Row& dout = q;
        double mean = 0;
        for (int64_t d = 0; d < dim_; ++d) {
          mean += dout[size_t(d)] * double(bf16_to_f32(out[size_t((i * heads_ + h) * dim_ + d)]));
        }
        const double w = std::exp(scale_ * dot(q, k) - double(lse[size_t(i * heads_ + h)]));
        add(result.dv, w, dout);
        add(result.dk, scale_ * w * (dot(dout, v) - mean), q);
      }
    }
    return result;
  }

 private:
  /// q and dout hold the same values, and so do k and v: each is filled from the start of the random block.
  Row line(int64_t t, int64_t h, int64_t heads) const {
    static const RandomValues filled;
    const std::vector<float> values = filled.line((t * heads + h) * dim_, dim_);
    return Row(values.begin(), values.end());
  }
  static double dot(const Row& a, const Row& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  static void add(Row& to, double factor, const Row& x) {
    for (size_t i = 0; i < to.size(); ++i) to[i] += factor * x[i];
  }

  int64_t heads_, kv_heads_, dim_, length_;
  double scale_;
};

}  // namespace hone::bench
