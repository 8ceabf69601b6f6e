// AdamW and gradient norms on a device. Neither CPU nor GPU contracts multiplications, and square root and
// division are exact, so parameters and moments have the CPU's bits; f64 sums differ only by their order.
//
// Faults put into the code, each detected: the last strip's end not bounded in the sum of squares
// (AddressSanitizer); a NaN scale ignored (skips); a non-finite norm ignored; the barrier of block_sum
// removed (sums); bias correction of v left out (bits); changes counted beyond the end (bits, eps 0).
#include "kernels/optimizer.h"

#include <algorithm>

#include "device.h"

namespace kernels_cuda_optimizer_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

const int64_t kSizes[] = {1, 7, 8, 2048, 16384, 16385, 40003};

struct State {
  std::vector<float> param, m, v, grad;
  explicit State(int64_t n) : param(random_floats(n)), m(random_floats(n, 0.1f)), v(random_floats(n, 0.1f)), grad(random_floats(n)) {
    for (float& x : v) x = std::fabs(x);
  }
};

AdamWArgs arguments(int64_t step, float eps = 1e-8f) {
  AdamWArgs a{};
  a.eps = eps;
  a.lr = 1e-2f;
  a.weight_decay = 0.1f;
  a.grad_scale = 0.7f;
  a.step = step;
  return a;
}

struct Outcome {
  std::vector<float> param, m, v;
  double change;
  std::vector<uint16_t> rounded{};  // on the device: the packed copy; 0xffff where nothing was written
};

Outcome on_cpu(State s, AdamWArgs a, float scale) {
  const auto n = int64_t(s.param.size());
  double change = -1;
  Arena scratch(adamw_scratch_bytes({}, n), "test");
  a.param = f32(s.param.data(), {n}), a.m = f32(s.m.data(), {n}), a.v = f32(s.v.data(), {n});
  a.grad = f32(s.grad.data(), {n}), a.scale = f32(&scale, {1});
  a.squared_change = {&change, DType::kF64, {1}}, a.scratch = &scratch;
  adamw({}, a);
  return {s.param, s.m, s.v, change};
}

Outcome on_device(const State& s, AdamWArgs a, float scale) {
  const auto n = int64_t(s.param.size());
  const DeviceArray<float> param(s.param), m(s.m), v(s.v), grad(s.grad), factor(std::vector<float>{scale});
  const DeviceArray<double> change(1);
  Arena scratch(adamw_scratch_bytes(device_stream(), n), "test", Memory::kDevice);
  a.param = param.view(DType::kF32, {n}), a.m = m.view(DType::kF32, {n}), a.v = v.view(DType::kF32, {n});
  a.grad = grad.view(DType::kF32, {n}), a.scale = factor.view(DType::kF32, {1});
  const DeviceArray<uint16_t> rounded(n);
  a.squared_change = change.view(DType::kF64, {1}), a.scratch = &scratch;
  a.packed = rounded.view(DType::kBF16, {n});
  adamw(device_stream(), a);
  return {param.download(), m.download(), v.download(), change.download()[0], rounded.download()};
}

}  // namespace

TEST(adamw_gives_the_cpus_bits) {
  NEEDS_DEVICE;
  for (const int64_t n : kSizes) {
    for (const int64_t step : {1, 100}) {
      const State state(n);
      const AdamWArgs a = arguments(step, n == 7 ? 0.0f : 1e-8f);
      const Outcome wanted = on_cpu(state, a, 0.5f), got = on_device(state, a, 0.5f);
      EXPECT_TRUE(got.param == wanted.param);
      EXPECT_TRUE(got.m == wanted.m);
      EXPECT_TRUE(got.v == wanted.v);
      EXPECT_NEAR(got.change / wanted.change, 1.0, 1e-13);
      for (int64_t i = 0; i < n; ++i) EXPECT_EQ(got.rounded[size_t(i)], f32_to_bf16(wanted.param[size_t(i)]));
    }
  }
}

TEST(moments_in_bf16_have_the_cpus_bits_from_any_element_on) {
  NEEDS_DEVICE;
  for (const int64_t n : kSizes) {
    for (const int64_t first : {int64_t(0), int64_t(6), (int64_t(1) << 34) - 20}) {
      const State s(n);
      std::vector<uint16_t> m(size_t(n), 0), v(size_t(n), 0);
      for (size_t i = 0; i < size_t(n); ++i) m[i] = f32_to_bf16(s.m[i]), v[i] = f32_to_bf16(s.v[i]);
      const DeviceArray<float> param(s.param), grad(s.grad);
      const DeviceArray<uint16_t> device_m(m), device_v(v);
      AdamWArgs a = arguments(100);
      a.seed = 12345678901234567u, a.first = first;
      a.param = param.view(DType::kF32, {n}), a.grad = grad.view(DType::kF32, {n});
      a.m = device_m.view(DType::kBF16, {n}), a.v = device_v.view(DType::kBF16, {n});
      adamw(device_stream(), a);
      std::vector<float> p = s.param, g = s.grad;
      a.param = f32(p.data(), {n}), a.grad = f32(g.data(), {n});
      a.m = {m.data(), DType::kBF16, {n}}, a.v = {v.data(), DType::kBF16, {n}};
      adamw({}, a);
      EXPECT_TRUE(param.download() == p);
      EXPECT_TRUE(device_m.download() == m);
      EXPECT_TRUE(device_v.download() == v);
    }
  }
}

