// linear, linear_grad_weight and pack_matrix compared with f64 sums, on every instruction set of this CPU.
//
// Faults put into the code, each detected: the accumulator not reloaded after 512 terms, or only in the first
// row tile; bias added per depth block; row tiles with a wrong offset; a panel's tail not zeroed;
// multiplication and addition instead of fma; dy read one row early in the second block; a copied block read
// with its source's stride (x in linear, dy in the weight gradient).
#include "kernels/matmul.h"

#include <algorithm>
#include <memory>

#include "check.h"
#include "each_isa.h"
#include "kernels/cpu/dispatch.h"

namespace kernels_matmul_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;
using cpu::Isa;

namespace {

std::vector<Isa> sets() {
  std::vector<Isa> all;
  for (Isa set : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (cpu::isa_supported(set)) all.push_back(set);
  }
  return all;
}

struct ForcedIsa {
  Isa before = cpu::isa();
  explicit ForcedIsa(Isa set) { cpu::force_isa(set); }
  ~ForcedIsa() { cpu::force_isa(before); }
};

/// A matrix with rows `stride` apart in memory; the gaps are NaN, so that reading them shows.
struct Matrix {
  int64_t rows, columns, stride;
  std::vector<float> memory;
  Matrix(int64_t r, int64_t c, int64_t gap, bool random = true)
      : rows(r), columns(c), stride(c + gap), memory(poison(r * (c + gap))) {
    if (!random) return;
    const std::vector<float> values = random_floats(r * c);
    for (int64_t i = 0; i < r; ++i) std::copy_n(values.begin() + i * c, c, memory.begin() + i * stride);
  }
  TensorView view() {
    TensorView v = f32(memory.data(), {rows, columns});
    v.row_stride = stride;
    if (!v.data) v.data = this;
    return v;
  }
  float at(int64_t i, int64_t j) const { return memory[size_t(i * stride + j)]; }
  bool gaps_untouched() const {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = columns; j < stride; ++j) {
        if (!std::isnan(at(i, j))) return false;
      }
    }
    return true;
  }
};

struct Pack {
  std::vector<uint8_t> memory;
  PackedMatrix w;
  Pack(const Stream& stream, TensorView source, int64_t n, int64_t k, DType storage = DType::kF32,
       bool transpose = false)
      : memory(size_t(packed_bytes(stream, n, k, storage)) + 64, uint8_t(0xff)) {
    w = {n, k, storage, memory.data()};
    pack_matrix(stream, {source, transpose, w});
  }
};

/// The tolerance for n fused multiply-adds of terms of size `magnitude`: n roundings of a sum below n *
/// magnitude, as a random walk; 8 covers its tail.
double tolerance(int64_t n, double magnitude) { return 8 * 6e-8 * magnitude * std::max(1.0, double(n)); }

struct Shape { int64_t m, n, k; };

std::vector<Shape> edge_shapes() {
  std::vector<Shape> shapes{{0, 5, 7}, {5, 0, 7}, {5, 7, 0}, {1, 1, 1}, {1, 1, 513}, {14, 32, 512}, {15, 33, 513},
                            {30, 100, 1024}, {200, 128, 70}};
  for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 13, 27, 29, 169, 171}) shapes.push_back({m, random_int(1, 300), random_int(1, 40)});
  for (int64_t n : {16, 31, 63, 65, 127, 129, 255, 257}) shapes.push_back({random_int(1, 3), n, random_int(1, 600)});
  for (int i = 0; i < 12; ++i) shapes.push_back({random_int(1, 60), random_int(1, 150), random_int(1, 1100)});
  return shapes;
}

void check_linear(const Stream& stream, Shape s, DType storage, bool transpose, bool bias, bool accumulate) {
  Matrix x(s.m, s.k, s.k == 1024 ? 0 : random_int(0, 3)), y(s.m, s.n, random_int(0, 3), accumulate);
  Matrix w(transpose ? s.k : s.n, transpose ? s.n : s.k, random_int(0, 3));
  const std::vector<float> b = random_floats(s.n);
  const Matrix before = y;
  Pack pack(stream, w.view(), s.n, s.k, storage, transpose);
  linear(stream, {x.view(), pack.w, bias ? f32(b.data(), {s.n}) : TensorView(), y.view(), accumulate});
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = accumulate ? before.at(i, j) : 0.0;
      for (int64_t l = 0; l < s.k; ++l) {
        const float weight = transpose ? w.at(l, j) : w.at(j, l);
        sum += double(x.at(i, l)) * (storage == DType::kBF16 ? bf16_to_f32(f32_to_bf16(weight)) : weight);
      }
      if (bias) sum += b[size_t(j)];
      EXPECT_NEAR(y.at(i, j), sum, tolerance(s.k, 2.0) + 1e-6);
    }
  }
  EXPECT_TRUE(y.gaps_untouched());
}

}  // namespace

