// SwiGLU on a device against the CPU op; the two exponentials differ by 2 units in the last place of f32.
//
// Mutants tried, all killed: up taken from the gate's half; 1 - s left out of the slope; a row's tail written whole
// (AddressSanitizer, width 5).
#include "kernels/swiglu.h"

#include "device.h"

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

void expect_matches(int64_t rows, int64_t width, int64_t gap) {
  const int64_t stride = 2 * width + gap, narrow = width + gap;
  std::vector<float> gate_up = rounded_to_bf16(random_floats(rows * stride, 3.0f));
  std::vector<float> dy = rounded_to_bf16(random_floats(rows * narrow)), y = poison(rows * narrow), dgate = poison(rows * stride);
  const auto both = [&](std::vector<float>& v) { return with_stride(f32(v.data(), {rows, 2 * width}), stride); };
  const auto one = [&](std::vector<float>& v) { return with_stride(f32(v.data(), {rows, width}), narrow); };
  swiglu({}, {both(gate_up), one(y)});
  swiglu_grad({}, {both(gate_up), one(dy), both(dgate)});

  const DeviceArray<uint16_t> agate(to_bf16(gate_up)), ady(to_bf16(dy)), ay(rows * narrow), adgate(rows * stride);
  const auto wide = [&](const DeviceArray<uint16_t>& v) { return with_stride(v.view(DType::kBF16, {rows, 2 * width}), stride); };
  const auto single = [&](const DeviceArray<uint16_t>& v) { return with_stride(v.view(DType::kBF16, {rows, width}), narrow); };
  swiglu(device_stream(), {wide(agate), single(ay)});
  swiglu_grad(device_stream(), {wide(agate), single(ady), wide(adgate)});
  // Values reach 100; f32 carries seven digits of them.
  expect_rounded(ay.download(), y, 2e-5, "y");
  expect_rounded(adgate.download(), dgate, 2e-5, "dgate_up");
  swiglu_grad(device_stream(), {wide(agate), single(ady), wide(agate)});  // in place
  std::vector<float> in_place = gate_up;
  for (size_t i = 0; i < in_place.size(); ++i) {
    if (int64_t(i) % stride < 2 * width) in_place[i] = dgate[i];
  }
  expect_rounded(agate.download(), in_place, 2e-5, "in place");
}

}  // namespace

TEST(both_directions_match_the_cpu) {
  NEEDS_DEVICE;
  const int64_t shapes[][3] = {{1, 1, 0}, {3, 8, 8}, {70, 64, 0}, {5, 41, 3}, {2, 520, 8}, {4, 5, 0}, {0, 16, 0}};
  for (const auto& s : shapes) expect_matches(s[0], s[1], s[2]);
}

TEST(extreme_gates_are_finite) {
  NEEDS_DEVICE;
  const std::vector<float> gates{100.0f, -100.0f, 0.0f, 88.0f, -88.0f, 1e30f, -1e30f, 1.0f};
  std::vector<float> both = rounded_to_bf16(gates);
  both.resize(16, 1.0f);
  const DeviceArray<uint16_t> in(to_bf16(both)), y(8);
  swiglu(device_stream(), {in.view(DType::kBF16, {1, 16}), y.view(DType::kBF16, {1, 8})});
  std::vector<float> wanted(8);
  swiglu({}, {f32(both.data(), {1, 16}), f32(wanted.data(), {1, 8})});
  const std::vector<float> got = from_bf16(y.download());
  // The CPU clamps the exponent at 88: what should vanish is 6e-9 there.
  for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(got[i], wanted[i], bf16_rounding(double(wanted[i])) + 1e-7);
}

TEST_MAIN
