#include "kernels/cpu/router_loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hone::kernels::cpu {
namespace {

/// The auxiliary losses of one sequence's rows [first, last).
class SequenceRows {
 public:
  SequenceRows(const RouterLossArgs& args, int64_t first, int64_t last)
      : a_(args), first_(first), last_(last), experts_(args.logits.dim(1)), p_(size_t(experts_)), slope_(size_t(experts_), 0.0) {}

  /// Adds the gradient to dlogits; returns the loss.
  double add() {
    if (first_ == last_) return 0.0;
    count();
    double loss = 0.0;
    for (int64_t r = first_; r < last_; ++r) loss += row(r);
    return loss;
  }

 private:
  double rows() const { return double(last_ - first_); }

  /// Counts the rows of each expert. slope_e is the factor of each row's p_re in the balance loss.
  void count() {
    const double each = a_.balance_coef * double(experts_) / (rows() * rows());
    for (int64_t r = first_; r < last_; ++r) {
      for (int64_t j = 0; j < a_.experts.dim(1); ++j) slope_[size_t(a_.experts.row<int32_t>(r)[j])] += each;
    }
  }

  double row(int64_t r) {
    const float* const logits = a_.logits.row<float>(r);
    float* const out = a_.dlogits.row<float>(r);
    const double lse = a_.z_coef == 0.0 ? 0.0 : log_sum(logits), z = a_.z_coef / rows();
    probabilities(logits);
    double balance = 0.0;
    for (int64_t e = 0; e < experts_; ++e) balance += slope_[size_t(e)] * p_[size_t(e)];
    for (int64_t e = 0; e < experts_; ++e) {
      const double p = p_[size_t(e)], x = double(logits[e]);
      // derivative of p_e = s_e / sum s: ds_e / s_e is 1 - s_e if s is a sigmoid, 1 if it is an exponential
      const double own = a_.sigmoid ? 1.0 / (1.0 + std::exp(x)) : 1.0;
      double d = p * own * (slope_[size_t(e)] - balance);
      if (z != 0.0) d += 2.0 * z * lse * std::exp(x - lse);
      out[e] += float(d);
    }
    return balance + z * lse * lse;
  }

  double log_sum(const float* logits) const {
    const double most = double(*std::max_element(logits, logits + experts_));
    double sum = 0.0;
    for (int64_t e = 0; e < experts_; ++e) sum += std::exp(double(logits[e]) - most);
    return most + std::log(sum);
  }

  void probabilities(const float* logits) {
    const double most = double(*std::max_element(logits, logits + experts_));
    double sum = 0.0;
    for (int64_t e = 0; e < experts_; ++e) {
      const double x = double(logits[e]);
      sum += p_[size_t(e)] = a_.sigmoid ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x - most);
    }
    for (double& p : p_) p /= sum;
  }

  const RouterLossArgs& a_;
  int64_t first_, last_, experts_;
  std::vector<double> p_, slope_;
};

}  // namespace

void router_loss(const Stream& stream, const RouterLossArgs& a) {
  const int32_t* const starts = a.starts.as<int32_t>();
  stream.parallel_for(a.starts.dim(0) - 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) a.losses[s] += SequenceRows(a, starts[s], starts[s + 1]).add();
  });
}

}  // namespace hone::kernels::cpu