TEST(a_scale_that_is_nan_skips_the_step) {
  NEEDS_DEVICE;
  const State state(5000);
  for (const Outcome& out : {on_cpu(state, arguments(3), std::nanf("")), on_device(state, arguments(3), std::nanf(""))}) {
    EXPECT_TRUE(out.param == state.param && out.m == state.m && out.v == state.v);
    EXPECT_EQ(out.change, 0.0);
    EXPECT_TRUE(std::count(out.rounded.begin(), out.rounded.end(), 0xffff) == int64_t(out.rounded.size()));
  }
}

TEST(a_packed_copy_is_f32_where_it_is_wanted_and_any_address_will_do) {
  NEEDS_DEVICE;
  const int64_t n = 100;
  const DeviceArray<float> param(random_floats(n)), m(std::vector<float>(n, 0.0f)), v(std::vector<float>(n, 0.0f));
  const DeviceArray<float> grad(random_floats(n)), packed(n + 1);
  AdamWArgs a = arguments(1);
  a.param = param.view(DType::kF32, {n}), a.m = m.view(DType::kF32, {n}), a.v = v.view(DType::kF32, {n});
  a.grad = grad.view(DType::kF32, {n});
  a.packed = f32(packed.data() + 1, {n});  // not 16-byte aligned
  adamw(device_stream(), a);
  std::vector<float> wanted = param.download(), got = packed.download();
  EXPECT_TRUE(std::isnan(got[0]));
  got.erase(got.begin());
  EXPECT_TRUE(got == wanted);
  a.packed = f32(packed.data(), {n - 1});
  EXPECT_THROWS(adamw(device_stream(), a), Code::kShape);
  std::vector<float> host = random_floats(n);
  const TensorView here = f32(host.data(), {n});
  EXPECT_THROWS(adamw({}, {.param = here, .m = here, .v = here, .grad = here, .packed = here}), Code::kInternal);
}

namespace {

/// On the device, computes the sum of squares of x, then that of 2 x plus that of x, and the clip factor for
/// both totals.
float scale_on_device(const std::vector<float>& x, double clip, double& total) {
  const auto n = int64_t(x.size());
  std::vector<float> twice = x;
  for (float& value : twice) value *= 2.0f;
  const DeviceArray<float> a(x), b(twice), scale(1);
  const DeviceArray<double> totals(2);
  Arena scratch(std::max<int64_t>(64, sum_of_squares_scratch_bytes(device_stream(), n)), "test", Memory::kDevice);
  TensorView first = totals.view(DType::kF64, {1}), second = first;
  second.data = totals.data() + 1;
  sum_of_squares(device_stream(), {a.view(DType::kF32, {n}), first, &scratch});
  sum_of_squares(device_stream(), {b.view(DType::kF32, {n}), second, &scratch});
  sum_of_squares(device_stream(), {a.view(DType::kF32, {n}), second, &scratch, true});
  gradient_scale(device_stream(), {totals.view(DType::kF64, {2}), scale.view(DType::kF32, {1}), clip});
  total = totals.download()[0];
  return scale.download()[0];
}

}  // namespace

TEST(norms_and_the_clip_factor_stay_on_the_device) {
  NEEDS_DEVICE;
  for (const int64_t n : {int64_t(0), int64_t(1), int64_t(13), int64_t(16385), int64_t(300000)}) {
    const std::vector<float> x = random_floats(n);
    const double squares = sum_of_squares({}, f32(x.data(), {n})), norm = std::sqrt(6 * squares);
    for (const double clip : {0.0, 0.3, 1e9}) {
      double total = -1;
      const float scale = scale_on_device(x, clip, total);
      EXPECT_NEAR(total, squares, 1e-12 * squares);
      EXPECT_EQ(scale, clip > 0 ? float(std::min(1.0, clip / (norm + 1e-6))) : 1.0f);
    }
  }
}

TEST(a_value_that_is_not_finite_makes_the_factor_nan) {
  NEEDS_DEVICE;
  for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    std::vector<float> x = random_floats(20000);
    x[19999] = bad;
    double total = 0;
    EXPECT_TRUE(std::isnan(scale_on_device(x, 0.3, total)));
    EXPECT_TRUE(!std::isfinite(total));
  }
}

TEST(what_needs_the_host_is_refused) {
  NEEDS_DEVICE;
  const DeviceArray<float> x(64);
  EXPECT_THROWS(sum_of_squares(device_stream(), x.view(DType::kF32, {64})), Code::kInternal);
}

}  // namespace kernels_cuda_optimizer_test
