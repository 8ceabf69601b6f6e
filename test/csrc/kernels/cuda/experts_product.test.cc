// Products with one matrix per expert on a device, with the portable kernels and with Hopper's, whose sums the shim truncates, so
// that a tile of the wrong kind has other bits. Sizes are odd; experts have no rows, one, or more than a tile.
//
// Faults put into the code, each detected: the tile after the one looked for; the first expert's bias or matrix for all; outputs
// stored beyond an expert's last row; a missing last tile; depth beyond the last 64 k left out; rows of later blocks in a block's
// gradient; on a Hopper, rows of the next expert in a gradient: all of them, one, or those of one operand; zeros over them without
// a proxy fence, a wait, or a new parity.
#include <algorithm>
#include <array>

#include "core/arena.h"
#include "each_way.h"
#include "expert_groups.h"

namespace kernels_cuda_experts_product_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

#ifdef HONE_HAVE_CUDA

namespace {

/// One bf16 matrix per expert, `gap` elements apart on the device; what lies between them is NaN.
struct Matrices {
  int64_t n, k, distance;
  bool transposed;
  std::vector<float> values;
  DeviceArray<uint16_t> memory;
  std::vector<PackedMatrix> packed;

  /// poisoned: every second expert's matrix is not a number.
  Matrices(int64_t experts, int64_t outputs, int64_t inputs, bool turned, int64_t gap, bool poisoned = false)
      : n(outputs), k(inputs), distance(n * k + gap), transposed(turned), memory(experts * distance) {
    for (int64_t e = 0; e < experts; ++e) {
      const std::vector<float> one = poisoned && e % 2 ? poison(n * k) : rounded_to_bf16(random_floats(n * k)), between = poison(gap);
      values.insert(values.end(), one.begin(), one.end());
      values.insert(values.end(), between.begin(), between.end());
    }
    memory = DeviceArray<uint16_t>(to_bf16(values));
    for (int64_t e = 0; e < experts; ++e) packed.push_back({n, k, DType::kBF16, memory.data() + e * distance, turned});
  }
  /// An element of W_e [n, k], however it is stored.
  double at(int64_t e, int64_t row, int64_t column) const { return values[size_t(e * distance + (transposed ? column * n + row : row * k + column))]; }
};

/// Compares a pair's outputs, or some of many, with sums in f64.
void expect_sums(const uint16_t* y, const float* x, const Matrices& w, int64_t expert, const float* bias) {
  for (int64_t n = 0; n < w.n; n += 1 + w.n / 12) {
    double sum = bias ? bias[n] : 0.0;
    for (int64_t k = 0; k < w.k; ++k) sum += double(x[k]) * w.at(expert, n, k);
    EXPECT_NEAR(bf16_to_f32(y[n]), sum, 9.6e-7 * double(w.k) + std::fabs(sum) / 256);
  }
}

}  // namespace

TEST(a_pair_has_the_bits_of_linear_on_its_row_alone) {
  NEEDS_DEVICE;
  const Truncating truncating;
  struct Shape { int64_t rows, experts, k, used, outputs, inputs, gap; };
  // tiles of 16, 64 and 128 rows, each with k in one piece and in two; experts of more rows than a tile and of one; and rows that are
  // not aligned
  constexpr Shape kShapes[] = {{150, 3, 1, 1, 136, 72, 8}, {290, 2, 1, 2, 264, 72, 0}, {11, 12, 1, 12, 264, 40, 16},
                               {1, 4, 2, 4, 72, 1032, 64}, {13, 7, 3, 5, 40, 24, 8}, {60, 3, 1, 1, 72, 1032, 0}, {300, 40, 4, 37, 8, 64, 0},
                               {200, 2, 1, 2, 72, 1032, 8}, {200, 2, 1, 2, 136, 24, 8}, {21, 70, 5, 6, 37, 21, 3}, {0, 5, 2, 5, 40, 24, 8}};
  Arena scratch(int64_t(4) << 20, "test", Memory::kDevice);
  each_way([&] {
    for (const Shape& s : kShapes) {
      const Grouped g(s.rows, s.experts, s.k, s.used);
      const int64_t P = s.rows * s.k, N = s.outputs, K = s.inputs;
      const std::vector<float> entering = rounded_to_bf16(random_floats(P * K)), biases = random_floats(s.experts * N);
      const DeviceArray<uint16_t> x(to_bf16(entering));
      const DeviceArray<float> device_biases(biases);
      for (const bool turned : {false, true}) {
        const Matrices w(s.experts, N, K, turned, s.gap);
        const DeviceArray<uint16_t> y(P * N), alone(N);
        const bool biased = turned == (s.experts % 2 == 0);
        experts_linear(device_stream(), {x.view(DType::kBF16, {P, K}), g.begin_view(), w.packed, y.view(DType::kBF16, {P, N}), biased ? device_biases.view(DType::kF32, {s.experts, N}) : TensorView{}});
        const std::vector<uint16_t> all = y.download();
        EXPECT_TRUE(std::count(all.begin(), all.end(), uint16_t(0xffff)) == 0);  // all are written
        for (int64_t p = 0; p < P; p += std::max<int64_t>(1, P / 6)) {
          const int64_t e = g.expert_of(p);
          const TensorView in(x.data() + p * K, DType::kBF16, {1, K});
          const TensorView bias(device_biases.data() + e * N, DType::kF32, {N});
          expect_sums(all.data() + p * N, entering.data() + p * K, w, e, biased ? biases.data() + e * N : nullptr);
          linear(device_stream(), {.x = in, .w = w.packed[size_t(e)], .bias = biased ? bias : TensorView{}, .y = alone.view(DType::kBF16, {1, N}), .scratch = &scratch});
          EXPECT_TRUE(alone.download() == std::vector<uint16_t>(all.begin() + p * N, all.begin() + (p + 1) * N));
        }
      }
    }
  });
}

