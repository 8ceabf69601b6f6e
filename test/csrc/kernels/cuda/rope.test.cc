// RoPE on a device, compared with the CPU op: sums of two products, rounded once to bf16.
//
// Faults put into the code, each detected: sine's sign not changed (inverse); the tail of half a head not
// written (head dim 20); the table's row chosen by token instead of position; the lower value overwritten
// before the upper one has read it.
#include "kernels/rope.h"

#include "device.h"

namespace kernels_cuda_rope_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

struct Turn {
  int64_t tokens, heads, dim, stride, places;
  bool interleaved = false;
  std::vector<float> x, table;
  std::vector<int32_t> positions;

  Turn(int64_t T, int64_t N, int64_t D, int64_t gap, int64_t P = 50)
      : tokens(T), heads(N), dim(D), stride(N * D + gap), places(P), x(rounded_to_bf16(random_floats(T * stride))),
        table(static_cast<size_t>(P * D)) {
    for (int64_t p = 0; p < P; ++p) {
      for (int64_t i = 0; i < D / 2; ++i) {
        const float angle = float(p) * std::pow(10000.0f, -2.0f * float(i) / float(D));
        table[size_t(p * D + i)] = std::cos(angle);
        table[size_t(p * D + D / 2 + i)] = std::sin(angle);
      }
    }
    for (int64_t t = 0; t < T; ++t) positions.push_back(int32_t(random_int(0, P - 1)));
  }
  std::vector<float> on_cpu(bool inverse) const {
    std::vector<float> out = x;
    rope({}, {with_stride(f32(out.data(), {tokens, heads, dim}), stride), i32(positions.data(), {tokens}),
              f32(table.data(), {places, dim}), inverse, interleaved});
    return out;
  }
  std::vector<uint16_t> on_device(bool inverse) const {
    const DeviceArray<uint16_t> out(to_bf16(x));
    const DeviceArray<float> rows(table);
    const DeviceArray<int32_t> at(positions);
    rope(device_stream(), {with_stride(out.view(DType::kBF16, {tokens, heads, dim}), stride),
                           at.view(DType::kI32, {tokens}), rows.view(DType::kF32, {places, dim}), inverse, interleaved});
    return out.download();
  }
};

}  // namespace

TEST(both_directions_match_the_cpu) {
  NEEDS_DEVICE;
  for (Turn turn : {Turn(1, 1, 2, 0), Turn(7, 3, 64, 8), Turn(40, 2, 128, 128), Turn(5, 4, 20, 3), Turn(3, 1, 48, 0)}) {
    for (const bool inverse : {false, true}) for (const bool neighbours : {false, true}) {
      turn.interleaved = neighbours;
      expect_rounded(turn.on_device(inverse), turn.on_cpu(inverse), 1e-6, inverse ? "inverse" : "forward");
    }
  }
}

TEST(no_tokens_are_no_work) {
  NEEDS_DEVICE;
  EXPECT_TRUE(Turn(0, 2, 64, 0).on_device(false).empty());
}

TEST(a_token_alone_has_the_bits_it_has_among_others) {
  NEEDS_DEVICE;
  const Turn turn(9, 2, 64, 8);
  Turn one = turn;
  one.tokens = 1;
  one.x.assign(turn.x.end() - turn.stride, turn.x.end());
  one.positions = {turn.positions.back()};
  const std::vector<uint16_t> all = turn.on_device(false), alone = one.on_device(false);
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.end() - turn.stride));
}

}  // namespace kernels_cuda_rope_test