TEST(linear_matches_f64_on_every_set) {
  for (Isa set : sets()) {
    ForcedIsa forced(set);
    for (const Shape& s : edge_shapes()) {
      check_linear({}, s, random_int(0, 3) ? DType::kF32 : DType::kBF16, random_int(0, 1), random_int(0, 1),
                   random_int(0, 1));
    }
  }
}

TEST(linear_starts_from_y_when_it_accumulates_and_adds_the_bias_once) {
  for (Isa set : sets()) {
    ForcedIsa forced(set);
    for (int64_t m : {1, 3, 20}) check_linear({}, {m, 70, 1030}, DType::kF32, false, true, true);
  }
}

TEST(linear_is_one_ascending_chain_of_fused_steps) {
  ThreadPool pool(2);
  for (Isa set : sets()) {
    if (set == Isa::kBaseline) continue;  // the baseline rounds twice per step (simd.h)
    ForcedIsa forced(set);
    for (const Shape& s : {Shape{1, 300, 700}, Shape{3, 100, 1500}, Shape{37, 45, 600}, Shape{400, 40, 530}}) {
      Matrix x(s.m, s.k, 1), w(s.n, s.k, 0), y(s.m, s.n, 2, false);
      const std::vector<float> b = random_floats(s.n);
      const Stream stream{.pool = &pool};
      Pack pack(stream, w.view(), s.n, s.k);
      linear(stream, {x.view(), pack.w, f32(b.data(), {s.n}), y.view()});
      int64_t wrong = 0;
      for (int64_t i = 0; i < s.m; ++i) {
        for (int64_t j = 0; j < s.n; ++j) {
          float chain = 0.0f;
          for (int64_t l = 0; l < s.k; ++l) chain = std::fma(x.at(i, l), w.at(j, l), chain);
          wrong += y.at(i, j) != chain + b[size_t(j)];
        }
      }
      EXPECT_EQ(wrong, 0);
    }
  }
}

TEST(a_row_has_the_same_bits_in_every_batch) {
  const int64_t n = 150, k = 700, most = 512;
  ThreadPool pool(2);
  for (Isa set : sets()) {
    ForcedIsa forced(set);
    Matrix x(most, k, 0), w(n, k, 0), all(most, n, 0, false);
    for (DType storage : {DType::kF32, DType::kBF16}) {
      Pack pack({}, w.view(), n, k, storage);
      linear({}, {x.view(), pack.w, {}, all.view()});
      for (int64_t m = 1; m <= 64; ++m) {
        const int64_t first = random_int(0, most - m);
        std::vector<float> some = poison(m * n);
        const Stream stream{.pool = random_int(0, 1) ? &pool : nullptr};
        linear(stream, {f32(&x.memory[size_t(first * k)], {m, k}), pack.w, {}, f32(some.data(), {m, n})});
        EXPECT_TRUE(same_bits(some.data(), &all.memory[size_t(first * n)], m * n));
      }
    }
  }
}

TEST(avx2_and_avx512_agree_to_the_bit) {
  if (!cpu::isa_supported(Isa::kAvx512)) SKIP("this CPU has no AVX-512");
  for (const Shape& s : edge_shapes()) {
    Matrix x(s.m, s.k, 0), w(s.n, s.k, 0), dy(s.m, s.n, 0);
    std::vector<float> y[2], dw[2];
    for (int i = 0; i < 2; ++i) {
      ForcedIsa forced(i ? Isa::kAvx512 : Isa::kAvx2);
      Pack pack({}, w.view(), s.n, s.k, DType::kBF16);
      y[i] = poison(s.m * s.n + 1);
      dw[i].assign(size_t(s.n * s.k + 1), 0.5f);
      linear({}, {x.view(), pack.w, {}, f32(y[i].data(), {s.m, s.n})});
      linear_grad_weight({}, {dy.view(), x.view(), f32(dw[i].data(), {s.n, s.k}), {}});
    }
    EXPECT_TRUE(same_bits(y[0].data(), y[1].data(), s.m * s.n));
    EXPECT_TRUE(same_bits(dw[0].data(), dw[1].data(), s.n * s.k));
  }
}

