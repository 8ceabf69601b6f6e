// Mamba-2 compared with an f64 recurrence written from the formulas, its gradient with central differences of that
// recurrence, and the bits of a sequence in one call with those in several calls.
#include "kernels/mamba.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "each_isa.h"

namespace kernels_mamba_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

using Doubles = std::vector<double>;

/// norms: of the output's parts; 0: none.
DeltaSizes sizes(int64_t groups, int64_t heads, int64_t state, int64_t head, int64_t taps, int64_t norms = 1) { return {groups, heads, state, head, taps, true, norms}; }

const DeltaSizes kSizes[] = {sizes(1, 1, 4, 4, 4), sizes(2, 4, 5, 3, 4), sizes(1, 12, 16, 16, 2), sizes(1, 3, 20, 37, 3), sizes(2, 4, 37, 150, 4),
                             sizes(2, 4, 5, 3, 4, 2), sizes(4, 8, 16, 37, 3, 4), sizes(2, 4, 5, 23, 4, 0)};

/// A case's inputs and weights (listed by inputs()), and dy; the loss is the product of dy and y.
struct World {
  DeltaSizes s;
  std::vector<int32_t> cu;
  StepRange steps;
  std::vector<float> x, conv, decay, dt, norm, bias, skip, dy;

  World(const DeltaSizes& of, std::vector<int32_t> starts, StepRange range = {}) : s(of), cu(std::move(starts)), steps(range) {
    x = random_floats(rows() * s.inputs(), 1.5f), conv = random_floats(s.channels() * s.taps);
    decay = random_floats(s.value_heads), dt = random_floats(s.value_heads), norm = random_floats(s.norm_width());
    bias = random_floats(s.channels()), skip = random_floats(s.value_heads), dy = random_floats(rows() * s.values());
  }
  int64_t rows() const { return cu.back(); }
  std::vector<std::vector<float>*> inputs() { return {&x, &conv, &decay, &dt, &norm, &bias, &skip}; }
  DeltaWeights of(const std::vector<std::vector<float>*>& v) const {
    return {f32(v[1]->data(), {s.channels(), s.taps}), f32(v[2]->data(), {s.value_heads}), f32(v[3]->data(), {s.value_heads}),
            s.norms > 0 ? f32(v[4]->data(), {s.values()}) : TensorView{}, f32(v[5]->data(), {s.channels()}), f32(v[6]->data(), {s.value_heads})};
  }
  Arena arena() const { return Arena(mamba_scratch_bytes(rows(), s), "test"); }
};

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

/// The RMS norm of each of `parts` equal parts of g, times the weight.
Doubles norm(const Doubles& g, const Doubles& weight, int64_t parts) {
  Doubles out;
  const size_t width = g.size() / size_t(parts);
  for (size_t first = 0; first < g.size(); first += width) {
    double square = 0;
    for (size_t i = first; i < first + width; ++i) square += g[i] * g[i];
    for (size_t i = first; i < first + width; ++i) out.push_back(weight[i] * g[i] / std::sqrt(square / double(width) + 1e-6));
  }
  return out;
}

