// Gated DeltaNet compared with an f64 recurrence written from the formulas, its gradient with central
// differences of that recurrence, and the bits of a sequence in one call with those in several calls.
#include "kernels/delta_rule.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "each_isa.h"

namespace kernels_delta_rule_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

using Doubles = std::vector<double>;

constexpr DeltaSizes kSizes[] = {{1, 1, 4, 4, 4}, {2, 4, 5, 3, 4}, {2, 2, 16, 16, 2}, {1, 3, 20, 37, 3}, {1, 2, 8, 150, 4}};

/// A case's inputs and weights (listed by inputs()), and dy; the loss is the product of dy and y.
struct World {
  DeltaSizes s;
  std::vector<int32_t> cu;
  std::vector<float> x, conv, decay, dt, norm, dy;

  World(const DeltaSizes& sizes, std::vector<int32_t> starts) : s(sizes), cu(std::move(starts)) {
    x = random_floats(rows() * s.inputs(), 1.5f), conv = random_floats(s.channels() * s.taps);
    decay = random_floats(s.value_heads), dt = random_floats(s.value_heads);
    norm = random_floats(s.value_dim), dy = random_floats(rows() * s.values());
  }
  int64_t rows() const { return cu.back(); }
  std::vector<std::vector<float>*> inputs() { return {&x, &conv, &decay, &dt, &norm}; }
  DeltaWeights weights() { return of(conv, decay, dt, norm); }
  DeltaWeights of(std::vector<float>& c, std::vector<float>& d, std::vector<float>& t, std::vector<float>& n) const {
    return {f32(c.data(), {s.channels(), s.taps}), f32(d.data(), {s.value_heads}), f32(t.data(), {s.value_heads}), f32(n.data(), {s.value_dim})};
  }
  Arena arena() const { return Arena(delta_rule_grad_scratch_bytes({}, rows(), s), "test"); }
};

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

/// y in f64, from the five inputs.
Doubles reference(const World& w, const std::vector<Doubles>& in) {
  const DeltaSizes& s = w.s;
  const auto& [x, conv, decay, dt, norm] = std::tie(in[0], in[1], in[2], in[3], in[4]);
  const int64_t P = s.inputs(), C = s.channels(), M = s.value_heads;
  Doubles y(size_t(w.rows() * s.values()));
  for (size_t run = 0; run + 1 < w.cu.size(); ++run) {
    for (int64_t h = 0; h < M; ++h) {
      std::vector<Doubles> state(size_t(s.key_dim), Doubles(size_t(s.value_dim), 0.0));
      const int64_t key = h / (M / s.key_heads) * s.key_dim;
      for (int64_t t = w.cu[run]; t < w.cu[run + 1]; ++t) {
        const auto channel = [&](int64_t c) {
          double sum = 0;
          for (int64_t j = 0; j < s.taps; ++j) {
            const int64_t from = t - s.taps + 1 + j;
            if (from >= w.cu[run]) sum += conv[size_t(c * s.taps + j)] * x[size_t(from * P + c)];
          }
          return sum * sigmoid(sum);
        };
        Doubles q, k, v, kept(size_t(s.value_dim), 0.0), o(size_t(s.value_dim), 0.0);
        double qq = 1e-6, kk = 1e-6, square = 0;
        for (int64_t i = 0; i < s.key_dim; ++i) {
          q.push_back(channel(key + i)), k.push_back(channel(s.keys() + key + i));
          qq += q.back() * q.back(), kk += k.back() * k.back();
        }
        for (int64_t i = 0; i < s.value_dim; ++i) v.push_back(channel(2 * s.keys() + h * s.value_dim + i));
        const double* row = x.data() + t * P + C;
        const double beta = sigmoid(row[s.values() + h]);
        const double g = std::exp(-std::exp(decay[size_t(h)]) * std::log1p(std::exp(row[s.values() + M + h] + dt[size_t(h)])));
        for (size_t i = 0; i < k.size(); ++i) {
          q[i] /= std::sqrt(qq) * std::sqrt(double(s.key_dim)), k[i] /= std::sqrt(kk);
          for (size_t j = 0; j < v.size(); ++j) state[i][j] *= g, kept[j] += state[i][j] * k[i];
        }
        for (size_t i = 0; i < k.size(); ++i) {
          for (size_t j = 0; j < v.size(); ++j) state[i][j] += k[i] * beta * (v[j] - kept[j]), o[j] += state[i][j] * q[i];
        }
        for (const double value : o) square += value * value;
        for (size_t j = 0; j < o.size(); ++j) {
          const double z = row[size_t(h * s.value_dim) + j];
          y[size_t(t * s.values() + h * s.value_dim) + j] =
              norm[j] * o[j] / std::sqrt(square / double(s.value_dim) + 1e-6) * z * sigmoid(z);
        }
      }
    }
  }
  return y;
}

