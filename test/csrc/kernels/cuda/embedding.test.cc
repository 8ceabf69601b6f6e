// Embedding on a device: rows are rounded once; gradients have the CPU's bits, since both sum in ascending
// order.
//
// Faults put into the code, each detected: the first barrier removed (poisoned shared memory then names rows
// that do not exist); the second barrier removed (gradients, over 256 tokens); a later token's block not
// stopped (gradients); columns beyond 2048 left out (gradients).
#include "kernels/embedding.h"

#include "device.h"

namespace kernels_cuda_embedding_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

std::vector<int32_t> random_ids(int64_t tokens, int64_t vocabulary) {
  std::vector<int32_t> ids;
  for (int64_t t = 0; t < tokens; ++t) ids.push_back(int32_t(random_int(0, vocabulary - 1)));
  return ids;
}

}  // namespace

TEST(rows_are_the_tables_rounded_to_bf16) {
  NEEDS_DEVICE;
  for (const int64_t width : {1, 8, 43, 64}) {
    const int64_t T = 30, V = 11, stride = width + 8;
    const std::vector<float> table = random_floats(V * width);
    const std::vector<int32_t> ids = random_ids(T, V);
    const DeviceArray<float> f(table);
    const DeviceArray<uint16_t> b(to_bf16(table)), x(T * stride), y(T * stride);
    const DeviceArray<int32_t> at(ids);
    const auto rows = [&](const DeviceArray<uint16_t>& v) { return with_stride(v.view(DType::kBF16, {T, width}), stride); };
    embedding(device_stream(), {at.view(DType::kI32, {T}), f.view(DType::kF32, {V, width}), rows(x)});
    embedding(device_stream(), {at.view(DType::kI32, {T}), b.view(DType::kBF16, {V, width}), rows(y)});
    std::vector<uint16_t> wanted(size_t(T * stride), 0xffff);
    for (int64_t t = 0; t < T; ++t) {
      for (int64_t c = 0; c < width; ++c) wanted[size_t(t * stride + c)] = f32_to_bf16(table[size_t(ids[size_t(t)] * width + c)]);
    }
    EXPECT_TRUE(x.download() == wanted);
    EXPECT_TRUE(y.download() == wanted);
  }
}

TEST(gradients_are_the_cpus_bits) {
  NEEDS_DEVICE;
  const int64_t shapes[][3] = {{1, 3, 8}, {40, 5, 64}, {600, 7, 16}, {9, 4, 43}, {12, 6, 2056}};
  for (const auto& [T, V, width] : shapes) {
    const std::vector<float> dx = rounded_to_bf16(random_floats(T * width));
    const std::vector<int32_t> ids = random_ids(T, V);
    std::vector<float> dtable = random_floats(V * width);
    const DeviceArray<uint16_t> adx(to_bf16(dx));
    const DeviceArray<float> adtable(dtable);
    const DeviceArray<int32_t> at(ids);
    embedding_grad({}, {i32(ids.data(), {T}), f32(dx.data(), {T, width}), f32(dtable.data(), {V, width})});
    embedding_grad(device_stream(), {at.view(DType::kI32, {T}), adx.view(DType::kBF16, {T, width}),
                                     adtable.view(DType::kF32, {V, width})});
    const std::vector<float> got = adtable.download();
    EXPECT_TRUE(same_bits(got.data(), dtable.data(), V * width));
  }
}

TEST(no_tokens_are_no_work) {
  NEEDS_DEVICE;
  const DeviceArray<float> table(random_floats(8));
  const DeviceArray<int32_t> ids(0);
  const DeviceArray<uint16_t> x(0);
  const TensorView none = ids.view(DType::kI32, {0}), empty = x.view(DType::kBF16, {0, 8});
  embedding(device_stream(), {none, table.view(DType::kF32, {1, 8}), empty});
  embedding_grad(device_stream(), {none, empty, table.view(DType::kF32, {1, 8})});
}

}  // namespace kernels_cuda_embedding_test
