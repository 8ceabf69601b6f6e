// CUDA's matrix products compared with the CPU op on the same bf16 values, by each of the kernels: on a GPU
// or in the host shim, which reports a Hopper.
//
// Faults put into the code, each detected in the host shim: no barrier before a stage is read; one group of
// copies fewer waited for; no group committed at the end; a stage overwritten while it is read; one row,
// chunk or element too many at a tail; fragments of A or B in another order; another warp's column; k divided
// by the number of rows; pieces mixed up, the last one left out, one missing, or added in reverse, each with
// the bias; a neighbour's bias; y not added; dw overwritten; a lane of dbias missing, or not waited for; a
// pair written beyond an odd edge; alignment ignored; a strided matrix packed as a contiguous one. Of the
// Hopper kernel: a parity inverted or never flipped; a wait left out; no or too few bytes announced; a stage
// released early, never, by every lane, or for one group only; one product more in progress, no wait before
// sums are read or added; no fence, no commit; sums never or always started from zero; barriers not made
// visible or not waited for; another swizzle, stride or leading offset; stages not aligned to 1024 bytes;
// boxes of half the rows; the other group's rows; too many registers; copying or multiplying stops after the
// first tile.
#include "kernels/cuda/matmul.h"

#include <algorithm>
#include <tuple>

#include "core/arena.h"
#include "each_way.h"
#include "kernels/cuda/matmul_plan.h"
#include "kernels/matmul.h"

namespace kernels_cuda_matmul_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

#ifdef HONE_HAVE_CUDA

namespace {

/// Rows of bf16 or f32 on the device, `stride` apart, beginning at `offset`; everything between them is NaN.
struct Matrix {
  int64_t rows, columns, stride, offset;
  bool bf16;
  std::vector<float> values;  // [rows, columns], rounded if the dtype is bf16
  DeviceArray<uint16_t> halves{0};
  DeviceArray<float> floats{0};

