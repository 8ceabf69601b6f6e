// Rotary embedding of halves and of neighbours compared with f64, its inverse, and odd half widths.
//
// Faults put into the code, each detected: halves taken for neighbours and neighbours for halves
// (matches_f64); sign of either sine (matches_f64, inverse_undoes); position of row 0 for all rows
// (matches_f64); head stride of D/2 (matches_f64).
#include "kernels/rope.h"

#include "each_isa.h"

namespace kernels_rope_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

struct Rotation {
  int64_t tokens, heads, head_dim, positions = 50, stride;
  bool interleaved = false;
  std::vector<float> x, table;
  std::vector<int32_t> position;

  Rotation(int64_t t, int64_t n, int64_t d) : tokens(t), heads(n), head_dim(d), stride(n * d + 7), x(random_floats(t * stride)) {
    for (int64_t i = 0; i < t; ++i) position.push_back(int32_t(random_int(0, positions - 1)));
    for (int64_t p = 0; p < positions; ++p) {
      for (int64_t i = 0; i < d; ++i) {
        const double angle = double(p) * std::pow(1e4, -2.0 * double(i % (d / 2)) / double(d));
        table.push_back(float(i < d / 2 ? std::cos(angle) : std::sin(angle)));
      }
    }
  }
  void run(std::vector<float>& values, bool inverse, const Stream& stream = {}) {
    TensorView view = f32(values.data(), {tokens, heads, head_dim});
    view.row_stride = stride;
    rope(stream, {view, i32(position.data(), {tokens}), f32(table.data(), {positions, head_dim}), inverse, interleaved});
  }
};

const int64_t kShapes[][3] = {{1, 1, 2}, {5, 3, 10}, {40, 4, 24}, {9, 2, 128}, {600, 6, 66}};

}  // namespace

TEST(rope_matches_f64_and_leaves_gaps_alone) {
  each_isa([] {
    for (const auto& s : kShapes) for (const bool neighbours : {false, true}) {
      Rotation m(s[0], s[1], s[2]);
      m.interleaved = neighbours;
      std::vector<float> y = m.x, threaded = m.x;
      m.run(y, false);
      m.run(threaded, false, two_threads());
      EXPECT_TRUE(same_bits(y.data(), threaded.data(), int64_t(y.size())));
      const int64_t half = m.head_dim / 2;
      for (int64_t t = 0; t < m.tokens; ++t) {
        const float* row = m.table.data() + m.position[size_t(t)] * m.head_dim;
        for (int64_t i = 0; i < m.stride; ++i) {
          const size_t at = size_t(t * m.stride + i);
          if (i >= m.heads * m.head_dim) {
            EXPECT_EQ(y[at], m.x[at]);
            continue;
          }
          const int64_t d = i % m.head_dim, angle = neighbours ? d / 2 : d % half, apart = neighbours ? 1 : half;
          const bool first = neighbours ? d % 2 == 0 : d < half;
          const double other = double(m.x[size_t(t * m.stride + i + (first ? apart : -apart))]);
          const double turned = (first ? -1.0 : 1.0) * other * double(row[half + angle]);
          EXPECT_NEAR(y[at], double(m.x[at]) * double(row[angle]) + turned, 1e-6);
        }
      }
    }
  });
}

// The rotation is orthogonal: its inverse is its transpose, and hence its gradient.
TEST(inverse_undoes_the_rotation) {
  each_isa([] {
    for (const auto& s : kShapes) for (const bool neighbours : {false, true}) {
      Rotation m(s[0], s[1], s[2]);
      m.interleaved = neighbours;
      std::vector<float> y = m.x;
      m.run(y, false);
      m.run(y, true);
      for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], m.x[i], 2e-6);
    }
  });
}

TEST(an_odd_head_dim_is_refused) {
  Rotation m(2, 1, 4);
  EXPECT_THROWS(rope({}, {f32(m.x.data(), {2, 1, 3}), i32(m.position.data(), {2}), f32(m.table.data(), {50, 3}), false}), Code::kShape);
  // A table may rotate fewer dimensions than there are (an even number), and never more.
  EXPECT_THROWS(rope({}, {f32(m.x.data(), {2, 1, 4}), i32(m.position.data(), {2}), f32(m.table.data(), {50, 3}), false}), Code::kShape);
  EXPECT_THROWS(rope({}, {f32(m.x.data(), {2, 1, 4}), i32(m.position.data(), {2}), f32(m.table.data(), {33, 6}), false}), Code::kShape);
}

}  // namespace kernels_rope_test
