#include "kernels/cpu/experts.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "core/even_grain.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/rows_block.h"

namespace hone::kernels::cpu {
namespace {

// Floats of a chunk: about 5 us of streaming work.
constexpr int64_t kRouteFloats = 32 * 1024;
// A product of one expert with at least kLargeFlops operations is divided among threads. Smaller ones are
// distributed whole, in chunks of kExpertFlops, which are large enough to be worth moving to another core
// (matmul.cc).
constexpr double kLargeFlops = 64e6, kExpertFlops = 4e6;
// Keeps the sum of weights above 0 even if every sigmoid is 0. Source: transformers, modeling_glm4_moe.
constexpr float kLeastSum = 1e-20f;

int64_t route_grain(const Stream& stream, int64_t rows, int64_t width) {
  return even_grain(stream, rows, kRouteFloats / std::max<int64_t>(1, width));
}

struct Pairs {
  int64_t first, count;
};

Pairs pairs_of(const TensorView& begins, int64_t expert) {
  const int32_t* const at = begins.as<int32_t>() + expert;
  return {at[0], at[1] - at[0]};
}

TensorView bias_of(const TensorView& all, int64_t expert) { return all.empty() ? TensorView{} : f32(all.row<float>(expert), {all.dim(1)}); }

TensorView some_rows(TensorView view, int64_t first, int64_t count) {
  view.data = view.row<float>(first);
  view.shape[0] = count;
  return view;
}

/// Chooses the experts of one row.
class Choice {
 public:
  Choice(const RouteArgs& args, const float* scores) : how_(args.how), experts_(args.scores.dim(1)), scores_(scores),
      correction_(args.correction.empty() ? nullptr : args.correction.as<float>()) {}

  void choose(int64_t k, int32_t* out) {
    const bool grouped = how_.chosen_groups < how_.groups;
    if (grouped) choose_groups();
    taken_.assign(size_t(experts_), false);
    for (int64_t j = 0; j < k; ++j) {
      int64_t best = -1;
      for (int64_t e = 0; e < experts_; ++e) {
        if (taken_[size_t(e)] || (grouped && !open_[size_t(e / size())])) continue;
        // comparisons with NaN are false, so that some expert is always found
        if (best < 0 || value(e) > value(best)) best = e;
      }
      taken_[size_t(best)] = true;
    }
    for (int64_t e = 0; e < experts_; ++e) {
      if (taken_[size_t(e)]) *out++ = int32_t(e);
    }
  }

 private:
  int64_t size() const { return experts_ / how_.groups; }
  float value(int64_t e) const { return scores_[e] + (correction_ ? correction_[e] : 0.0f); }

  float group_value(int64_t group) const {
    float first = -HUGE_VALF, second = -HUGE_VALF;
    for (int64_t e = group * size(); e < (group + 1) * size(); ++e) {
      const float v = value(e);
      if (v > first) second = first, first = v;
      else if (v > second) second = v;
    }
    return first + second;
  }
  void choose_groups() {
    open_.assign(size_t(how_.groups), false);
    for (int64_t j = 0; j < how_.chosen_groups; ++j) {
      int64_t best = -1;
      for (int64_t g = 0; g < how_.groups; ++g) {
        if (!open_[size_t(g)] && (best < 0 || group_value(g) > group_value(best))) best = g;
      }
      open_[size_t(best)] = true;
    }
  }