  Matrix(int64_t r, int64_t c, bool is_bf16, std::vector<float> given, int64_t gap = 0, int64_t shift = 0)
      : rows(r), columns(c), stride(std::max<int64_t>(c + gap, 1)), offset(shift), bf16(is_bf16),
        values(is_bf16 ? rounded_to_bf16(std::move(given)) : std::move(given)) {
    std::vector<float> memory = poison(offset + rows * stride + 1);
    for (int64_t i = 0; i < rows; ++i) {
      std::copy_n(values.begin() + i * columns, columns, memory.begin() + offset + i * stride);
    }
    if (bf16) halves = DeviceArray<uint16_t>(to_bf16(memory));
    else floats = DeviceArray<float>(memory);
  }
  TensorView view() const {
    void* const data = bf16 ? static_cast<void*>(halves.data() + offset) : static_cast<void*>(floats.data() + offset);
    TensorView v(data, bf16 ? DType::kBF16 : DType::kF32, {rows, columns});
    v.row_stride = stride;
    return v;
  }
  /// The matrix's current values; fails the test if anything between the rows was written.
  std::vector<float> download() const {
    const std::vector<float> memory = bf16 ? from_bf16(halves.download()) : floats.download();
    std::vector<float> out;
    int64_t touched = 0;
    for (int64_t i = 0; i < int64_t(memory.size()); ++i) {
      const int64_t at = i - offset;
      if (at >= 0 && at / stride < rows && at % stride < columns) out.push_back(memory[size_t(i)]);
      else touched += !std::isnan(memory[size_t(i)]);
    }
    EXPECT_EQ(touched, 0);
    return out;
  }
};

Matrix random_matrix(int64_t rows, int64_t columns, bool bf16, int64_t gap = 0, int64_t shift = 0) {
  return Matrix(rows, columns, bf16, random_floats(rows * columns), gap, shift);
}

PackedMatrix packed(const Matrix& w, bool transposed) {
  return {transposed ? w.columns : w.rows, transposed ? w.rows : w.columns, DType::kBF16, w.view().data, transposed};
}

Arena& scratch() {
  static Arena arena(int64_t(8) << 20, "test scratch", Memory::kDevice);
  return arena;
}

struct Shape { int64_t m, n, k; };

/// Both sums have k products of size 1 in f32, rounded (or, in tensor cores, truncated) after every few
/// terms: the error is a random walk of k steps; 8 covers its tail, 2 the size of the sum. A bf16 result adds
/// half of its last place.
double tolerance(int64_t k, double result, bool bf16) {
  return 8 * 6e-8 * 2 * double(std::max<int64_t>(k, 1)) + 1e-6 + (bf16 ? 0x1.02p-8 * std::fabs(result) : 0.0);
}

struct Options {
  bool transposed, bias, accumulate, bf16_out;
  int64_t x_gap = 0, x_shift = 0, y_gap = 0;
};

void check_linear(Shape s, Options o) {
  if (kernels::cuda::uses_wgmma(s.n, s.k)) {  // wgmma requires views to be 16-byte aligned
    o.x_gap *= 8;
    o.x_shift *= 8;
  }
  const Matrix x = random_matrix(s.m, s.k, true, o.x_gap, o.x_shift);
  const Matrix w = o.transposed ? random_matrix(s.k, s.n, true) : random_matrix(s.n, s.k, true);
  const Matrix y(s.m, s.n, o.bf16_out, o.accumulate ? random_floats(s.m * s.n) : poison(s.m * s.n), o.y_gap);
  const std::vector<float> b = random_floats(s.n);
  const DeviceArray<float> bias(b);
  std::vector<float> expected = y.values, panels(size_t(packed_bytes({}, s.n, s.k, DType::kF32)) / 4 + 1);
  const PackedMatrix on_cpu{s.n, s.k, DType::kF32, panels.data()};
  pack_matrix({}, {o.transposed ? f32(w.values.data(), {s.k, s.n}) : f32(w.values.data(), {s.n, s.k}), o.transposed,
                   on_cpu});
  linear({}, {f32(x.values.data(), {s.m, s.k}), on_cpu, o.bias ? f32(b.data(), {s.n}) : TensorView(),
              f32(expected.data(), {s.m, s.n}), o.accumulate});

  linear(device_stream(), {x.view(), packed(w, o.transposed), o.bias ? bias.view(DType::kF32, {s.n}) : TensorView(),
                           y.view(), o.accumulate, &scratch()});
  const std::vector<float> got = y.download();
  int64_t wrong = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    wrong += !(std::fabs(double(got[i]) - expected[i]) <= tolerance(s.k, expected[i], o.bf16_out));
  }
  if (wrong) {
    std::printf("  m %lld n %lld k %lld transposed %d bias %d accumulate %d bf16 %d gaps %lld %lld %lld\n",
                (long long)s.m, (long long)s.n, (long long)s.k, o.transposed, o.bias, o.accumulate, o.bf16_out,
                (long long)o.x_gap, (long long)o.x_shift, (long long)o.y_gap);
  }
  EXPECT_EQ(wrong, 0);
}

Options random_options(bool transposed) {
  const bool odd = random_int(0, 2) == 0;
  return {transposed,        random_int(0, 1) == 1,        random_int(0, 1) == 1,        random_int(0, 1) == 1,
          odd ? random_int(1, 9) : 8 * random_int(0, 1), odd ? random_int(0, 7) : 0, random_int(0, 3)};
}

/// Numbers of rows around the edges of every tile.
const std::vector<int64_t> kRowCounts{1, 2, 15, 16, 17, 63, 64, 65, 130, 256, 257};

}  // namespace

TEST(linear_matches_the_cpu_op_at_every_edge_of_the_tiles) {
  NEEDS_DEVICE;
  each_way([] {
    for (const int64_t m : kRowCounts) {
      const int64_t whole = random_int(0, 1) ? 8 : 1;  // rows are whole chunks of 16 bytes, or not
      check_linear({m, whole * random_int(1, 140 / whole), whole * random_int(1, 100 / whole)}, random_options(false));
    }
  });
}

TEST(linear_reads_a_transposed_pack) {
  NEEDS_DEVICE;
  each_way([] {
    for (const int64_t m : {1, 17, 130}) {
      check_linear({m, 8 * random_int(1, 17), 8 * random_int(1, 12)}, random_options(true));
      check_linear({m, random_int(1, 140), random_int(1, 100)}, random_options(true));
    }
  });
}

