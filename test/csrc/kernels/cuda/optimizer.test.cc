// AdamW and the norms on a device. No multiplication is contracted on either side and square root and division are
// exact, so parameters and moments are the CPU's bits; sums in f64 differ by their order only.
//
// Mutants tried, all killed: the last strip's end not bounded in the sum of squares (AddressSanitizer); a NaN scale not
// looked at (skips); a norm that is not finite not looked at; the barrier of block_sum removed (sums); bias correction
// of v left out (bits); changes counted beyond the end (bits, eps 0).
#include "kernels/optimizer.h"

#include <tuple>

#include "device.h"

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
  a.squared_change = change.view(DType::kF64, {1}), a.scratch = &scratch;
  adamw(device_stream(), a);
  return {param.download(), m.download(), v.download(), change.download()[0]};
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
    }
  }
}

TEST(a_scale_that_is_nan_skips_the_step) {
  NEEDS_DEVICE;
  const State state(5000);
  for (const Outcome& out : {on_cpu(state, arguments(3), std::nanf("")), on_device(state, arguments(3), std::nanf(""))}) {
    EXPECT_TRUE(out.param == state.param && out.m == state.m && out.v == state.v);
    EXPECT_EQ(out.change, 0.0);
  }
}

namespace {

/// Squares of x and of 2 x on the device, then the clip factor of both.
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
  gradient_scale(device_stream(), {totals.view(DType::kF64, {2}), scale.view(DType::kF32, {1}), clip});
  total = totals.download()[0];
  return scale.download()[0];
}

}  // namespace

TEST(norms_and_the_clip_factor_stay_on_the_device) {
  NEEDS_DEVICE;
  for (const int64_t n : {int64_t(0), int64_t(1), int64_t(13), int64_t(16385), int64_t(300000)}) {
    const std::vector<float> x = random_floats(n);
    const double squares = sum_of_squares({}, f32(x.data(), {n})), norm = std::sqrt(5 * squares);
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

namespace {

struct MuonState {
  int64_t rows, columns;
  std::vector<float> param, buffer, grad;
};

/// Random; with a rank, a gradient of that rank and no momentum yet, as in a first step.
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
  a.squared_change = change.view(DType::kF64, {1}), a.scratch = &scratch;
  muon(device_stream(), a);
  EXPECT_EQ(scratch.used(), 0);
  return {param.download(), buffer.download(), change.download()[0]};
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

// A step rounds G twice, P and X once, relative to 2^-9 / sqrt(3) rms: with |b| = 4.8 and c = 2 that moves the singular
// values of X by 1.2 % rms; five steps with slopes of the polynomial about 1 make it 3 % of the update, and never 6 %.
// What the gradient has no part in stays 0: its rounding reaches X through P alone, which is as low in rank.
TEST(muon_is_the_cpus_within_the_rounding_of_its_products) {
  NEEDS_DEVICE;
  const std::tuple<int64_t, int64_t, int64_t> shapes[] = {{40, 1, 0},  {24, 70, 0}, {70, 23, 0},
                                                          {40, 40, 3}, {48, 24, 2}, {8, 1160, 0}};  // k in pieces
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
  }
}

TEST(muon_with_a_scale_that_is_nan_changes_nothing_and_a_zero_gradient_no_weight) {
  NEEDS_DEVICE;
  const MuonState state = muon_state(24, 16);
  const MuonOutcome skipped = muon_on_device(state, std::nanf(""));
  EXPECT_TRUE(skipped.param == state.param && skipped.buffer == state.buffer);
  EXPECT_EQ(skipped.change, 0.0);
  MuonState still = state;
  still.buffer.assign(still.buffer.size(), 0.0f), still.grad = still.buffer;
  const MuonOutcome wanted = muon_on_cpu(still, 1.0f), got = muon_on_device(still, 1.0f);
  EXPECT_TRUE(got.param == wanted.param);  // only decayed
}

TEST(what_needs_the_host_or_scratch_is_refused) {
  NEEDS_DEVICE;
  const DeviceArray<float> x(64);
  const TensorView matrix = x.view(DType::kF32, {8, 8}), flat = x.view(DType::kF32, {64});
  EXPECT_THROWS(muon(device_stream(), {.param = matrix, .momentum_buffer = matrix, .grad = matrix}), Code::kInternal);
  EXPECT_THROWS(sum_of_squares(device_stream(), flat), Code::kInternal);
}

TEST_MAIN