  const Routing& how_;
  int64_t experts_;
  const float* scores_;
  const float* correction_;
  std::vector<bool> taken_, open_;
};

/// Chooses a row's experts, or keeps given ones. Returns whether the row would have chosen others than the
/// given ones, if args.replaced asks for that.
bool choose_or_keep(const RouteArgs& a, const float* scores, int32_t* experts, std::vector<int32_t>& own) {
  const auto k = int64_t(own.size());
  const bool given = a.given && experts[0] >= 0;
  if (given && !a.replaced) return false;
  Choice(a, scores).choose(k, given ? own.data() : experts);
  return given && !std::equal(own.begin(), own.end(), experts);
}

float sum_of(const Routing& how, const float* scores, const int32_t* experts, int64_t k) {
  float sum = 0.0f;
  for (int64_t j = 0; j < k; ++j) sum += scores[experts[j]];
  return sum + (how.least_sum > 0.0f ? how.least_sum : kLeastSum);
}

/// Converts dweights to `out`, the gradient of the chosen experts' scores.
void score_gradient(const RouteGradArgs& a, int64_t r, double* out) {
  const int64_t k = a.experts.dim(1);
  const float *const scores = a.scores.row<float>(r), *const dweights = a.dweights.row<float>(r);
  const int32_t* const experts = a.experts.row<int32_t>(r);
  const double scaling = double(a.how.scaling);
  if (!a.how.normalized) {
    for (int64_t j = 0; j < k; ++j) out[j] = scaling * double(dweights[j]);
    return;
  }
  const double sum = double(sum_of(a.how, scores, experts, k));
  double mean = 0.0;
  for (int64_t j = 0; j < k; ++j) mean += double(dweights[j]) * double(scores[experts[j]]) / sum;
  for (int64_t j = 0; j < k; ++j) out[j] = scaling * (double(dweights[j]) - mean) / sum;
}

void route_grad_row(const RouteGradArgs& a, int64_t r, std::vector<double>& dscores) {
  const int64_t E = a.scores.dim(1), k = a.experts.dim(1);
  const float* const scores = a.scores.row<float>(r);
  const int32_t* const experts = a.experts.row<int32_t>(r);
  float* const dlogits = a.dlogits.row<float>(r);
  score_gradient(a, r, dscores.data());
  double mean = 0.0;  // mean of dscores under the softmax
  for (int64_t j = 0; j < k; ++j) mean += dscores[size_t(j)] * double(scores[experts[j]]);
  for (int64_t e = 0, j = 0; e < E; ++e) {
    const double d = j < k && experts[j] == e ? dscores[size_t(j++)] : 0.0, s = double(scores[e]);
    dlogits[e] = float(a.how.sigmoid ? d * s * (1.0 - s) : s * (d - mean));
  }
}

/// Calls each(e) for every expert: concurrently if the experts' work is small, which changes no bits.
template <class Each>
void for_experts(const Stream& stream, int64_t experts, double flops, const Each& each) {
  const double each_flops = flops / double(experts);
  const int64_t grain = each_flops >= kLargeFlops ? experts : int64_t(kExpertFlops / std::max(each_flops, 1.0)) + 1;
  stream.parallel_for(experts, grain, [&](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e) each(e);
  });
}

}  // namespace

void route(const Stream& stream, const RouteArgs& a) {
  const int64_t E = a.scores.dim(1), k = a.experts.dim(1);
  const auto score = a.how.sigmoid ? HONE_PICK(sigmoid_row) : HONE_PICK(softmax_row);
  stream.parallel_for(a.scores.dim(0), route_grain(stream, a.scores.dim(0), (4 + k) * E), [&](int64_t begin, int64_t end) {
    std::vector<int32_t> own(size_t(k), 0);
    int64_t replaced = 0;
    for (int64_t r = begin; r < end; ++r) {
      float *const scores = a.scores.row<float>(r), *const weights = a.weights.row<float>(r);
      int32_t* const experts = a.experts.row<int32_t>(r);
      score(scores, E);
      replaced += choose_or_keep(a, scores, experts, own);
      const float sum = a.how.normalized ? sum_of(a.how, scores, experts, k) : 1.0f;
      for (int64_t j = 0; j < k; ++j) weights[j] = scores[experts[j]] / sum * a.how.scaling;
    }
    if (a.replaced) std::atomic_ref(*a.replaced).fetch_add(replaced, std::memory_order_relaxed);
  });
}

void route_grad(const Stream& stream, const RouteGradArgs& a) {
  const int64_t R = a.scores.dim(0), E = a.scores.dim(1), k = a.experts.dim(1);
  stream.parallel_for(R, route_grain(stream, R, 4 * E), [&](int64_t begin, int64_t end) {
    std::vector<double> dscores(size_t(k), 0.0);
    for (int64_t r = begin; r < end; ++r) route_grad_row(a, r, dscores);
  });
}

void group_rows(const Stream&, const GroupRowsArgs& a) {
  const int64_t R = a.experts.dim(0), k = a.experts.dim(1), E = a.begins.dim(0) - 1;
  const int32_t* const experts = a.experts.as<int32_t>();
  int32_t* const begins = a.begins.as<int32_t>();
  std::fill(begins, begins + E + 1, 0);
  for (int64_t p = 0; p < R * k; ++p) ++begins[experts[p] + 1];
  for (int64_t e = 0; e < E; ++e) begins[e + 1] += begins[e];
  std::vector<int32_t> next(begins, begins + E);
  for (int64_t p = 0; p < R * k; ++p) {
    const int32_t at = next[size_t(experts[p])]++;
    a.pairs.as<int32_t>()[p] = at;
    a.rows.as<int32_t>()[at] = int32_t(p / k);
  }
}