TEST(linear_adds_the_pieces_of_a_long_sum) {
  NEEDS_DEVICE;
  each_way([] {
    for (const auto& [m, k] : {std::pair<int64_t, int64_t>{1, 1024}, {20, 1099}, {257, 1104}, {7, 2100}, {30, 2104}}) {
      EXPECT_EQ(kernels::cuda::fixed_split_k(40, k), k < 2048 ? 2 : 4);
      check_linear({m, 40, k}, random_options(false));
    }
  });
}

TEST(linear_of_nothing) {
  NEEDS_DEVICE;
  const Options plain{false, true, false, true};
  check_linear({0, 5, 8}, plain);
  check_linear({3, 0, 8}, plain);
  check_linear({3, 5, 0}, plain);  // k is 0: only the bias
}

TEST(a_row_has_the_same_bits_alone_and_in_every_batch) {
  NEEDS_DEVICE;
  each_way([] {
    const int64_t most = 260;
    for (const auto& [n, k] : {std::pair<int64_t, int64_t>{72, 88}, {41, 90}, {40, 1099}, {8, 2112}}) {
      const Matrix x = random_matrix(most, k, true), w = random_matrix(n, k, true);
      const Matrix all(most, n, false, poison(most * n));
      linear(device_stream(), {x.view(), packed(w, false), {}, all.view(), false, &scratch()});
      const std::vector<float> expected = all.download();
      for (const int64_t m : {1, 5, 16, 17, 100, k < 100 ? 256 : 40}) {
        const int64_t first = random_int(0, most - m);
        const Matrix some(m, n, false, poison(m * n));
        TensorView rows = x.view();
        rows.data = x.halves.data() + first * k;
        rows.shape[0] = m;
        linear(device_stream(), {rows, packed(w, false), {}, some.view(), false, &scratch()});
        const std::vector<float> got = some.download();
        EXPECT_TRUE(same_bits(got.data(), expected.data() + first * n, m * n));
      }
    }
  });
}

TEST(the_order_of_a_sum_does_not_depend_on_how_the_weights_lie) {
  NEEDS_DEVICE;
  const int64_t m = 140, n = 136, k = 200;
  const Matrix x = random_matrix(m, k, true), w = random_matrix(n, k, true);
  std::vector<float> turned(w.values.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < k; ++j) turned[size_t(j * n + i)] = w.values[size_t(i * k + j)];
  }
  const Matrix w_t(k, n, true, turned);
  const Matrix straight(m, n, false, poison(m * n)), across(m, n, false, poison(m * n));
  linear(device_stream(), {x.view(), packed(w, false), {}, straight.view()});
  linear(device_stream(), {x.view(), packed(w_t, true), {}, across.view()});
  EXPECT_TRUE(same_bits(straight.download().data(), across.download().data(), m * n));
}

// The shim sums a step of 16 in f64 for either instruction, so that only the order of sums, or a pipeline
// fault, could make results differ.
TEST(on_the_shim_both_kernels_have_the_same_bits) {
  if (!on_shim()) SKIP("the shim only");
  const auto by_both = [](int64_t rows, int64_t columns, const auto& product) {
    std::vector<std::vector<float>> got;
    each_way([&] {
      const Matrix y(rows, columns, false, std::vector<float>(size_t(rows * columns), 0.5f));
      product(y.view());
      got.push_back(y.download());
    });
    EXPECT_EQ(int(got.size()), 2);
    EXPECT_TRUE(same_bits(got.front().data(), got.back().data(), rows * columns));
  };
  // Every kind of tile, and more tiles than persistent blocks; two multiprocessors run two blocks, or four
  // small ones.
  for (const Shape s : {Shape{140, 264, 136}, {260, 136, 1096}, {70, 136, 1096}}) {
    const Matrix x = random_matrix(s.m, s.k, true), w = random_matrix(s.n, s.k, true), dy = random_matrix(s.m, s.n, true);
    by_both(s.m, s.n, [&](const TensorView& y) {
      linear(device_stream(), {x.view(), packed(w, false), {}, y, true, &scratch()});
    });
    if (s.k > 1000) continue;
    by_both(s.m, s.k, [&](const TensorView& dx) { linear(device_stream(), {dy.view(), packed(w, true), {}, dx}); });
    by_both(s.n, s.k, [&](const TensorView& dw) { linear_grad_weight(device_stream(), {dy.view(), x.view(), dw, {}}); });
  }
}