TEST(grad_weight_matches_f64_on_every_set) {
  for (Isa set : sets()) {
    ForcedIsa forced(set);
    for (const Shape& s : edge_shapes()) {
      // The sum is over m here; m gets the value of k, so that long sums are covered too.
      const int64_t m = s.k, n = s.n, k = s.m;
      Matrix dy(m, n, n == 128 ? 0 : random_int(0, 2)), x(m, k, random_int(0, 2)), dw(n, k, random_int(0, 2));
      const Matrix before = dw;
      const std::vector<float> bias_before = random_floats(n + 1);
      std::vector<float> dbias = bias_before;
      linear_grad_weight({}, {dy.view(), x.view(), dw.view(), f32(dbias.data(), {n})});
      for (int64_t i = 0; i < n; ++i) {
        double bias_sum = bias_before[size_t(i)];
        for (int64_t l = 0; l < m; ++l) bias_sum += dy.at(l, i);
        EXPECT_NEAR(dbias[size_t(i)], bias_sum, tolerance(m, 2.0) + 1e-6);
        for (int64_t j = 0; j < k; ++j) {
          double sum = before.at(i, j);
          for (int64_t l = 0; l < m; ++l) sum += double(dy.at(l, i)) * x.at(l, j);
          EXPECT_NEAR(dw.at(i, j), sum, tolerance(m, 2.0) + 1e-6);
        }
      }
      EXPECT_TRUE(dw.gaps_untouched());
    }
  }
}

TEST(a_weight_gradient_has_the_same_bits_from_rows_where_they_lie_and_from_a_copy_of_them) {
  for (Isa set : sets()) {
    ForcedIsa forced(set);
    for (const int64_t k : {32, 96, 128}) {
      const int64_t m = 401, n = 70;
      Matrix dy(m, n, 0), apart(m, k, 1);  // rows that do not begin at a cache line are copied
      std::vector<float> memory(size_t(m * k + 16));
      const auto skipped = int64_t(64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) / 4;
      float* const near = memory.data() + skipped;
      for (int64_t i = 0; i < m; ++i) std::copy_n(&apart.memory[size_t(i * apart.stride)], k, near + i * k);
      std::vector<float> dw[2];
      for (int i = 0; i < 2; ++i) {
        dw[i].assign(size_t(n * k), 0.25f);
        linear_grad_weight({}, {dy.view(), i ? f32(near, {m, k}) : apart.view(), f32(dw[i].data(), {n, k}), {}});
      }
      EXPECT_TRUE(same_bits(dw[0].data(), dw[1].data(), n * k));
    }
  }
}

TEST(results_do_not_depend_on_the_number_of_threads) {
  ThreadPool two(2), three(3);
  for (const Shape& s : {Shape{700, 130, 200}, Shape{9, 2000, 300}, Shape{300, 70, 1100}, Shape{1000, 1100, 65}}) {
    Matrix x(s.m, s.k, 0), w(s.n, s.k, 0), dy(s.m, s.n, 0);
    std::vector<float> y[3], dw[3];
    for (int i = 0; i < 3; ++i) {
      const Stream stream{.pool = i == 0 ? nullptr : i == 1 ? &two : &three};
      Pack pack(stream, w.view(), s.n, s.k);
      y[i] = poison(s.m * s.n);
      dw[i].assign(size_t(s.n * s.k), 0.25f);
      linear(stream, {x.view(), pack.w, {}, f32(y[i].data(), {s.m, s.n})});
      linear_grad_weight(stream, {dy.view(), x.view(), f32(dw[i].data(), {s.n, s.k}), {}});
    }
    for (int i = 1; i < 3; ++i) {
      EXPECT_TRUE(same_bits(y[0].data(), y[i].data(), s.m * s.n));
      EXPECT_TRUE(same_bits(dw[0].data(), dw[i].data(), s.n * s.k));
    }
  }
}

TEST(two_calls_that_split_the_rows_give_the_same_weight_gradient) {
  const int64_t m = 777, n = 70, k = 90, cut = random_int(1, m - 1);
  Matrix dy(m, n, 0), x(m, k, 0);
  std::vector<float> whole(size_t(n * k), 0.0f), parts = whole;
  linear_grad_weight({}, {dy.view(), x.view(), f32(whole.data(), {n, k}), {}});
  linear_grad_weight({}, {f32(dy.memory.data(), {cut, n}), f32(x.memory.data(), {cut, k}), f32(parts.data(), {n, k}), {}});
  linear_grad_weight({}, {f32(&dy.memory[size_t(cut * n)], {m - cut, n}), f32(&x.memory[size_t(cut * k)], {m - cut, k}),
                          f32(parts.data(), {n, k}), {}});
  EXPECT_TRUE(same_bits(whole.data(), parts.data(), n * k));
}

