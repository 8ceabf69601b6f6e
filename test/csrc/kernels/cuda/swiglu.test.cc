// SwiGLU on a device, compared with the CPU op; the two exponentials differ by 2 units in the last place of
// f32.
//
// Faults put into the code, each detected: `up` read from the gate's half; 1 - s left out of the slope; a
// whole vector written at a row's tail (AddressSanitizer, width 5); a gradient of a clamped `up`.
#include "kernels/swiglu.h"

#include <algorithm>

#include "each_way.h"

namespace kernels_cuda_swiglu_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

namespace {

/// limit 0: the plain gate.
void expect_matches(int64_t rows, int64_t width, int64_t gap, float limit = 0.0f) {
  const int64_t stride = 2 * width + gap, narrow = width + gap;
  std::vector<float> gate_up = rounded_to_bf16(random_floats(rows * stride, 3.0f));
  std::vector<float> dy = rounded_to_bf16(random_floats(rows * narrow)), y = poison(rows * narrow), dgate = poison(rows * stride);
  const auto both = [&](std::vector<float>& v) { return with_stride(f32(v.data(), {rows, 2 * width}), stride); };
  const auto one = [&](std::vector<float>& v) { return with_stride(f32(v.data(), {rows, width}), narrow); };
  swiglu({}, {.gate_up = both(gate_up), .y = one(y), .limit = limit});
  swiglu_grad({}, {.gate_up = both(gate_up), .dy = one(dy), .dgate_up = both(dgate), .limit = limit});

  const DeviceArray<uint16_t> agate(to_bf16(gate_up)), ady(to_bf16(dy)), ay(rows * narrow), adgate(rows * stride);
  const auto wide = [&](const DeviceArray<uint16_t>& v) { return with_stride(v.view(DType::kBF16, {rows, 2 * width}), stride); };
  const auto single = [&](const DeviceArray<uint16_t>& v) { return with_stride(v.view(DType::kBF16, {rows, width}), narrow); };
  swiglu(device_stream(), {.gate_up = wide(agate), .y = single(ay), .limit = limit});
  swiglu_grad(device_stream(), {.gate_up = wide(agate), .dy = single(ady), .dgate_up = wide(adgate), .limit = limit});
  // Values reach 100, of which f32 has seven digits.
  expect_rounded(ay.download(), y, 2e-5, "y");
  expect_rounded(adgate.download(), dgate, 2e-5, "dgate_up");
  const DeviceArray<uint16_t> again(rows * narrow);  // in place, with the forward's output
  swiglu_grad(device_stream(), {.gate_up = wide(agate), .dy = single(ady), .dgate_up = wide(agate), .y = single(again), .limit = limit});
  EXPECT_TRUE(again.download() == ay.download());
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
  // a third of the values, of up to 3, are clamped
  for (const auto& s : shapes) expect_matches(s[0], s[1], s[2], 2.0f);
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
  // The CPU clamps the exponent at 88, so that a value that should be 0 is 6e-9 there.
  for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(got[i], wanted[i], bf16_rounding(double(wanted[i])) + 1e-7);
}

#ifdef HONE_HAVE_CUDA

namespace {

struct Shape {
  int64_t rows, width, k;
  bool gelu;
};

/// y and gate_up, computed by linear and then swiglu, or by one op that does both; gate_up is NaN where it is
/// not written.
std::vector<std::vector<uint16_t>> gated_product(const Shape& s, const DeviceArray<uint16_t>& x, const DeviceArray<uint16_t>& w,
                                                 bool at_once, bool keep) {
  const int64_t pitch = 2 * s.width + 8;
  const DeviceArray<uint16_t> gate_up(s.rows * pitch), y(s.rows * s.width);
  Arena scratch(int64_t(4) << 20, "test", Memory::kDevice);
  const TensorView both = with_stride(gate_up.view(DType::kBF16, {s.rows, 2 * s.width}), pitch);
  const TensorView in = x.view(DType::kBF16, {s.rows, s.k}), out = y.view(DType::kBF16, {s.rows, s.width});
  const PackedMatrix matrix{2 * s.width, s.k, DType::kBF16, w.data()};
  if (at_once) {
    linear_swiglu(device_stream(), {in, matrix, both, out, s.gelu, keep, &scratch});
  } else {
    linear(device_stream(), {.x = in, .w = matrix, .bias = {}, .y = both, .scratch = &scratch});
    swiglu(device_stream(), {both, out, s.gelu});
  }
  return {y.download(), gate_up.download()};
}

}  // namespace

TEST(a_product_and_its_gates_at_once_have_the_bits_of_one_after_the_other) {
  NEEDS_DEVICE;
  const Shape shapes[] = {{1, 64, 64, false}, {17, 72, 2112, false}, {70, 136, 1096, true}, {257, 64, 136, false}};
  each_way([&] {
    for (const Shape& s : shapes) {
      const DeviceArray<uint16_t> x(to_bf16(random_floats(s.rows * s.k))), w(to_bf16(random_floats(2 * s.width * s.k)));
      const auto apart = gated_product(s, x, w, false, true), kept = gated_product(s, x, w, true, true);
      EXPECT_TRUE(apart == kept);
      EXPECT_TRUE(apart[0] == gated_product(s, x, w, true, false)[0]);
      EXPECT_TRUE(std::none_of(apart[0].begin(), apart[0].end(), [](uint16_t v) { return v == 0xffff; }));
    }
  });
}

#endif

}  // namespace kernels_cuda_swiglu_test