TEST(bias_and_what_was_there_are_added_to_the_bare_sum_in_f32_and_rounded_once) {
  NEEDS_DEVICE;
  each_way([] {
    // Whole tiles and edges on both sides, odd columns, pieces that are added; pairs of values that can be
    // stored at once, and pairs that cannot.
    for (const Shape& s : {Shape{140, 136, 40}, {70, 41, 40}, {3, 136, 1024}}) {
      const Matrix x = random_matrix(s.m, s.k, true), w = random_matrix(s.n, s.k, true);
      const Matrix bare(s.m, s.n, false, poison(s.m * s.n));
      const std::vector<float> b = random_floats(s.n);
      const DeviceArray<float> bias(b);
      linear(device_stream(), {x.view(), packed(w, false), {}, bare.view(), false, &scratch()});
      const std::vector<float> sums = bare.download();
      for (const auto& [bf16, gap, shift] : {std::tuple{false, 0, 0}, {true, 0, 0}, {false, 3, 0}, {true, 2, 1}}) {
        const Matrix y(s.m, s.n, bf16, random_floats(s.m * s.n), gap, shift);
        linear(device_stream(), {x.view(), packed(w, false), bias.view(DType::kF32, {s.n}), y.view(), true, &scratch()});
        std::vector<float> expected = sums;
        for (size_t i = 0; i < expected.size(); ++i) expected[i] = expected[i] + b[i % size_t(s.n)] + y.values[i];
        EXPECT_TRUE(y.download() == (bf16 ? rounded_to_bf16(expected) : expected));
      }
    }
  });
}

TEST(a_nan_stays_in_its_row) {
  NEEDS_DEVICE;
  for (const int64_t m : {16, 70, 260}) {
    std::vector<float> values = random_floats(m * 72);
    values[size_t((m - 3) * 72 + 71)] = std::numeric_limits<float>::quiet_NaN();
    const Matrix x(m, 72, true, values), w = random_matrix(65, 72, true), y(m, 65, true, poison(m * 65));
    linear(device_stream(), {x.view(), packed(w, false), {}, y.view()});
    const std::vector<float> got = y.download();
    int64_t wrong = 0;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < 65; ++j) wrong += std::isnan(got[size_t(i * 65 + j)]) != (i == m - 3);
    }
    EXPECT_EQ(wrong, 0);
  }
}

TEST(the_weight_gradient_matches_the_cpu_op) {
  NEEDS_DEVICE;
  std::vector<Shape> shapes{{1, 8, 8}, {31, 128, 136}, {33, 130, 24}, {200, 16, 264}, {0, 5, 7}, {5, 0, 7}, {5, 7, 0}};
  for (int i = 0; i < 5; ++i) shapes.push_back({random_int(1, 300), random_int(1, 150), random_int(1, 150)});
  each_way([&] {
    for (const Shape& s : shapes) {
      const int64_t unit = kernels::cuda::uses_wgmma(s.n, s.k) ? 8 : 1;
      const int64_t gap = random_int(0, 2) ? 0 : unit * random_int(1, 8);
      const Matrix dy = random_matrix(s.m, s.n, true, gap), x = random_matrix(s.m, s.k, true, 8 * gap);
      const Matrix dw = random_matrix(s.n, s.k, false, random_int(0, 3));
      const std::vector<float> before = random_floats(s.n);
      const DeviceArray<float> dbias(before);
      std::vector<float> expected = dw.values, expected_bias = before;
      linear_grad_weight({}, {f32(dy.values.data(), {s.m, s.n}), f32(x.values.data(), {s.m, s.k}),
                              f32(expected.data(), {s.n, s.k}), f32(expected_bias.data(), {s.n})});
      linear_grad_weight(device_stream(), {dy.view(), x.view(), dw.view(), dbias.view(DType::kF32, {s.n})});
      const std::vector<float> got = dw.download(), got_bias = dbias.download();
      int64_t wrong = 0;
      for (size_t i = 0; i < expected.size(); ++i) wrong += !(std::fabs(got[i] - expected[i]) <= tolerance(s.m, 0, false));
      for (int64_t i = 0; i < s.n; ++i) {
        wrong += !(std::fabs(got_bias[size_t(i)] - expected_bias[size_t(i)]) <= tolerance(s.m, 0, false));
      }
      if (wrong) {
        std::printf("  m %lld n %lld k %lld gap %lld\n", (long long)s.m, (long long)s.n, (long long)s.k, (long long)gap);
      }
      EXPECT_EQ(wrong, 0);
    }
  });
}

