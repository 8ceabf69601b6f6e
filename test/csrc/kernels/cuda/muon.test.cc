// Muon on a device compared with the CPU op: momentum to the bit, the update within the rounding of its
// products to bf16.
//
// Faults put into the code, each detected: no Nesterov term; a X from the rounded X (low rank); NaN written
// to momentum or weights; Gram matrix not zeroed; gain without its lower limit of 1; either clip factor left
// out; no decay; no scratch for pieces.
#include <tuple>

#include "device.h"
#include "kernels/optimizer.h"

namespace kernels_cuda_muon_test {

#ifdef HONE_HAVE_CUDA

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

struct MuonState {
  int64_t rows, columns;
  std::vector<float> param, buffer, grad;
};

/// A random state. If `rank` is given, the gradient has that rank and there is no momentum yet, as in a first
/// step.
MuonState muon_state(int64_t rows, int64_t columns, int64_t rank = 0) {
  const int64_t n = rows * columns;
  MuonState s{rows, columns, random_floats(n), random_floats(n), random_floats(n)};
  if (rank == 0) return s;
  const std::vector<float> left = random_floats(rows * rank), right = random_floats(rank * columns);
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < rank; ++j) sum += double(left[size_t(i / columns * rank + j)]) * double(right[size_t(j * columns + i % columns)]);
    s.grad[size_t(i)] = float(sum);
  }
  s.buffer.assign(size_t(n), 0.0f);
  return s;
}

struct MuonOutcome {
  std::vector<float> param, buffer;
  double change;
  std::vector<uint16_t> rounded{};  // on the device: the packed copy; 0xffff where nothing was written
};

MuonArgs muon_arguments() {
  MuonArgs a{};
  a.lr = 0.1f, a.momentum = 0.9f, a.weight_decay = 0.05f, a.grad_scale = 0.7f;
  return a;
}

MuonOutcome muon_on_cpu(MuonState s, float scale) {
  double change = -1;
  MuonArgs a = muon_arguments();
  a.param = f32(s.param.data(), {s.rows, s.columns}), a.momentum_buffer = f32(s.buffer.data(), {s.rows, s.columns});
  a.grad = f32(s.grad.data(), {s.rows, s.columns}), a.scale = f32(&scale, {1});
  a.squared_change = {&change, DType::kF64, {1}};
  muon({}, a);
  return {s.param, s.buffer, change};
}

MuonOutcome muon_on_device(const MuonState& s, float scale) {
  const DeviceArray<float> param(s.param), buffer(s.buffer), grad(s.grad), factor(std::vector<float>{scale});
  const DeviceArray<double> change(1);
  Arena scratch(muon_scratch_bytes(device_stream(), s.rows, s.columns), "test", Memory::kDevice);
  MuonArgs a = muon_arguments();
  a.param = param.view(DType::kF32, {s.rows, s.columns}), a.momentum_buffer = buffer.view(DType::kF32, {s.rows, s.columns});
  a.grad = grad.view(DType::kF32, {s.rows, s.columns}), a.scale = factor.view(DType::kF32, {1});
  const DeviceArray<uint16_t> rounded(s.rows * s.columns);
  a.squared_change = change.view(DType::kF64, {1}), a.scratch = &scratch;
  a.packed = rounded.view(DType::kBF16, {s.rows * s.columns});
  muon(device_stream(), a);
  EXPECT_EQ(scratch.used(), 0);
  return {param.download(), buffer.download(), change.download()[0], rounded.download()};
}

/// |a - b| / |b - start|: the error of an update, relative to the update.
double update_error(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& start) {
  double error = 0, update = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    error += (double(a[i]) - double(b[i])) * (double(a[i]) - double(b[i]));
    update += (double(b[i]) - double(start[i])) * (double(b[i]) - double(start[i]));
  }
  return std::sqrt(error / update);
}

}  // namespace

// A step rounds G twice, P and X once, by 2^-9 / sqrt(3) rms each: with |b| = 4.8 and c = 2 that changes the
// singular values of X by 1.2 % rms; five steps, in which the polynomial's slope is about 1, make it 3 % of
// the update, and never 6 %. Directions in which the gradient is 0 stay 0: rounding reaches X only through P,
// whose rank is as low.
TEST(muon_is_the_cpus_within_the_rounding_of_its_products) {
  NEEDS_DEVICE;
  const std::tuple<int64_t, int64_t, int64_t> shapes[] = {{40, 1, 0},  {24, 70, 0}, {70, 23, 0},
                                                          // k is divided into pieces
                                                          {40, 40, 3}, {48, 24, 2}, {8, 1160, 0}};
  for (const auto& [rows, columns, rank] : shapes) {
    const MuonState state = muon_state(rows, columns, rank);
    const MuonOutcome wanted = muon_on_cpu(state, 0.5f), got = muon_on_device(state, 0.5f);
    EXPECT_TRUE(got.buffer == wanted.buffer);
    const double error = update_error(got.param, wanted.param, state.param);
    EXPECT_TRUE(error < (rank ? 0.02 : 0.06));
    double change = 0;
    for (size_t i = 0; i < got.param.size(); ++i) {
      change += (double(got.param[i]) - double(state.param[i])) * (double(got.param[i]) - double(state.param[i]));
    }
    EXPECT_NEAR(got.change, change, 1e-6 * change);
    for (size_t i = 0; i < got.param.size(); ++i) EXPECT_EQ(got.rounded[i], f32_to_bf16(got.param[i]));
  }
}

TEST(muon_with_a_scale_that_is_nan_changes_nothing_and_a_zero_gradient_no_weight) {
  NEEDS_DEVICE;
  const MuonState state = muon_state(24, 16);
  const MuonOutcome skipped = muon_on_device(state, std::nanf(""));
  EXPECT_TRUE(skipped.param == state.param && skipped.buffer == state.buffer);
  EXPECT_EQ(skipped.change, 0.0);
  EXPECT_TRUE(skipped.rounded == std::vector<uint16_t>(skipped.rounded.size(), 0xffff));
  MuonState still = state;
  still.buffer.assign(still.buffer.size(), 0.0f), still.grad = still.buffer;
  const MuonOutcome wanted = muon_on_cpu(still, 1.0f), got = muon_on_device(still, 1.0f);
  EXPECT_TRUE(got.param == wanted.param);  // the weights only decay
}

TEST(muon_without_scratch_is_refused) {
  NEEDS_DEVICE;
  const DeviceArray<float> x(64);
  const TensorView matrix = x.view(DType::kF32, {8, 8});
  EXPECT_THROWS(muon(device_stream(), {.param = matrix, .momentum_buffer = matrix, .grad = matrix}), Code::kInternal);
}

#else
TEST(cuda_muon) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_muon_test
