// Gates of heads and of rows on a device, compared with the CPU ops on the same values.
#include "kernels/head_gate.h"

#include <array>
#include <cmath>

#include "each_way.h"

namespace kernels_cuda_head_gate_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

TEST(heads_and_gates_are_split_and_joined_as_on_the_cpu) {
  NEEDS_DEVICE;
  for (const auto& [H, D, rest] : {std::array<int64_t, 3>{3, 8, 16}, {2, 5, 3}, {1, 12, 0}}) {
    const int64_t rows = 5, width = 2 * H * D + rest;
    const std::vector<float> joined = rounded_to_bf16(random_floats(rows * width));
    std::vector<float> heads = poison(rows * (H * D + rest)), gates = poison(rows * H * D);
    split_gated_heads({}, {f32(joined.data(), {rows, width}), f32(heads.data(), {rows, H * D + rest}), f32(gates.data(), {rows, H * D}), D});
    const DeviceArray<uint16_t> whole(to_bf16(joined)), some(rows * (H * D + rest)), others(rows * H * D), back(rows * width);
    const auto args = [&, h = H, d = D, r = rest](const DeviceArray<uint16_t>& all) {
      return GatedHeads{all.view(DType::kBF16, {rows, width}), some.view(DType::kBF16, {rows, h * d + r}), others.view(DType::kBF16, {rows, h * d}), d};
    };
    split_gated_heads(device_stream(), args(whole));
    join_gated_heads(device_stream(), args(back));
    EXPECT_TRUE(some.download() == to_bf16(heads) && others.download() == to_bf16(gates));
    EXPECT_TRUE(back.download() == to_bf16(joined));
  }
}

TEST(the_gate_of_heads_and_its_gradient_are_the_cpus_also_in_place) {
  NEEDS_DEVICE;
  for (const int64_t width : {1, 16, 37}) {
    const int64_t rows = 7, n = rows * width;
    std::vector<float> x = rounded_to_bf16(random_floats(n)), gate = rounded_to_bf16(random_floats(n, 3.0f)), dy = rounded_to_bf16(random_floats(n));
    x[0] = std::nanf("");
    std::vector<float> y = poison(n), dx = poison(n), dgate = poison(n);
    const auto host = [&](const std::vector<float>& v) { return f32(v.data(), {rows, width}); };
    head_gate({}, {host(x), host(gate), host(y)});
    head_gate_grad({}, {host(x), host(gate), host(dy), host(dx), host(dgate)});
    const DeviceArray<uint16_t> ax(to_bf16(x)), agate(to_bf16(gate)), ady(to_bf16(dy)), ay(n), adgate(n);
    const auto view = [&](const DeviceArray<uint16_t>& a) { return a.view(DType::kBF16, {rows, width}); };
    head_gate(device_stream(), {view(ax), view(agate), view(ay)});
    head_gate_grad(device_stream(), {view(ax), view(agate), view(ady), view(ady), view(adgate)});
    expect_rounded(ay.download(), y, 1e-6, "y");
    expect_rounded(ady.download(), dx, 1e-6, "dx");
    expect_rounded(adgate.download(), dgate, 1e-6, "dgate");
  }
}

TEST(the_gate_of_rows_and_its_gradient_are_the_cpus_also_in_place) {
  NEEDS_DEVICE;
  for (const int64_t width : {1, 16, 37, 520}) {
    const int64_t rows = 9, n = rows * width;
    const std::vector<float> x = rounded_to_bf16(random_floats(n)), gated = rounded_to_bf16(random_floats(n)), gate = random_floats(rows, 3.0f);
    std::vector<float> y = x, inner = x, dgate = gate;
    row_gate({}, {f32(gate.data(), {rows, 1}), f32(y.data(), {rows, width})});
    row_gate_grad({}, {f32(dgate.data(), {rows, 1}), f32(gated.data(), {rows, width}), f32(inner.data(), {rows, width}), f32(dgate.data(), {rows, 1})});
    const DeviceArray<uint16_t> ay(to_bf16(x)), ainner(to_bf16(x)), agated(to_bf16(gated));
    const DeviceArray<float> agate(gate);
    row_gate(device_stream(), {agate.view(DType::kF32, {rows, 1}), ay.view(DType::kBF16, {rows, width})});
    row_gate_grad(device_stream(), {agate.view(DType::kF32, {rows, 1}), agated.view(DType::kBF16, {rows, width}), ainner.view(DType::kBF16, {rows, width}),
                                    agate.view(DType::kF32, {rows, 1})});
    expect_rounded(ay.download(), y, 1e-6, "y");
    expect_rounded(ainner.download(), inner, 1e-6, "x");
    const std::vector<float> got = agate.download();
    for (size_t r = 0; r < got.size(); ++r) EXPECT_NEAR(got[r], dgate[r], 1e-5 * (1 + std::fabs(dgate[r])));
  }
}

}  // namespace kernels_cuda_head_gate_test