/// y in f64, from the inputs.
Doubles reference(const World& w, const std::vector<Doubles>& in) {
  const DeltaSizes& s = w.s;
  const int64_t I = s.inputs(), M = s.value_heads, V = s.value_dim, wide = s.values();
  Doubles y(size_t(w.rows() * wide));
  for (size_t run = 0; run + 1 < w.cu.size(); ++run) {
    std::vector<Doubles> states(size_t(M), Doubles(size_t(V * s.key_dim), 0.0));
    for (int64_t t = w.cu[run]; t < w.cu[run + 1]; ++t) {
      const double* row = in[0].data() + t * I;
      const auto channel = [&](int64_t c) {
        double sum = in[5][size_t(c)];
        for (int64_t j = 0; j < s.taps; ++j) {
          const int64_t from = t - s.taps + 1 + j;
          if (from >= w.cu[run]) sum += in[1][size_t(c * s.taps + j)] * in[0][size_t(from * I + wide + c)];
        }
        return sum * sigmoid(sum);
      };
      Doubles mixed;
      for (int64_t c = 0; c < s.channels(); ++c) mixed.push_back(channel(c));
      Doubles g;
      for (int64_t h = 0; h < M; ++h) {
        const double soft = std::log1p(std::exp(row[wide + s.channels() + h] + in[3][size_t(h)]));
        const double step = std::clamp(soft, w.steps.least, w.steps.most), decay = std::exp(-std::exp(in[2][size_t(h)]) * step);
        const double *b = mixed.data() + wide + h / (M / s.key_heads) * s.key_dim, *c = b + s.keys();
        for (int64_t v = 0; v < V; ++v) {
          const double x = mixed[size_t(h * V + v)], z = row[h * V + v];
          double o = in[6][size_t(h)] * x;
          for (int64_t k = 0; k < s.key_dim; ++k) {
            double& state = states[size_t(h)][size_t(v * s.key_dim + k)];
            state = decay * state + step * b[k] * x;
            o += state * c[k];
          }
          g.push_back(o * z * sigmoid(z));
        }
      }
      const Doubles normed = s.norms > 0 ? norm(g, in[4], s.norms) : g;
      std::copy(normed.begin(), normed.end(), y.begin() + t * wide);
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
  mamba(stream, {.x = f32(w.x.data(), {w.rows(), w.s.inputs()}), .weights = w.of(w.inputs()),
                 .runs = {i32(w.cu.data(), {int64_t(w.cu.size())}), nullptr}, .y = f32(y.data(), {w.rows(), w.s.values()}),
                 .sizes = w.s, .steps = w.steps, .scratch = &arena});
  return y;
}

/// The gradients of the inputs, in the order of inputs().
std::vector<std::vector<float>> gradient(World& w, const Stream& stream) {
  Arena arena = w.arena();
  std::vector<std::vector<float>> d;
  std::vector<std::vector<float>*> views;
  for (const auto* v : w.inputs()) d.emplace_back(v->size(), 0.0f);
  for (auto& v : d) views.push_back(&v);
  d[0] = poison(int64_t(d[0].size()));
  mamba_grad(stream, {.x = f32(w.x.data(), {w.rows(), w.s.inputs()}), .weights = w.of(w.inputs()), .cu_rows = i32(w.cu.data(), {int64_t(w.cu.size())}),
                      .dy = f32(w.dy.data(), {w.rows(), w.s.values()}), .dx = f32(d[0].data(), {w.rows(), w.s.inputs()}),
                      .dweights = w.of(views), .sizes = w.s, .steps = w.steps, .scratch = &arena});
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
        mamba({}, {.x = f32(x.data(), {cu[2], s.inputs()}), .weights = w.of(w.inputs()), .runs = {i32(cu, {3}), states},
                   .y = f32(out.data(), {cu[2], s.values()}), .sizes = s, .steps = {}, .scratch = &arena});
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
    for (const StepRange& steps : {StepRange{}, StepRange{0.4, 1.2}}) {
      for (const DeltaSizes& s : {kSizes[0], kSizes[1], sizes(1, 9, 3, 2, 2), sizes(2, 4, 3, 3, 2, 2), sizes(2, 4, 3, 2, 3, 0)}) {
        World w(s, {0, 2, 2, 9}, steps);
        const auto d = gradient(w, {}), again = gradient(w, two_threads());
        std::vector<Doubles> in = doubles(w);
        for (size_t which = 0; which < in.size(); ++which) {
          EXPECT_TRUE(d[which].empty() || same_bits(d[which].data(), again[which].data(), int64_t(d[which].size())));
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
    }
  });
}

TEST(gradients_of_sequences_longer_than_a_chunk_match_too) {
  for (const DeltaSizes& s : {sizes(2, 4, 6, 5, 4), sizes(1, 2, 48, 20, 4), sizes(2, 4, 6, 5, 4, 2), sizes(2, 4, 6, 5, 4, 0)}) {
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

TEST(rows_of_inputs_may_lie_among_other_columns) {
  World w(sizes(2, 4, 5, 3, 4, 2), {0, 3, 9});
  const int64_t I = w.s.inputs(), R = w.rows(), before = 7, wide = I + before + 2;
  const std::vector<float> y = forward(w, {});
  const auto d = gradient(w, {});
  std::vector<float> x = poison(R * wide), dx = x, again = poison(R * w.s.values());
  for (int64_t r = 0; r < R; ++r) std::copy_n(w.x.begin() + r * I, I, x.begin() + r * wide + before);
  const auto strided = [&](std::vector<float>& of) {
    TensorView view = f32(of.data() + before, {R, I});
    view.row_stride = wide;
    return view;
  };
  Arena arena = w.arena();
  const TensorView cu = i32(w.cu.data(), {3});
  mamba({}, {.x = strided(x), .weights = w.of(w.inputs()), .runs = {cu, nullptr}, .y = f32(again.data(), {R, w.s.values()}), .sizes = w.s, .steps = w.steps, .scratch = &arena});
  EXPECT_TRUE(same_bits(again.data(), y.data(), int64_t(y.size())));
  auto sums = d;
  std::vector<std::vector<float>*> views;
  for (auto& v : sums) std::fill(v.begin(), v.end(), 0.0f), views.push_back(&v);
  mamba_grad({}, {.x = strided(x), .weights = w.of(w.inputs()), .cu_rows = cu, .dy = f32(w.dy.data(), {R, w.s.values()}), .dx = strided(dx), .dweights = w.of(views),
                  .sizes = w.s, .steps = w.steps, .scratch = &arena});
  for (int64_t r = 0; r < R; ++r) EXPECT_TRUE(same_bits(dx.data() + r * wide + before, d[0].data() + r * I, I));
  for (size_t which = 1; which < d.size(); ++which) EXPECT_TRUE(same_bits(sums[which].data(), d[which].data(), int64_t(d[which].size())));
}

TEST(norms_that_do_not_divide_the_columns_are_refused) {
  World w(sizes(1, 4, 4, 4, 4, 3), {0, 4});
  EXPECT_THROWS(forward(w, {}), Code::kShape);
}

TEST(runs_that_do_not_cover_the_rows_are_refused) {
  World w(kSizes[0], {0, 4});
  std::vector<float> y = poison(4 * w.s.values());
  Arena arena = w.arena();
  const int32_t cu[] = {0, 3};
  const MambaArgs args{.x = f32(w.x.data(), {4, w.s.inputs()}), .weights = w.of(w.inputs()), .runs = {i32(cu, {2}), nullptr},
                       .y = f32(y.data(), {4, w.s.values()}), .sizes = w.s, .steps = {}, .scratch = &arena};
  EXPECT_THROWS(mamba({}, args), Code::kShape);
}

}  // namespace kernels_mamba_test
