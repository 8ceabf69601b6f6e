// The convolution with SiLU, compared with its formula in f64, and its gradients with central differences of that formula; rows
// in several calls, which continue from states, have the bits of one call.
#include "kernels/cpu/silu_conv.h"

#include <cmath>
#include <vector>

#include "each_isa.h"

namespace kernels_silu_conv_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

constexpr int64_t kChannels = 37, kTaps = 4, kStride = 41;

/// Rows [R, kChannels] within wider rows; with a bias or without.
struct World {
  std::vector<int32_t> cu;
  std::vector<float> x, w, bias, d;
  World(std::vector<int32_t> starts, bool biased) : cu(std::move(starts)) {
    x = random_floats(rows() * kStride), w = random_floats(kChannels * kTaps), bias = random_floats(biased ? kChannels : 0);
    d = random_floats(rows() * kChannels);
  }
  int64_t rows() const { return cu.back(); }
  static TensorView columns(const std::vector<float>& of, int64_t first, int64_t rows) {
    TensorView out(const_cast<float*>(of.data()) + first * kStride, DType::kF32, {rows, kChannels});
    out.row_stride = kStride;
    return out;
  }
  TensorView bias_view(const std::vector<float>& of) const { return bias.empty() ? TensorView{} : f32(of.data(), {kChannels}); }
  cpu::SiluConv make(const Stream& stream, Arena& arena, const std::vector<int32_t>& starts, int64_t first, float* const* states) const {
    return {stream, columns(x, first, starts.back()), f32(w.data(), {kChannels, kTaps}), bias_view(bias), {i32(starts.data(), {int64_t(starts.size())}), states}, arena};
  }
  double wanted(int64_t r, int64_t run, int64_t c) const {
    double sum = bias.empty() ? 0.0 : double(bias[size_t(c)]);
    for (int64_t j = 0; j < kTaps; ++j) {
      const int64_t from = r - kTaps + 1 + j;
      if (from >= cu[size_t(run)]) sum += double(w[size_t(c * kTaps + j)]) * double(x[size_t(from * kStride + c)]);
    }
    return sum / (1 + std::exp(-sum));
  }
  /// The product of d and the outputs.
  double loss() const {
    double sum = 0;
    for (int64_t run = 0; run + 1 < int64_t(cu.size()); ++run) {
      for (int64_t r = cu[size_t(run)]; r < cu[size_t(run) + 1]; ++r) {
        for (int64_t c = 0; c < kChannels; ++c) sum += double(d[size_t(r * kChannels + c)]) * wanted(r, run, c);
      }
    }
    return sum;
  }
};

Arena memory() { return Arena(1 << 16, "test"); }

/// The slope of w.loss() along one of its inputs.
double slope(World& w, float& at) {
  const float old = at, h = 1e-2f;
  const auto moved = [&](float by) { return at = old + by, w.loss(); };
  const double above = moved(h), below = moved(-h), width = double(old + h) - double(old - h);
  at = old;
  return (above - below) / width;
}

}  // namespace

TEST(outputs_are_the_formula_in_every_sequence) {
  each_isa([] {
    for (const bool biased : {false, true}) {
      const World w({0, 1, 9, 9, 14}, biased);
      Arena arena = memory();
      const cpu::SiluConv conv = w.make(two_threads(), arena, w.cu, 0, nullptr);
      conv.for_rows(Stream{}, [&](int64_t r, int64_t run) {
        for (int64_t c = 0; c < kChannels; ++c) EXPECT_NEAR(conv.out(r)[c], w.wanted(r, run, c), 1e-5);
      });
    }
  });
}

TEST(rows_in_several_calls_have_the_bits_of_one) {
  each_isa([] {
    const World w({0, 11}, true);
    Arena all = memory();
    const cpu::SiluConv whole = w.make({}, all, w.cu, 0, nullptr);
    std::vector<float> state((kTaps - 1) * kChannels, 0.0f);
    float* const states[] = {state.data()};
    int64_t at = 0;
    for (const int32_t count : {1, 2, 1, 5, 2}) {
      Arena arena = memory();
      const std::vector<int32_t> rows{0, count};
      const cpu::SiluConv part = w.make({}, arena, rows, at, states);
      EXPECT_TRUE(same_bits(part.out(0), whole.out(at), count * kChannels));
      part.keep_tails();
      at += count;
    }
    EXPECT_EQ(at, w.rows());
  });
}

TEST(gradients_are_central_differences) {
  each_isa([] {
    for (const bool biased : {false, true}) {
      World w({0, 2, 2, 8}, biased);
      Arena arena = memory();
      const cpu::SiluConv conv = w.make({}, arena, w.cu, 0, nullptr);
      std::vector<float> d = w.d, dx(w.x.size(), 0.0f), dw(w.w.size(), 0.0f), dbias(w.bias.size(), 0.0f);
      conv.gradient(two_threads(), d.data(), World::columns(dx, 0, w.rows()), f32(dw.data(), {kChannels, kTaps}), w.bias_view(dbias));
      for (auto [values, found] : {std::pair{&w.x, &dx}, {&w.w, &dw}, {&w.bias, &dbias}}) {
        for (size_t i = 0; i < values->size(); ++i) {
          const double wanted = slope(w, (*values)[i]);
          EXPECT_NEAR((*found)[i], wanted, 1e-3 * (1 + std::fabs(wanted)));
        }
      }
    }
  });
}

}  // namespace kernels_silu_conv_test
