// With a frozen head (LoRA) lm_head computes the gradient of the hidden states together with the log-probs. The
// tests compare it with its formula in f64:
// dlogprob/dh = (W[target] - sum_v p_v W[v]) / temperature, times 1 - (z / softcap)^2 per soft-capped logit.
#include <cmath>
#include <numeric>

#include "each_isa.h"
#include "kernels/lm_head.h"

namespace kernels_lm_head_frozen_test {
using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

struct FrozenHead {
  int64_t rows, width, vocabulary;
  float temperature = 0.8f, softcap = 0.0f;
  std::vector<float> h, w, a, logprobs, dh;
  std::vector<int32_t> targets;
  std::vector<float> panels, panels_t;
  PackedMatrix packed, packed_t;

  FrozenHead(int64_t r, int64_t c, int64_t v)
      : rows(r), width(c), vocabulary(v), h(random_floats(r * c)), w(random_floats(v * c, 2.0f / std::sqrt(float(c)))), a(random_floats(r)),
        panels(size_t(packed_bytes({}, v, c, DType::kF32)) / 4), panels_t(size_t(packed_bytes({}, c, v, DType::kF32)) / 4),
        packed{v, c, DType::kF32, panels.data()}, packed_t{c, v, DType::kF32, panels_t.data()} {
    for (int64_t i = 0; i < r; ++i) targets.push_back(int32_t(random_int(0, v - 1)));
    pack_matrix({}, {f32(w.data(), {v, c}), false, packed});
    pack_matrix({}, {f32(w.data(), {v, c}), true, packed_t});
  }
  /// Computes logprobs and, if `wanted`, dh.
  void run(bool wanted, const Stream& stream = {}) {
    std::vector<float> entropies = poison(rows), lse = poison(rows);
    logprobs = poison(rows), dh = poison(rows * width);
    const TensorView out = f32(dh.data(), {rows, width});
    lm_head(stream, {.h = f32(h.data(), {rows, width}), .w = packed, .targets = i32(targets.data(), {rows}),
                     .logprobs = f32(logprobs.data(), {rows}), .entropies = f32(entropies.data(), {rows}), .lse = f32(lse.data(), {rows}),
                     .temperature = temperature, .softcap = softcap, .w_t = packed_t, .dh = wanted ? out : TensorView{}});
    if (wanted) scale_rows(stream, f32(a.data(), {rows}), out);
  }
  /// a_r dlogprob_r/dh_r, computed in f64.
  std::vector<double> reference(int64_t r) const {
    std::vector<double> z(size_t(vocabulary), 0), slope(size_t(vocabulary), 1), out(size_t(width), 0);
    for (int64_t v = 0; v < vocabulary; ++v) {
      for (int64_t i = 0; i < width; ++i) z[size_t(v)] += double(h[size_t(r * width + i)]) * double(w[size_t(v * width + i)]);
      if (softcap > 0.0f) {
        const double capped = std::tanh(z[size_t(v)] / double(softcap));
        z[size_t(v)] = double(softcap) * capped, slope[size_t(v)] = 1 - capped * capped;
      }
      z[size_t(v)] /= double(temperature);
    }
    const double total = std::accumulate(z.begin(), z.end(), 0.0, [](double sum, double x) { return sum + std::exp(x); });
    for (int64_t v = 0; v < vocabulary; ++v) {
      const double dz = ((v == targets[size_t(r)] ? 1.0 : 0.0) - std::exp(z[size_t(v)]) / total) * slope[size_t(v)] / double(temperature);
      for (int64_t i = 0; i < width; ++i) out[size_t(i)] += double(a[size_t(r)]) * dz * double(w[size_t(v * width + i)]);
    }
    return out;
  }
};

TEST(the_gradient_of_a_frozen_head_is_that_of_f64) {
  each_isa([] {
    for (const float softcap : {0.0f, 3.0f}) {
      FrozenHead m(9, 20, 50);
      m.softcap = softcap;
      m.run(true);
      for (int64_t r = 0; r < m.rows; ++r) {
        const std::vector<double> wanted = m.reference(r);
        for (int64_t i = 0; i < m.width; ++i) EXPECT_NEAR(double(m.dh[size_t(r * m.width + i)]), wanted[size_t(i)], 3e-6);
      }
    }
  });
}

TEST(log_probs_do_not_change_with_it_and_its_bits_do_not_depend_on_threads) {
  each_isa([] {
    FrozenHead m(150, 48, 1001), threaded = m, without = m;
    m.run(true), threaded.run(true, two_threads()), without.run(false);
    EXPECT_TRUE(same_bits(m.dh.data(), threaded.dh.data(), int64_t(m.dh.size())));
    EXPECT_TRUE(same_bits(m.logprobs.data(), without.logprobs.data(), m.rows));
  });
}

TEST(a_transpose_of_another_shape_is_refused) {
  FrozenHead m(3, 4, 5);
  m.packed_t.k = 4;
  EXPECT_THROWS(m.run(true), Code::kShape);
  m.run(false);
}

}  // namespace
}  // namespace kernels_lm_head_frozen_test
