// The calls of the cublasLt comparison kernels, against a stand-in library that multiplies as the calls say:
// layouts, options, errors. bench/cuda runs them with the real library on a GPU.
#include "kernels/cuda/cublaslt.h"

#include <dlfcn.h>

#include <algorithm>

#include "check.h"
#include "kernels/cuda/fake_cublaslt.h"

namespace kernels_cuda_cublaslt_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;
using kernels::cuda::CublasLt;

namespace {

/// What the stand-in recorded. The library is never closed, so that it stays valid.
FakeCublasLt& noted() {
  static FakeCublasLt* const notes = [] {
    void* const library = dlopen(HONE_FAKE_CUBLASLT, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<FakeCublasLt* (*)()>(dlsym(library, "fake_cublaslt"))();
  }();
  return *notes;
}

struct Bf16 {
  std::vector<uint16_t> bits;
  std::vector<float> values;
  explicit Bf16(int64_t n) {
    for (const float x : random_floats(n)) {
      bits.push_back(f32_to_bf16(x));
      values.push_back(bf16_to_f32(bits.back()));
    }
  }
  TensorView view(std::initializer_list<int64_t> dims) { return {bits.data(), DType::kBF16, dims}; }
};

constexpr int64_t kWorkspace = 1 << 20;

CublasLt open() { return CublasLt(nullptr, kWorkspace, HONE_FAKE_CUBLASLT); }

}  // namespace

TEST(products_mean_what_ours_mean) {
  noted() = {};
  CublasLt peer = open();
  const int64_t m = 5, n = 7, k = 11;
  for (const bool transposed : {false, true}) {
    for (const bool accumulate : {false, true}) {
      Bf16 x(m * k), w(n * k), half(m * n);
      const std::vector<float> before = random_floats(m * n);
      std::vector<float> y = before;
      const PackedMatrix packed{n, k, DType::kBF16, w.bits.data(), transposed};
      peer.linear({}, {x.view({m, k}), packed, {}, f32(y.data(), {m, n}), accumulate});
      const std::vector<float> half_before = half.values;
      peer.linear({}, {x.view({m, k}), packed, {}, half.view({m, n}), accumulate});
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t l = 0; l < k; ++l) {
            sum += double(x.values[size_t(i * k + l)]) * w.values[size_t(transposed ? l * n + j : j * k + l)];
          }
          const size_t at = size_t(i * n + j);
          EXPECT_NEAR(y[at], sum + (accumulate ? before[at] : 0.0f), 1e-5);
          const double wide = sum + (accumulate ? half_before[at] : 0.0f);
          EXPECT_NEAR(bf16_to_f32(half.bits[at]), wide, std::fabs(wide) / 256 + 1e-6);
        }
      }
    }
  }
}

TEST(the_weight_gradient_is_added) {
  noted() = {};
  CublasLt peer = open();
  const int64_t m = 6, n = 4, k = 9;
  Bf16 dy(m * n), x(m * k);
  const std::vector<float> before = random_floats(n * k);
  std::vector<float> dw = before;
  peer.linear_grad_weight({}, {dy.view({m, n}), x.view({m, k}), f32(dw.data(), {n, k}), {}});
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < k; ++j) {
      double sum = before[size_t(i * k + j)];
      for (int64_t l = 0; l < m; ++l) sum += double(dy.values[size_t(l * n + i)]) * x.values[size_t(l * k + j)];
      EXPECT_NEAR(dw[size_t(i * k + j)], sum, 1e-5);
    }
  }
}

TEST(an_algorithm_is_asked_for_once_a_shape_and_never_with_split_sums) {
  noted() = {};
  {
    CublasLt peer = open();
    Bf16 x(8 * 16), w(4 * 16);
    std::vector<float> y(32);
    const PackedMatrix packed{4, 16, DType::kBF16, w.bits.data()};
    for (const int64_t rows : {8, 8, 3, 8, 3}) {
      peer.linear({}, {x.view({rows, 16}), packed, {}, f32(y.data(), {rows, 4})});
    }
    EXPECT_EQ(noted().heuristics, 2);
    EXPECT_EQ(noted().products, 5);
    EXPECT_EQ(noted().reduction_mask, 0u);
    EXPECT_EQ(noted().workspace_bytes, uint64_t(kWorkspace));
    EXPECT_EQ(peer.version(), 130101);
  }
  EXPECT_EQ(noted().alive, 0);
}

TEST(what_is_missing_or_refused_is_named) {
  noted() = {};
  try {
    CublasLt(nullptr, 0, "libno-such-cublaslt.so");
    EXPECT_TRUE(false);
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == Code::kUnsupported);
    EXPECT_TRUE(std::string(e.what()).find("(libno-such-cublaslt.so: ") != std::string::npos);
    EXPECT_TRUE(std::string(e.what()).find("LD_LIBRARY_PATH") != std::string::npos);
  }
  try {
    CublasLt(nullptr, 0, HONE_FAKE_CUBLASLT_PARTIAL);
    EXPECT_TRUE(false);
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == Code::kUnsupported);
    EXPECT_TRUE(std::string(e.what()).find("lacks the symbol cublasLtMatmul.") != std::string::npos);
  }
  noted().create_status = 1;
  EXPECT_THROWS(open(), Code::kCuda);
  noted().create_status = 0;

  CublasLt peer = open();
  Bf16 x(16), w(16);
  std::vector<float> y(4), bias(2);
  const PackedMatrix packed{2, 8, DType::kBF16, w.bits.data()};
  const LinearArgs args{x.view({2, 8}), packed, {}, f32(y.data(), {2, 2})};
  noted().algorithms_found = 0;
  EXPECT_THROWS(peer.linear({}, args), Code::kUnsupported);
  EXPECT_EQ(noted().alive, 0);  // nothing of the failed plan is left over
  noted().algorithms_found = 1;
  noted().matmul_status = 13;
  EXPECT_THROWS(peer.linear({}, args), Code::kCuda);
  noted().matmul_status = 0;
  LinearArgs with_bias = args;
  with_bias.bias = f32(bias.data(), {2});
  EXPECT_THROWS(peer.linear({}, with_bias), Code::kUnsupported);
  EXPECT_THROWS(peer.linear_grad_weight({}, {x.view({2, 8}), x.view({2, 8}), f32(y.data(), {2, 2}), f32(bias.data(), {2})}),
                Code::kUnsupported);
}

}  // namespace kernels_cuda_cublaslt_test
