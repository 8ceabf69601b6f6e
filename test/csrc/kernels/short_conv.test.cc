// The short convolution compared with its formula in f64, its gradient with central differences of that, and
// the bits of a sequence in one call with those in several calls.
#include "kernels/short_conv.h"

#include <algorithm>

#include "each_isa.h"

namespace kernels_short_conv_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

using Doubles = std::vector<double>;

struct Sizes {
  int64_t channels, taps;
};
constexpr Sizes kConvolutions[] = {{1, 1}, {5, 3}, {40, 4}, {67, 2}};

struct Sequences {
  int64_t C, taps;
  std::vector<int32_t> cu;
  std::vector<float> x, conv, dy;

  Sequences(const Sizes& s, std::vector<int32_t> starts) : C(s.channels), taps(s.taps), cu(std::move(starts)) {
    x = random_floats(rows() * 3 * C), conv = random_floats(C * taps), dy = random_floats(rows() * C);
  }
  int64_t rows() const { return cu.back(); }
  TensorView runs() { return i32(cu.data(), {int64_t(cu.size())}); }
  Arena arena() const { return Arena(short_conv_scratch_bytes({}, rows(), C, taps), "test"); }
};

Doubles wanted(const Sequences& w, const Doubles& x, const Doubles& conv) {
  Doubles y(size_t(w.rows() * w.C));
  const auto at = [&](int64_t t, int64_t part, int64_t c) { return x[size_t((t * 3 + part) * w.C + c)]; };
  for (size_t run = 0; run + 1 < w.cu.size(); ++run) {
    for (int64_t t = w.cu[run]; t < w.cu[run + 1]; ++t) {
      for (int64_t c = 0; c < w.C; ++c) {
        double sum = 0;
        for (int64_t j = 0; j < w.taps; ++j) {
          const int64_t from = t - w.taps + 1 + j;
          if (from >= w.cu[run]) sum += conv[size_t(c * w.taps + j)] * at(from, 0, c) * at(from, 2, c);
        }
        y[size_t(t * w.C + c)] = at(t, 1, c) * sum;
      }
    }
  }
  return y;
}

Doubles in_f64(const std::vector<float>& v) { return {v.begin(), v.end()}; }

std::vector<float> forward(Sequences& w, const Stream& stream = {}) {
  std::vector<float> y = poison(w.rows() * w.C);
  Arena scratch = w.arena();
  short_conv(stream, {f32(w.x.data(), {w.rows(), 3 * w.C}), f32(w.conv.data(), {w.C, w.taps}), {w.runs()}, f32(y.data(), {w.rows(), w.C}), &scratch});
  EXPECT_EQ(scratch.used(), 0);
  return y;
}

}  // namespace

TEST(outputs_are_the_formulas_in_every_sequence) {
  each_isa([] {
    for (const Sizes& sizes : kConvolutions) {
      Sequences w(sizes, {0, 7, 8, 8, 23});
      const std::vector<float> y = forward(w);
      const Doubles truth = wanted(w, in_f64(w.x), in_f64(w.conv));
      for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], truth[i], 1e-5);
    }
  });
}

TEST(rows_in_several_calls_have_the_bits_of_one) {
  for (const Sizes& sizes : kConvolutions) {
    Sequences whole(sizes, {0, 21});
    const std::vector<float> y = forward(whole);
    std::vector<float> state(size_t((whole.taps - 1) * whole.C), 0.0f);
    float* const states[] = {state.data()};
    int64_t first = 0;
    for (const int32_t count : {1, 1, 5, 2, 12}) {
      std::vector<int32_t> cu{0, count};
      std::vector<float> part = poison(count * whole.C);
      Arena scratch(short_conv_scratch_bytes({}, count, whole.C, whole.taps), "test");
      short_conv({}, {f32(whole.x.data() + first * 3 * whole.C, {count, 3 * whole.C}), f32(whole.conv.data(), {whole.C, whole.taps}),
                      {i32(cu.data(), {2}), states}, f32(part.data(), {count, whole.C}), &scratch});
      EXPECT_TRUE(same_bits(part.data(), y.data() + first * whole.C, count * whole.C));
      first += count;
    }
  }
}

TEST(gradients_are_central_differences_and_do_not_depend_on_threads) {
  ThreadPool pool(3);
  for (const Sizes& sizes : kConvolutions) {
    Sequences w(sizes, {0, 9, 10, 24});
    std::vector<float> dx = poison(w.rows() * 3 * w.C), dconv(w.conv.size(), 0.5f), again_x = dx, again_conv = dconv;
    const auto backward = [&](const Stream& stream, std::vector<float>& to_x, std::vector<float>& to_conv) {
      Arena scratch = w.arena();
      short_conv_grad(stream, {f32(w.x.data(), {w.rows(), 3 * w.C}), f32(w.conv.data(), {w.C, w.taps}), w.runs(), f32(w.dy.data(), {w.rows(), w.C}),
                               f32(to_x.data(), {w.rows(), 3 * w.C}), f32(to_conv.data(), {w.C, w.taps}), &scratch});
    };
    backward({}, dx, dconv);
    backward(Stream{.pool = &pool}, again_x, again_conv);
    EXPECT_TRUE(same_bits(dx.data(), again_x.data(), int64_t(dx.size())) && same_bits(dconv.data(), again_conv.data(), int64_t(dconv.size())));
    Doubles x = in_f64(w.x), conv = in_f64(w.conv);
    const auto slope = [&](double& at) {
      const double kept = at;
      const auto loss = [&](double v) {
        at = v;
        const Doubles y = wanted(w, x, conv);
        double sum = 0;
        for (size_t i = 0; i < y.size(); ++i) sum += y[i] * double(w.dy[i]);
        return sum;
      };
      const double out = (loss(kept + 1e-4) - loss(kept - 1e-4)) / 2e-4;
      at = kept;
      return out;
    };
    for (int trial = 0; trial < 40; ++trial) {
      const auto i = size_t(random_int(0, int64_t(x.size()) - 1)), k = size_t(random_int(0, int64_t(conv.size()) - 1));
      EXPECT_NEAR(dx[i], slope(x[i]), 2e-5);
      EXPECT_NEAR(dconv[k] - 0.5f, slope(conv[k]), 1e-4);
    }
  }
}

TEST(wrong_shapes_are_refused) {
  Sequences w({5, 3}, {0, 4});
  w.cu = {0, 3};
  std::vector<float> y = poison(20);
  Arena scratch(1 << 12, "test");
  EXPECT_THROWS(short_conv({}, {f32(w.x.data(), {4, 15}), f32(w.conv.data(), {5, 3}), {w.runs()}, f32(y.data(), {4, 5}), &scratch}), Code::kShape);
}

}  // namespace kernels_short_conv_test