void count_rows(const Stream&, const CountRowsArgs& a) {
  const int32_t* const begins = a.begins.as<int32_t>();
  for (int64_t e = 0; e < a.counts.dim(0); ++e) a.counts.as<double>()[e] += double(begins[e + 1] - begins[e]);
}

void experts_linear(const Stream& stream, const ExpertsLinearArgs& a) {
  const double flops = 2.0 * double(a.x.dim(0)) * double(a.x.dim(1)) * double(a.y.dim(1));
  for_experts(stream, int64_t(a.w.size()), flops, [&](int64_t e) {
    const Pairs pairs = pairs_of(a.begins, e);
    if (pairs.count == 0) return;
    linear(stream, {.x = some_rows(a.x, pairs.first, pairs.count), .w = a.w[size_t(e)], .bias = bias_of(a.bias, e), .y = some_rows(a.y, pairs.first, pairs.count)});
  });
}

void experts_grad_weight(const Stream& stream, const ExpertsGradWeightArgs& a) {
  const int64_t N = a.dy.dim(1), E = a.begins.dim(0) - 1;
  const double flops = 2.0 * double(a.x.dim(0)) * double(a.x.dim(1)) * double(N);
  const int32_t* const rows = a.rows.as<int32_t>();
  for_experts(stream, E, flops, [&](int64_t e) {
    const Pairs all = pairs_of(a.begins, e);
    const int32_t* const end = rows + all.first + all.count;
    const int32_t* const from = std::lower_bound(rows + all.first, end, int32_t(a.first_row));
    const int32_t* const to = std::lower_bound(from, end, int32_t(a.last_row));
    if (from == to) return;
    linear_grad_weight(stream, {.dy = some_rows(a.dy, from - rows, to - from), .x = some_rows(a.x, from - rows, to - from),
                                .dw = some_rows(a.dw, e * N, N), .dbias = {}, .arithmetic = a.arithmetic});
  });
}

void experts_grad_bias(const Stream& stream, const ExpertsGradBiasArgs& a) {
  // Columns, not rows, are divided over threads: each thread adds the rows in order.
  const int64_t k = a.pairs.dim(1), N = a.dbias.dim(1), strips = (N + 15) / 16;
  const auto add = HONE_PICK(axpby_row);
  stream.parallel_for(strips, route_grain(stream, strips, 16 * k * (a.last_row - a.first_row)), [&](int64_t begin, int64_t end) {
    const int64_t first = begin * 16, count = std::min(end * 16, N) - first;
    for (int64_t r = a.first_row; r < a.last_row; ++r) {
      for (int64_t j = 0; j < k; ++j) {
        const float weight = a.weights.empty() ? 1.0f : a.weights.row<float>(r)[j];
        const float* const dy = a.dy.row<float>(a.pairs.row<int32_t>(r)[j]);
        add(dy + first, weight, a.dbias.row<float>(a.experts.row<int32_t>(r)[j]) + first, 1.0f, count);
      }
    }
  });
}

void combine_rows(const Stream& stream, const CombineRowsArgs& a) {
  const int64_t C = a.to.dim(1), k = a.pairs.dim(1);
  const auto add = HONE_PICK(axpby_row);
  stream.parallel_for(a.to.dim(0), route_grain(stream, a.to.dim(0), k * C), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t j = 0; j < k; ++j) {
        const float weight = a.weights.empty() ? 1.0f : a.weights.row<float>(r)[j];
        add(a.from.row<float>(a.pairs.row<int32_t>(r)[j]), weight, a.to.row<float>(r), 1.0f, C);
      }
    }
  });
}

void weigh_pairs(const Stream& stream, const WeighPairsArgs& a) {
  const int64_t R = a.pairs.dim(0), k = a.pairs.dim(1), F = a.product.dim(1), G = a.beside.dim(1);
  const auto dot = HONE_PICK(dot_row);
  const auto scale = HONE_PICK(axpby_row);
  stream.parallel_for(R, route_grain(stream, R, k * (F + G)), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t j = 0; j < k; ++j) {
        const int32_t p = a.pairs.row<int32_t>(r)[j];
        float *const product = a.product.row<float>(p), *const beside = a.beside.row<float>(p);
        const float weight = a.weights.row<float>(r)[j];
        float& dweight = a.dweights.row<float>(r)[j];
        dweight = dot(a.dproduct.row<float>(p), product, F);
        if (!a.bias.empty()) dweight += dot(a.doutputs.row<float>(p), a.bias.row<float>(a.experts.row<int32_t>(r)[j]), a.bias.dim(1));
        scale(product, weight, product, 0.0f, F);
        scale(beside, weight, beside, 0.0f, G);
      }
    }
  });
}

}  // namespace hone::kernels::cpu