TEST(a_pack_is_the_matrix_row_by_row) {
  NEEDS_DEVICE;
  for (const bool turned : {false, true}) {
    const Matrix w = random_matrix(37, 29, false, 3);
    const int64_t n = turned ? 29 : 37, k = turned ? 37 : 29;
    EXPECT_EQ(packed_bytes(device_stream(), n, k, DType::kBF16), 2 * n * k);
    const DeviceArray<uint16_t> halves(n * k);
    const DeviceArray<float> floats(n * k);
    pack_matrix(device_stream(), {w.view(), turned, {n, k, DType::kBF16, halves.data(), turned}});
    pack_matrix(device_stream(), {w.view(), turned, {n, k, DType::kF32, floats.data(), turned}});
    EXPECT_TRUE(halves.download() == to_bf16(w.values));
    EXPECT_TRUE(floats.download() == w.values);
  }
}

TEST(what_a_device_cannot_do_is_refused) {
  NEEDS_DEVICE;
  const Matrix x = random_matrix(4, 1024, true), w = random_matrix(8, 1024, true), y = random_matrix(4, 8, true);
  const Matrix master = random_matrix(8, 1024, false);
  const Stream stream = device_stream();
  PackedMatrix wide = packed(w, false);
  wide.storage = DType::kF32;
  EXPECT_THROWS(linear(stream, {x.view(), wide, {}, y.view(), false, &scratch()}), Code::kShape);
  EXPECT_THROWS(linear(stream, {master.view(), packed(w, false), {}, y.view(), false, &scratch()}), Code::kShape);
  kernels::cuda::force_portable(true);  // a Hopper's cluster would add the pieces without scratch
  // pieces need scratch, and there is none
  EXPECT_THROWS(linear(stream, {x.view(), packed(w, false), {}, y.view()}), Code::kInternal);
  kernels::cuda::force_portable(false);
  EXPECT_THROWS(pack_matrix(stream, {master.view(), false, {8, 1024, DType::kBF16, w.view().data, true}}),
                Code::kUnsupported);
  EXPECT_THROWS(linear_grad_weight(stream, {y.view(), x.view(), w.view(), {}}), Code::kShape);
}

TEST(hopper_refuses_rows_its_copy_engine_cannot_read) {
  NEEDS_DEVICE;
  if (!kernels::cuda::uses_wgmma(8, 8)) SKIP("no device of capability 9.0");
  const Matrix x = random_matrix(4, 16, true, 1), w = random_matrix(8, 16, true), y = random_matrix(4, 8, true);
  EXPECT_THROWS(linear(device_stream(), {x.view(), packed(w, false), {}, y.view()}), Code::kShape);
  EXPECT_TRUE(!kernels::cuda::uses_wgmma(8, 12));
  kernels::cuda::force_portable(true);
  EXPECT_TRUE(!kernels::cuda::uses_wgmma(8, 8));
  linear(device_stream(), {x.view(), packed(w, false), {}, y.view()});
  kernels::cuda::force_portable(false);
}

TEST(scratch_is_that_of_the_largest_batch_of_few_rows) {
  NEEDS_DEVICE;
  const auto bytes = [](int64_t rows, int64_t n, int64_t k) { return linear_scratch_bytes(device_stream(), rows, n, k); };
  EXPECT_EQ(bytes(10, 40, 2048), 4 * 10 * 40 * 4);
  EXPECT_EQ(bytes(100000, 40, 2048), bytes(256, 40, 2048));
  EXPECT_EQ(bytes(10, 40, 1000), 0);
  EXPECT_EQ(linear_scratch_bytes({}, 10, 40, 2048), 0);
}

#else
TEST(cuda_products) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_matmul_test