TEST(an_experts_results_do_not_depend_on_the_values_of_another) {
  NEEDS_DEVICE;
  each_way([] {
    for (const auto& [rows, experts, k, used] : {std::array<int64_t, 4>{45, 5, 2, 4}, {210, 2, 1, 2}}) {
      const Grouped g(rows, experts, k, used);
      const int64_t P = rows * k, N = 136, K = 40;
      for (const bool turned : {false, true}) {
        std::vector<float> x = rounded_to_bf16(random_floats(P * K)), dy = rounded_to_bf16(random_floats(P * N));
        for (int64_t p = 0; p < P; ++p) {
          if (g.expert_of(p) % 2 == 0) continue;
          std::fill_n(x.begin() + p * K, K, std::nanf("")), std::fill_n(dy.begin() + p * N, N, std::nanf(""));
        }
        const Matrices w(experts, N, K, turned, 8, true);
        const DeviceArray<uint16_t> ax(to_bf16(x)), ady(to_bf16(dy)), y(P * N);
        const DeviceArray<float> dw(std::vector<float>(size_t(experts * N * K), 0.0f));
        experts_linear(device_stream(), {ax.view(DType::kBF16, {P, K}), g.begin_view(), w.packed, y.view(DType::kBF16, {P, N})});
        experts_grad_weight(device_stream(), {.dy = ady.view(DType::kBF16, {P, N}), .x = ax.view(DType::kBF16, {P, K}), .begins = g.begin_view(), .rows = g.row_view(),
                                              .dw = dw.view(DType::kF32, {experts * N, K}), .last_row = rows});
        const std::vector<uint16_t> outputs = y.download();
        const std::vector<float> sums = dw.download();
        for (int64_t p = 0; p < P; ++p) {
          if (g.expert_of(p) % 2 == 0) expect_sums(outputs.data() + p * N, x.data() + p * K, w, g.expert_of(p), nullptr);
        }
        for (int64_t i = 0; i < experts * N * K; ++i) {
          if (i / (N * K) % 2 == 0 && std::isnan(sums[size_t(i)])) report("dW of another expert", int(i), "is not a number");
        }
      }
    }
  });
}

#endif

TEST(gradients_of_weights_are_sums_over_an_experts_rows_of_a_block) {
  NEEDS_DEVICE;
  struct Shape { int64_t rows, experts, k, used, outputs, inputs; };
  constexpr Shape kShapes[] = {{19, 4, 2, 3, 136, 24}, {130, 3, 1, 1, 136, 24}, {40, 9, 3, 9, 136, 24}, {70, 3, 2, 3, 40, 264}, {5, 40, 2, 40, 16, 8}, {19, 4, 2, 3, 37, 21}, {0, 3, 1, 3, 16, 8}};
  each_way([&] {
    for (const auto& [rows, experts, k, used, N, K] : kShapes) {
      const Grouped g(rows, experts, k, used);
      const int64_t P = rows * k;
      const std::vector<float> x = rounded_to_bf16(random_floats(P * K)), dy = rounded_to_bf16(random_floats(P * N)), before = random_floats(experts * N * K);
      const DeviceArray<uint16_t> ax(to_bf16(x)), ady(to_bf16(dy));
      for (const auto& [first, last] : {std::pair<int64_t, int64_t>{0, rows}, {std::min<int64_t>(5, rows), std::min<int64_t>(11, rows)}, {7, 7}}) {
        std::vector<float> wanted = before;
        experts_grad_weight({}, {.dy = f32(dy.data(), {P, N}), .x = f32(x.data(), {P, K}), .begins = g.host_begins(), .rows = g.host_rows(), .dw = f32(wanted.data(), {experts * N, K}),
                                 .first_row = first, .last_row = last});
        const DeviceArray<float> dw(before);
        experts_grad_weight(device_stream(), {.dy = ady.view(DType::kBF16, {P, N}), .x = ax.view(DType::kBF16, {P, K}), .begins = g.begin_view(), .rows = g.row_view(),
                                              .dw = dw.view(DType::kF32, {experts * N, K}), .first_row = first, .last_row = last});
        expect_near(dw.download(), wanted, 2e-5, "dw");  // up to 130 products of size 1
      }
    }
  });
}

}  // namespace kernels_cuda_experts_product_test