TEST(panels_are_padded_with_zeros_and_both_directions_pack_alike) {
  for (Isa set : sets()) {
    ForcedIsa forced(set);
    for (DType storage : {DType::kF32, DType::kBF16}) {
      const int64_t n = random_int(1, 100), k = random_int(1, 100);
      Matrix w(n, k, 1), wt(k, n, 2, false);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < k; ++j) wt.memory[size_t(j * wt.stride + i)] = w.at(i, j);
      }
      Pack straight({}, w.view(), n, k, storage), turned({}, wt.view(), n, k, storage, true);
      EXPECT_TRUE(straight.memory == turned.memory);
      for (int64_t c = n; c < (n + 31) / 32 * 32; ++c) {
        for (int64_t j = 0; j < k; ++j) {
          const int64_t at = (c / 32 * k + j) * 32 + c % 32;
          if (storage == DType::kF32) EXPECT_EQ(reinterpret_cast<float*>(straight.memory.data())[at], 0.0f);
          else EXPECT_EQ(reinterpret_cast<uint16_t*>(straight.memory.data())[at], 0);
        }
      }
    }
  }
}

TEST(a_packed_matrix_transposed_is_the_pack_of_the_transpose) {
  const std::pair<DType, Arithmetic> kinds[] = {{DType::kF32, Arithmetic::kF32}, {DType::kBF16, Arithmetic::kF32}, {DType::kBF16, Arithmetic::kBF16}};
  for (const auto& [storage, arithmetic] : kinds) {
    for (const auto& [n, k] : {std::pair<int64_t, int64_t>{1, 1}, {32, 64}, {33, 31}, {70, 129}, {97, 2}, {1, 100}}) {
      Matrix w(n, k, 3);
      const auto packed = [&](int64_t rows, int64_t depth, auto&& fill) {
        std::vector<uint8_t> memory(size_t(packed_bytes({}, rows, depth, storage)), uint8_t(0xff));
        fill(PackedMatrix{rows, depth, storage, memory.data(), false, arithmetic});
        return memory;
      };
      std::vector<uint8_t> turned;
      packed(n, k, [&](const PackedMatrix& straight) {
        pack_matrix({}, {w.view(), false, straight});
        turned = packed(k, n, [&](const PackedMatrix& out) { transpose_packed(two_threads(), straight, out); });
        EXPECT_THROWS(transpose_packed({}, straight, PackedMatrix{k + 1, n, storage, turned.data(), false, arithmetic}), Code::kShape);
      });
      EXPECT_TRUE(turned == packed(k, n, [&](const PackedMatrix& out) { pack_matrix({}, {w.view(), true, out}); }));
    }
  }
}

TEST(a_nan_stays_in_its_row) {
  for (Isa set : sets()) {
    ForcedIsa forced(set);
    Matrix x(40, 50, 0), w(60, 50, 0), y(40, 60, 0, false);
    x.memory[17 * 50 + 49] = std::numeric_limits<float>::quiet_NaN();
    Pack pack({}, w.view(), 60, 50);
    linear({}, {x.view(), pack.w, {}, y.view()});
    for (int64_t i = 0; i < 40; ++i) {
      for (int64_t j = 0; j < 60; ++j) EXPECT_EQ(std::isnan(y.at(i, j)), i == 17);
    }
  }
}

TEST(wrong_shapes_are_refused) {
  Matrix x(4, 8, 0), w(6, 8, 0), y(4, 6, 0);
  Pack pack({}, w.view(), 6, 8);
  EXPECT_THROWS(linear({}, {y.view(), pack.w, {}, y.view()}), Code::kShape);
  EXPECT_THROWS(linear({}, {x.view(), pack.w, {}, x.view()}), Code::kShape);
  EXPECT_THROWS(linear({}, {x.view(), pack.w, x.view(), y.view()}), Code::kShape);
  EXPECT_THROWS(linear({}, {x.view(), PackedMatrix{6, 8, DType::kF32, nullptr}, {}, y.view()}), Code::kShape);
  EXPECT_THROWS(linear({}, {x.view(), PackedMatrix{6, 8, DType::kF16, pack.w.panels}, {}, y.view()}), Code::kShape);
  EXPECT_THROWS(pack_matrix({}, {w.view(), true, pack.w}), Code::kShape);
  EXPECT_THROWS(linear_grad_weight({}, {y.view(), x.view(), x.view(), {}}), Code::kShape);
  EXPECT_THROWS(linear_grad_weight({}, {y.view(), w.view(), w.view(), {}}), Code::kShape);
  EXPECT_THROWS(linear_grad_weight({}, {y.view(), x.view(), w.view(), x.view()}), Code::kShape);
}

}  // namespace kernels_matmul_test
