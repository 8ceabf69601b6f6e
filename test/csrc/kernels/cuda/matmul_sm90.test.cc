// Properties of matrix products that only a real Hopper GPU can show: that a row has the same bits for any
// number of rows, and an element in any column; that rings work over many tiles of a persistent block; where
// sums are truncated; and how much wgmma and mma.sync differ. The host shim runs the same cases on small
// matrices.
//
// Faults put into the code, each detected in the host shim: k divided by the number of rows; a ring's parity
// never flipped; a persistent block that stores its first tile again; wgmma truncating at 256 columns only,
// or rounding one column up.
#include "apart.h"
#include "each_way.h"

#include "core/arena.h"
#include "kernels/matmul.h"

namespace kernels_cuda_matmul_sm90_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

#ifdef HONE_HAVE_CUDA

namespace {

Arena& scratch() {
  static Arena arena(int64_t(32) << 20, "test scratch", Memory::kDevice);
  return arena;
}

/// A bf16 matrix on the host and on the device.
struct Matrix {
  int64_t rows, columns;
  std::vector<float> values;
  DeviceArray<uint16_t> bits;

  Matrix(int64_t r, int64_t c, std::vector<float> given)
      : rows(r), columns(c), values(rounded_to_bf16(std::move(given))), bits(to_bf16(values)) {}
  float at(int64_t r, int64_t c) const { return values[size_t(r * columns + c)]; }
  TensorView view(int64_t first, int64_t count) const {
    return {bits.data() + first * columns, DType::kBF16, {count, columns}};
  }
  TensorView view() const { return view(0, rows); }
  PackedMatrix weights(bool transposed = false) const {
    return {transposed ? columns : rows, transposed ? rows : columns, DType::kBF16, bits.data(), transposed};
  }
};

Matrix random_matrix(int64_t rows, int64_t columns) { return {rows, columns, random_floats(rows * columns)}; }
/// Integers so small that no sum in this file needs more than 24 bits: results are exact for any order and
/// rounding.
Matrix integers(int64_t rows, int64_t columns) {
  std::vector<float> values(size_t(rows * columns));
  for (float& x : values) x = float(random_int(-4, 4));
  return {rows, columns, std::move(values)};
}

std::vector<float> forward(const TensorView& x, const PackedMatrix& w) {
  const DeviceArray<float> y(x.shape[0] * w.n);
  linear(device_stream(), {x, w, {}, y.view(DType::kF32, {x.shape[0], w.n}), false, &scratch()});
  return y.download();
}
std::vector<float> weight_gradient(const Matrix& dy, const Matrix& x) {
  const DeviceArray<float> dw(std::vector<float>(size_t(dy.columns * x.columns), 0.5f));
  linear_grad_weight(device_stream(), {dy.view(), x.view(), dw.view(DType::kF32, {dy.columns, x.columns}), {}});
  return dw.download();
}

void expect_same(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  EXPECT_TRUE(a.size() == b.size() && same_bits(a.data(), b.data(), int64_t(a.size())));
}

/// Compares elements from all of y [rows, columns] with f64 sums of `depth` products, which `product` gives.
template <class Product>
void expect_sums(const std::vector<float>& y, int64_t columns, int64_t depth, double slack, const Product& product) {
  int64_t wrong = 0;
  for (int i = 0; i < 2000; ++i) {
    const int64_t at = random_int(0, int64_t(y.size()) - 1);
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) sum += product(at / columns, at % columns, k);
    wrong += !(std::fabs(double(y[size_t(at)]) - sum) <= slack);
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace

// k = 1536 is divided into two pieces (tiles of 64 x 128, and of 128 x 128 that compute both), k = 960 is one
// piece (64 x 128, 128 x 256).
TEST(a_row_has_the_same_bits_at_every_number_of_rows_and_an_element_in_every_column) {
  NEEDS_HOPPER;
  const int64_t n = on_shim() ? 136 : 520, most = on_shim() ? 260 : 300;
  for (const int64_t k : {on_shim() ? 1096 : 1536, on_shim() ? 136 : 960}) {
    const Matrix x = random_matrix(most, k), w = random_matrix(n, k);
    const std::vector<float> all = forward(x.view(), w.weights());
    expect_sums(all, n, k, 8 * 1.2e-7 * double(k),
                [&](int64_t r, int64_t c, int64_t i) { return double(x.at(r, i)) * double(w.at(c, i)); });
    for (const int64_t m : {int64_t(1), int64_t(64), on_shim() ? int64_t(17) : int64_t(256), most}) {
      const int64_t first = random_int(0, most - m);
      const std::vector<float> some = forward(x.view(first, m), w.weights());
      expect_same(some, {all.begin() + first * n, all.begin() + (first + m) * n});
    }
    const int64_t turn = n - 72;  // moves an element to another column of another tile
    std::vector<float> turned(w.values.begin() + turn * k, w.values.end());
    turned.insert(turned.end(), w.values.begin(), w.values.begin() + turn * k);
    const Matrix other(n, k, turned);
    for (const int64_t m : {int64_t(64), on_shim() && k > 1000 ? int64_t(1) : most}) {
      const std::vector<float> got = forward(x.view(0, m), other.weights());
      int64_t different = 0;
      for (int64_t i = 0; i < m * n; ++i) {
        different += !same_bits(&got[size_t(i)], &all[size_t(i / n * n + (i % n + turn) % n)], 1);
      }
      EXPECT_EQ(different, 0);
    }
  }
}

// On 132 multiprocessors 160 tiles of 128 x 256: blocks process a second tile, and start it in the middle of
// their rings of four stages.
TEST(rings_of_persistent_blocks_are_exact_on_integers_over_many_tiles) {
  NEEDS_HOPPER;
  const int64_t m = on_shim() ? 260 : 640, n = on_shim() ? 264 : 8192, k = on_shim() ? 328 : 576;
  const Matrix x = integers(m, k), w = integers(n, k), dy = integers(m, n);
  std::vector<std::vector<float>> y, dx, dw;
  for (int i = 0; i < (on_shim() ? 1 : 3); ++i) {
    each_way([&] {
      y.push_back(forward(x.view(), w.weights()));
      dx.push_back(forward(dy.view(), w.weights(true)));
      dw.push_back(weight_gradient(dy, x));
    });
  }
  EXPECT_TRUE(y.size() >= 2);
  for (const auto* results : {&y, &dx, &dw}) {
    for (const std::vector<float>& other : *results) expect_same(results->front(), other);
  }
  expect_sums(y.front(), n, k, 0, [&](int64_t r, int64_t c, int64_t i) { return double(x.at(r, i)) * double(w.at(c, i)); });
  expect_sums(dx.front(), k, n, 0, [&](int64_t r, int64_t c, int64_t i) { return double(dy.at(r, i)) * double(w.at(i, c)); });
  expect_sums(dw.front(), k, m, 0, [&](int64_t r, int64_t c, int64_t i) {
    return double(dy.at(i, r)) * double(x.at(i, c)) + (i == 0 ? 0.5 : 0.0);
  });
}

// 1 + 1.5 2^-24 is nearer to 1 + 2^-23 than to 1. By their documentation wgmma and mma.sync truncate; the
// test prints what each does.
TEST(a_sum_is_truncated_or_rounded_the_same_for_both_signs) {
  NEEDS_HOPPER;
  const auto measure = [](int64_t second) {  // second: index of the small term among 128 k
    std::vector<float> row(128), weights(8 * 128);
    row[0] = 1.0f, row[size_t(second)] = 0x1p-12f;
    weights[0] = 1.0f, weights[size_t(second)] = 0x1.8p-12f;
    weights[128] = -1.0f, weights[size_t(128 + second)] = -0x1.8p-12f;
    const Matrix x(1, 128, row), w(8, 128, weights);
    const std::vector<float> y = forward(x.view(), w.weights());
    EXPECT_EQ(y[1], -y[0]);
    EXPECT_TRUE(y[0] == 1.0f || y[0] == 1.0f + 0x1p-23f);
    return y[0] == 1.0f;
  };
  each_way([&] {
    const std::string name = kernels::cuda::has_wgmma() ? "wgmma" : "mma.sync";
    for (const int64_t second : {1, 8, 16, 64}) {
      const char* const where = second < 16 ? "within 16 products" : second < 64 ? "in the next 16" : "in the next stage";
      note(name + ", a term " + where + " (" + show(second) + "): " + (measure(second) ? "truncated" : "rounded"));
    }
  });
#ifdef HONE_CUDA_SHIM  // makes wgmma truncate, so that the test can tell it from mma.sync
  EXPECT_TRUE(!measure(16));
  cuda_shim::truncate_products(true);
  EXPECT_TRUE(measure(16));
  cuda_shim::truncate_products(false);
#endif
}

// If all bits were equal, `deterministic` would cost nothing. On a GPU the test only prints how many are
// equal.
TEST(wgmma_and_mma_sync_agree_and_their_bits_are_noted) {
  NEEDS_HOPPER;
  struct Shape { int64_t m, n, k; };
  std::vector<Shape> shapes{{64, 520, 1536}, {300, 520, 1536}, {300, 1032, 960}};
  if (on_shim()) shapes = {{20, 72, 1096}, {140, 72, 136}};
  for (const Shape& s : shapes) {
    const Matrix x = random_matrix(s.m, s.k), w = random_matrix(s.n, s.k), dy = random_matrix(s.m, s.n);
    std::vector<std::vector<float>> y, dw;
    each_way([&] {
      y.push_back(forward(x.view(), w.weights()));
      dw.push_back(weight_gradient(dy, x));
    });
    const std::string shape = show(s.m) + "x" + show(s.n) + "x" + show(s.k);
    for (const auto& [name, both, depth] : {std::tuple("forward ", &y, s.k), {"dW ", &dw, s.m}}) {
      note(std::string("wgmma beside mma.sync, ") + name + shape + ": " + apart(both->front(), both->back()));
      int64_t wrong = 0;
      for (size_t i = 0; i < both->front().size(); ++i) {
        wrong += !(std::fabs(double(both->front()[i]) - double(both->back()[i])) <= 8 * 2.4e-7 * double(depth));
      }
      EXPECT_EQ(wrong, 0);
    }
  }
}

#else
TEST(cuda_products_sm90) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_matmul_sm90_test
