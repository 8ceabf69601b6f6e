// RMS norm, LayerNorm and their gradients against f64: the formula forward, central differences backward.
//
// Faults put into the code, each detected: eps outside the root (matches_f64, small rows); mean over 16-lane
// padding (matches_f64); r^2 instead of r^3 (gradient); dweight overwritten (gradient); accumulate ignored
// (gradient); strips added in the order of arrival (bits).
#include "kernels/rms_norm.h"

#include "each_isa.h"

namespace kernels_rms_norm_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

struct Norm {
  int64_t rows, width, stride;
  bool centered;
  float eps = 1e-3f;  // large, so that its place in the formula shows
  std::vector<float> x, weight, y, dy, dx, dweight;

  /// Centered rows have a mean three times their deviation.
  Norm(int64_t r, int64_t c, bool center = false, int64_t gap = 3)
      : rows(r), width(c), stride(c + gap), centered(center), x(random_floats(r * stride, 0.1f)), weight(random_floats(c)),
        dy(random_floats(r * stride)) {
    if (centered) for (float& v : x) v += 0.3f;
  }
  TensorView view(std::vector<float>& v) const {
    TensorView t = f32(v.data(), {rows, width});
    t.row_stride = stride;
    return t;
  }
  void forward(const Stream& stream = {}) {
    y = poison(rows * stride);
    rms_norm(stream, {view(x), f32(weight.data(), {width}), view(y), eps, 0.0f, centered});
  }
  void backward(bool accumulate, const Stream& stream = {}) {
    if (accumulate) dx.assign(size_t(rows * stride), 2.0f);
    else dx = poison(rows * stride);
    dweight.assign(size_t(width), 0.5f);
    rms_norm_grad(stream, {view(x), f32(weight.data(), {width}), view(dy), view(dx), f32(dweight.data(), {width}), eps,
                           accumulate, nullptr, 0.0f, centered});
  }
  double mean(int64_t r) const {
    double total = 0;
    for (int64_t j = 0; j < width && centered; ++j) total += double(x[size_t(r * stride + j)]);
    return total / double(width);
  }
  double reference(int64_t r, int64_t i) const {
    double squares = 0;
    const double center = mean(r);
    for (int64_t j = 0; j < width; ++j) squares += (double(x[size_t(r * stride + j)]) - center) * (double(x[size_t(r * stride + j)]) - center);
    return (double(x[size_t(r * stride + i)]) - center) / std::sqrt(squares / double(width) + double(eps)) * double(weight[size_t(i)]);
  }
  double row_loss(int64_t r) const {
    double squares = 0, dot = 0;
    const double center = mean(r);
    for (int64_t i = 0; i < width; ++i) {
      const double xi = double(x[size_t(r * stride + i)]) - center;
      squares += xi * xi;
      dot += double(dy[size_t(r * stride + i)]) * xi * double(weight[size_t(i)]);
    }
    return dot / std::sqrt(squares / double(width) + double(eps));
  }
};

struct Case {
  int64_t rows, width;
  bool centered;
};
const Case kCases[] = {{1, 1, false}, {3, 2, false}, {7, 16, false}, {130, 96, false}, {65, 41, false}, {2, 700, false},
                       {1, 1, true},  {3, 2, true},  {7, 16, true},  {130, 96, true},  {65, 41, true},  {2, 700, true}};

}  // namespace

TEST(rms_norm_matches_f64) {
  each_isa([] {
    for (const auto& s : kCases) {
      Norm m(s.rows, s.width, s.centered);
      m.forward();
      for (int64_t r = 0; r < m.rows; ++r) {
        for (int64_t i = 0; i < m.stride; ++i) {
          if (i >= m.width) EXPECT_TRUE(std::isnan(m.y[size_t(r * m.stride + i)]));
          // Four roundings of values of a few units.
          else EXPECT_NEAR(m.y[size_t(r * m.stride + i)], m.reference(r, i), 4e-6);
        }
      }
    }
  });
}

