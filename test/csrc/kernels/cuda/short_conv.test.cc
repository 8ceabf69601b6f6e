// The short convolution on a device, compared with the CPU op on the same values, and the bits of a sequence in one call with
// those in several calls.
#include "kernels/short_conv.h"

#include <algorithm>
#include <cmath>

#include "each_way.h"

namespace kernels_cuda_short_conv_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

namespace {

std::vector<uint16_t> on_device(const std::vector<float>& x, const std::vector<float>& conv, const std::vector<int32_t>& cu, int64_t C, int64_t taps,
                                float* const* states = nullptr) {
  const int64_t rows = cu.back();
  const DeviceArray<uint16_t> in(to_bf16(x)), y(rows * C);
  const DeviceArray<float> w(conv);
  const DeviceArray<int32_t> starts(cu);
  short_conv(device_stream(), {.x = in.view(DType::kBF16, {rows, 3 * C}), .conv = w.view(DType::kF32, {C, taps}),
                               .runs = {starts.view(DType::kI32, {int64_t(cu.size())}), states}, .y = y.view(DType::kBF16, {rows, C})});
  return y.download();
}

}  // namespace

TEST(outputs_and_gradients_are_the_cpus) {
  NEEDS_DEVICE;
  for (const auto& [C, taps] : {std::pair<int64_t, int64_t>{37, 3}, {8, 1}, {5, 8}}) {
    const std::vector<int32_t> cu{0, 1, 90, 90, 96};
    const int64_t rows = cu.back();
    const std::vector<float> x = rounded_to_bf16(random_floats(rows * 3 * C)), conv = random_floats(C * taps), dy = rounded_to_bf16(random_floats(rows * C)),
                             before = random_floats(C * taps);
    std::vector<float> y = poison(rows * C), dx = poison(rows * 3 * C), dconv = before;
    Arena arena(short_conv_scratch_bytes({}, rows, C, taps), "test");
    const auto starts = i32(cu.data(), {5});
    short_conv({}, {.x = f32(x.data(), {rows, 3 * C}), .conv = f32(conv.data(), {C, taps}), .runs = {starts}, .y = f32(y.data(), {rows, C}), .scratch = &arena});
    short_conv_grad({}, {.x = f32(x.data(), {rows, 3 * C}), .conv = f32(conv.data(), {C, taps}), .cu_rows = starts, .dy = f32(dy.data(), {rows, C}),
                         .dx = f32(dx.data(), {rows, 3 * C}), .dconv = f32(dconv.data(), {C, taps}), .scratch = &arena});
    expect_rounded(on_device(x, conv, cu, C, taps), y, 1e-5, "y");
    Arena scratch(short_conv_scratch_bytes(device_stream(), rows, C, taps), "test", Memory::kDevice);
    const DeviceArray<uint16_t> ax(to_bf16(x)), ady(to_bf16(dy)), adx(rows * 3 * C);
    const DeviceArray<float> aconv(conv), adconv(before);
    const DeviceArray<int32_t> acu(cu);
    short_conv_grad(device_stream(), {.x = ax.view(DType::kBF16, {rows, 3 * C}), .conv = aconv.view(DType::kF32, {C, taps}), .cu_rows = acu.view(DType::kI32, {5}),
                                      .dy = ady.view(DType::kBF16, {rows, C}), .dx = adx.view(DType::kBF16, {rows, 3 * C}),
                                      .dconv = adconv.view(DType::kF32, {C, taps}), .scratch = &scratch});
    expect_rounded(adx.download(), dx, 1e-5, "dx");
    const std::vector<float> got = adconv.download();
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], dconv[i], 1e-4);
  }
}

TEST(a_sequence_has_the_same_bits_however_its_rows_are_divided_among_calls) {
  NEEDS_DEVICE;
  constexpr int64_t C = 13, rows = 20;
  for (const int64_t taps : {1, 3, 8}) {
    const std::vector<float> x = rounded_to_bf16(random_floats(rows * 3 * C)), conv = random_floats(C * taps);
    const std::vector<uint16_t> whole = on_device(x, conv, {0, rows}, C, taps);
    const DeviceArray<float> state(std::vector<float>(size_t(std::max<int64_t>(1, (taps - 1) * C)), 0.0f));
    const DeviceArray<float*> states(std::vector<float*>{state.data()});
    std::vector<uint16_t> y;
    for (int64_t at = 0; at < rows;) {
      const int64_t n = std::min<int64_t>(random_int(1, 9), rows - at);
      const std::vector<uint16_t> out = on_device({x.begin() + at * 3 * C, x.begin() + (at + n) * 3 * C}, conv, {0, int32_t(n)}, C, taps, states.data());
      y.insert(y.end(), out.begin(), out.end());
      at += n;
    }
    EXPECT_TRUE(y == whole);
  }
}

}  // namespace kernels_cuda_short_conv_test