std::vector<Doubles> doubles(World& w) {
  std::vector<Doubles> out;
  for (const auto* v : w.inputs()) out.emplace_back(v->begin(), v->end());
  return out;
}

std::vector<float> forward(World& w, const Stream& stream) {
  Arena arena = w.arena();
  std::vector<float> y = poison(w.rows() * w.s.values());
  delta_rule(stream, {.x = f32(w.x.data(), {w.rows(), w.s.inputs()}), .weights = w.weights(),
                      .runs = {i32(w.cu.data(), {int64_t(w.cu.size())}), nullptr}, .y = f32(y.data(), {w.rows(), w.s.values()}),
                      .sizes = w.s, .scratch = &arena});
  return y;
}

/// The gradients of the inputs, in the order of inputs().
std::vector<std::vector<float>> gradient(World& w, const Stream& stream) {
  Arena arena = w.arena();
  std::vector<std::vector<float>> d;
  for (const auto* v : w.inputs()) d.emplace_back(v->size(), 0.0f);
  d[0] = poison(int64_t(d[0].size()));
  delta_rule_grad(stream, {.x = f32(w.x.data(), {w.rows(), w.s.inputs()}), .weights = w.weights(), .cu_rows = i32(w.cu.data(), {int64_t(w.cu.size())}),
                           .dy = f32(w.dy.data(), {w.rows(), w.s.values()}), .dx = f32(d[0].data(), {w.rows(), w.s.inputs()}),
                           .dweights = w.of(d[1], d[2], d[3], d[4]), .sizes = w.s, .scratch = &arena});
  return d;
}

double loss(const World& w, const std::vector<Doubles>& in) {
  const Doubles y = reference(w, in);
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += y[i] * double(w.dy[i]);
  return sum;
}

}  // namespace

TEST(outputs_match_the_recurrence_in_f64) {
  each_isa([] {
    for (const DeltaSizes& s : kSizes) {
      World w(s, {0, 1, 12, 12, 20});
      const Doubles wanted = reference(w, doubles(w));
      for (const Stream& stream : {Stream{}, two_threads()}) {
        const std::vector<float> y = forward(w, stream);
        for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], wanted[i], 2e-5 * (1 + std::fabs(wanted[i])));
      }
    }
  });
}

TEST(a_sequence_has_the_same_bits_however_its_rows_are_divided_among_calls) {
  each_isa([] {
    for (const DeltaSizes& s : kSizes) {
      World w(s, {0, 13, 30});
      const std::vector<float> whole = forward(w, two_threads());
      std::vector<float> one(size_t(s.state_floats()), 0.0f), two = one, y = poison(int64_t(whole.size()));
      Arena arena = w.arena();
      int64_t at[2] = {0, 13};
      while (at[0] < 13 || at[1] < 30) {
        // A call has a piece of each of two sequences, in either order.
        const int64_t rows[2] = {std::min<int64_t>(random_int(0, 6), 13 - at[0]), std::min<int64_t>(random_int(0, 6), 30 - at[1])};
        const int first = int(random_int(0, 1));
        std::vector<float> x, out = poison((rows[0] + rows[1]) * s.values());
        for (const int which : {first, 1 - first}) {
          x.insert(x.end(), w.x.begin() + at[which] * s.inputs(), w.x.begin() + (at[which] + rows[which]) * s.inputs());
        }
        float* states[2] = {first ? two.data() : one.data(), first ? one.data() : two.data()};
        const int32_t cu[3] = {0, int32_t(rows[first]), int32_t(rows[0] + rows[1])};
        if (cu[2] == 0) continue;
        delta_rule({}, {.x = f32(x.data(), {cu[2], s.inputs()}), .weights = w.weights(), .runs = {i32(cu, {3}), states},
                        .y = f32(out.data(), {cu[2], s.values()}), .sizes = s, .scratch = &arena});
        std::copy(out.begin(), out.begin() + cu[1] * s.values(), y.begin() + at[first] * s.values());
        std::copy(out.begin() + cu[1] * s.values(), out.end(), y.begin() + at[1 - first] * s.values());
        at[0] += rows[0], at[1] += rows[1];
      }
      EXPECT_TRUE(same_bits(whole.data(), y.data(), int64_t(y.size())));
    }
  });
}