TEST(gradient_matches_central_differences_of_f64) {
  each_isa([] {
    for (const auto& s : kCases) {
      Norm m(s.rows, s.width, s.centered);
      m.backward(false);
      const Norm plain = m;
      m.backward(true);
      for (int64_t r = 0; r < m.rows; r += 1 + m.rows / 20) {
        for (int64_t i = 0; i < m.width; i += 1 + m.width / 20) {
          const size_t at = size_t(r * m.stride + i);
          Norm up = m, down = m;
          up.x[at] += 0x1p-12f;
          down.x[at] -= 0x1p-12f;
          const double slope = (up.row_loss(r) - down.row_loss(r)) / (double(up.x[at]) - double(down.x[at]));
          // Gradients here reach 1 / sqrt(eps) = 30 times the weights, so the tolerance has a relative part
          // too.
          EXPECT_NEAR(plain.dx[at], slope, 2e-4 + 2e-5 * std::fabs(slope));
          EXPECT_EQ(m.dx[at], 2.0f + plain.dx[at]);
        }
      }
      for (int64_t i = 0; i < m.width; ++i) {
        double expected = 0.5;
        for (int64_t r = 0; r < m.rows; ++r) {
          expected += double(m.dy[size_t(r * m.stride + i)]) * m.reference(r, i) / double(m.weight[size_t(i)]);
        }
        EXPECT_NEAR(plain.dweight[size_t(i)], expected, 3e-5);
      }
    }
  });
}

TEST(bits_depend_on_neither_batch_nor_threads_and_aliases_are_allowed) {
  each_isa([] {
    for (const auto& s : kCases) {
      Norm m(s.rows, s.width, s.centered), threaded = m, in_place = m;
      m.forward();
      threaded.forward(two_threads());
      EXPECT_TRUE(same_bits(m.y.data(), threaded.y.data(), m.rows * m.stride));
      rms_norm({}, {in_place.view(in_place.x), f32(m.weight.data(), {m.width}), in_place.view(in_place.x), m.eps, 0.0f, m.centered});
      m.backward(false);
      threaded.backward(false, two_threads());
      EXPECT_TRUE(same_bits(m.dx.data(), threaded.dx.data(), m.rows * m.stride));
      EXPECT_TRUE(same_bits(m.dweight.data(), threaded.dweight.data(), m.width));
      in_place.x = m.x;
      rms_norm_grad({}, {m.view(m.x), f32(m.weight.data(), {m.width}), in_place.view(in_place.dy),
                         in_place.view(in_place.dy), f32(in_place.weight.data(), {m.width}), m.eps, false, nullptr, 0.0f, m.centered});
      Norm last = m;
      last.rows = 1;
      last.x.erase(last.x.begin(), last.x.begin() + (m.rows - 1) * m.stride);
      last.dy.erase(last.dy.begin(), last.dy.begin() + (m.rows - 1) * m.stride);
      last.forward();
      last.backward(false);
      for (int64_t i = 0; i < m.width; ++i) {
        const size_t at = size_t((m.rows - 1) * m.stride + i);
        EXPECT_EQ(last.y[size_t(i)], m.y[at]);
        EXPECT_EQ(last.dx[size_t(i)], m.dx[at]);
        EXPECT_EQ(in_place.dy[at], m.dx[at]);
      }
    }
  });
}

TEST(nan_stays_in_its_row) {
  each_isa([] {
    Norm m(3, 20);
    m.x[size_t(m.stride + 19)] = std::nanf("");
    m.forward();
    for (int r = 0; r < 3; ++r) EXPECT_EQ(std::isnan(m.y[size_t(r * m.stride)]), r == 1);
  });
}

TEST(wrong_arguments_are_named) {
  Norm m(3, 4);
  m.y = poison(100);
  EXPECT_THROWS(rms_norm({}, {m.view(m.x), f32(m.weight.data(), {3}), m.view(m.y), m.eps}), Code::kShape);
  EXPECT_THROWS(rms_norm({}, {m.view(m.x), f32(m.weight.data(), {4}), f32(m.y.data(), {2, 4}), m.eps}), Code::kShape);
}

}  // namespace kernels_rms_norm_test