TEST(gradients_match_central_differences_of_the_recurrence) {
  each_isa([] {
    for (const DeltaSizes& s : {kSizes[0], kSizes[1]}) {
      World w(s, {0, 2, 2, 9});
      const auto d = gradient(w, {}), again = gradient(w, two_threads());
      std::vector<Doubles> in = doubles(w);
      for (size_t which = 0; which < in.size(); ++which) {
        EXPECT_TRUE(same_bits(d[which].data(), again[which].data(), int64_t(d[which].size())));
        for (size_t i = 0; i < in[which].size(); ++i) {
          const double at = in[which][i], h = 1e-5;
          in[which][i] = at + h;
          const double above = loss(w, in);
          in[which][i] = at - h;
          const double slope = (above - loss(w, in)) / (2 * h);
          in[which][i] = at;
          EXPECT_NEAR(d[which][i], slope, 2e-4 * (1 + std::fabs(slope)));
        }
      }
    }
  });
}

TEST(gradients_of_sequences_longer_than_a_chunk_match_too) {
  for (const DeltaSizes& s : {DeltaSizes{2, 4, 6, 5, 4}, DeltaSizes{1, 1, 16, 20, 4}}) {
    World w(s, {0, 150, 214, 342});
    const auto d = gradient(w, two_threads());
    std::vector<Doubles> in = doubles(w);
    for (size_t which = 0; which < in.size(); ++which) {
      for (int round = 0; round < 4; ++round) {
        const std::vector<float> along = random_floats(int64_t(in[which].size()));
        double product = 0, square = 0;
        std::vector<Doubles> above = in, below = in;
        for (size_t i = 0; i < along.size(); ++i) {
          product += double(along[i]) * double(d[which][i]), square += double(d[which][i]) * double(d[which][i]);
          above[which][i] += 1e-6 * double(along[i]), below[which][i] -= 1e-6 * double(along[i]);
        }
        EXPECT_NEAR(product, (loss(w, above) - loss(w, below)) / 2e-6, 1e-3 * (1 + std::sqrt(square)));
      }
    }
  }
}

TEST(runs_that_do_not_cover_the_rows_are_refused) {
  World w(kSizes[0], {0, 4});
  std::vector<float> y = poison(4 * w.s.values());
  Arena arena = w.arena();
  const int32_t cu[] = {0, 3};
  const DeltaRuleArgs args{.x = f32(w.x.data(), {4, w.s.inputs()}), .weights = w.weights(), .runs = {i32(cu, {2}), nullptr},
                           .y = f32(y.data(), {4, w.s.values()}), .sizes = w.s, .scratch = &arena};
  EXPECT_THROWS(delta_rule({}, args), Code::kShape);
}

TEST(columns_by_key_head_are_those_by_kind_in_another_order) {
  const DeltaSizes s{.key_heads = 3, .value_heads = 6, .key_dim = 5, .value_dim = 4, .taps = 2};
  constexpr int64_t rows = 4;
  const int64_t width = s.inputs();
  const std::vector<float> head = random_floats(rows * width);
  std::vector<float> kind = poison(rows * width), back = poison(rows * width);
  const auto of = [&](const std::vector<float>& v) { return f32(v.data(), {rows, width}); };
  delta_columns_by_kind({}, {of(head), of(kind), s});
  delta_columns_by_head({}, {of(back), of(kind), s});
  EXPECT_TRUE(same_bits(head.data(), back.data(), rows * width));
  // The second value head of the last key head, dimension 3, and the head's two gates.
  const float *row = head.data() + width, *at = kind.data() + width;
  const int64_t group = 2 * 5 + 2 * 8, gates = 3 * group;
  EXPECT_EQ(at[2 * 15 + 5 * 4 + 3], row[2 * group + 10 + 4 + 3]);
  EXPECT_EQ(at[2 * 15 + 24 + 5 * 4 + 3], row[2 * group + 18 + 4 + 3]);
  EXPECT_EQ(at[gates + 5], row[gates + 2 * 4 + 1]);
  EXPECT_EQ(at[gates + 6 + 5], row[gates + 2 * 4 + 2 + 1]);
}

}  // namespace kernels_delta_rule_test
