// Gated DeltaNet on a device, compared with the CPU ops on the same values, and the bits of a sequence in one call with those in
// several calls. Sizes are odd: heads that fill no warp, runs without rows, chunks that rows do not fill.
//
// Faults put into the code, each detected: a gradient of q without the part of the row's own change; kept states of one run in
// the place of another's; rows of a short run that stay in a tail taken from the wrong place; a state that is not stored; the
// norm's gradient of q without its factor Dk; a gradient of z without SiLU's slope.
#include "kernels/delta_rule.h"

#include <algorithm>
#include <cmath>

#include "each_way.h"

namespace kernels_cuda_delta_rule_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

namespace {

constexpr DeltaSizes kSizes[] = {{1, 1, 4, 4, 4}, {2, 4, 5, 3, 4}, {2, 2, 16, 16, 2}, {1, 3, 20, 37, 3}, {1, 2, 128, 128, 4}};

/// Inputs that bf16 holds exactly, weights, and dy.
struct World {
  DeltaSizes s;
  std::vector<int32_t> cu;
  std::vector<float> x, conv, decay, dt, norm, dy;

  World(const DeltaSizes& sizes, std::vector<int32_t> starts) : s(sizes), cu(std::move(starts)) {
    x = rounded_to_bf16(random_floats(rows() * s.inputs(), 1.5f)), conv = random_floats(s.channels() * s.taps);
    decay = random_floats(s.value_heads), dt = random_floats(s.value_heads);
    norm = random_floats(s.value_dim), dy = rounded_to_bf16(random_floats(rows() * s.values()));
  }
  int64_t rows() const { return cu.back(); }
  int64_t runs() const { return int64_t(cu.size()) - 1; }
};

/// A layer's weights, or their gradients, in host or device memory.
template <class Floats>
struct Weights {
  Floats conv, decay, dt, norm;
  DeltaWeights view(const DeltaSizes& s) const {
    const auto of = [](const Floats& v, std::initializer_list<int64_t> dims) { return TensorView(const_cast<float*>(v.data()), DType::kF32, dims); };
    return {of(conv, {s.channels(), s.taps}), of(decay, {s.value_heads}), of(dt, {s.value_heads}), of(norm, {s.value_dim})};
  }
};
using HostWeights = Weights<std::vector<float>>;
using DeviceWeights = Weights<DeviceArray<float>>;

HostWeights weights_of(const World& w) { return {w.conv, w.decay, w.dt, w.norm}; }
HostWeights some_gradients(const DeltaSizes& s) {
  return {random_floats(s.channels() * s.taps), random_floats(s.value_heads), random_floats(s.value_heads), random_floats(s.value_dim)};
}
DeviceWeights on_device(const HostWeights& w) { return {w.conv, w.decay, w.dt, w.norm}; }
HostWeights downloaded(const DeviceWeights& w) { return {w.conv.download(), w.decay.download(), w.dt.download(), w.norm.download()}; }

Arena device_arena(int64_t rows, const DeltaSizes& s, bool backward = false) {
  const Stream stream = device_stream();
  const int64_t bytes = backward ? delta_rule_grad_scratch_bytes(stream, rows, s) : delta_rule_scratch_bytes(stream, rows, s);
  return Arena(std::max<int64_t>(bytes, 64), "test", Memory::kDevice);
}

std::vector<float> forward_on_cpu(const World& w) {
  Arena arena(delta_rule_scratch_bytes({}, w.rows(), w.s), "test");
  const HostWeights weights = weights_of(w);
  std::vector<float> y = poison(w.rows() * w.s.values());
  delta_rule({}, {.x = f32(w.x.data(), {w.rows(), w.s.inputs()}), .weights = weights.view(w.s), .runs = {i32(w.cu.data(), {w.runs() + 1})},
                  .y = f32(y.data(), {w.rows(), w.s.values()}), .sizes = w.s, .scratch = &arena});
  return y;
}

/// States of runs in device memory; null pointers for those that have none.
struct DeviceStates {
  std::vector<DeviceArray<float>> own;
  DeviceArray<float*> pointers;
  explicit DeviceStates(const std::vector<std::vector<float>>& states) : pointers(int64_t(states.size())) {
    std::vector<float*> at;
    for (const auto& state : states) own.emplace_back(state), at.push_back(own.back().data());
    pointers = DeviceArray<float*>(at);
  }
};

std::vector<uint16_t> forward_on_device(const DeltaSizes& s, const std::vector<float>& x, const HostWeights& w, const std::vector<int32_t>& cu,
                                        float* const* states = nullptr, int64_t offset = 0) {
  const int64_t rows = cu.back();
  Arena arena = device_arena(rows, s);
  const DeviceWeights weights = on_device(w);
  const DeviceArray<uint16_t> in(to_bf16(x)), y(rows * s.values());
  const DeviceArray<int32_t> starts(cu);
  delta_rule(device_stream(), {.x = in.view(DType::kBF16, {rows, s.inputs()}), .weights = weights.view(s),
                               .runs = {starts.view(DType::kI32, {int64_t(cu.size())}), states, offset},
                               .y = y.view(DType::kBF16, {rows, s.values()}), .sizes = s, .scratch = &arena});
  const std::vector<uint16_t> out = y.download();
  EXPECT_EQ(arena.used(), int64_t(0));
  return out;
}

/// dx and the gradients of the weights, added to `before`.
struct Gradient {
  std::vector<float> dx;
  HostWeights dweights;
};

Gradient gradient_on_cpu(const World& w, const HostWeights& before) {
  Arena arena(delta_rule_grad_scratch_bytes({}, w.rows(), w.s), "test");
  const HostWeights weights = weights_of(w);
  Gradient out{poison(int64_t(w.x.size())), before};
  delta_rule_grad({}, {.x = f32(w.x.data(), {w.rows(), w.s.inputs()}), .weights = weights.view(w.s), .cu_rows = i32(w.cu.data(), {w.runs() + 1}),
                       .dy = f32(w.dy.data(), {w.rows(), w.s.values()}), .dx = f32(out.dx.data(), {w.rows(), w.s.inputs()}),
                       .dweights = out.dweights.view(w.s), .sizes = w.s, .scratch = &arena});
  return out;
}

Gradient gradient_on_device(const World& w, const HostWeights& before) {
  Arena arena = device_arena(w.rows(), w.s, true);
  const DeviceWeights weights = on_device(weights_of(w)), dweights = on_device(before);
  const DeviceArray<uint16_t> x(to_bf16(w.x)), dy(to_bf16(w.dy)), dx(int64_t(w.x.size()));
  const DeviceArray<int32_t> cu(w.cu);
  delta_rule_grad(device_stream(), {.x = x.view(DType::kBF16, {w.rows(), w.s.inputs()}), .weights = weights.view(w.s),
                                    .cu_rows = cu.view(DType::kI32, {w.runs() + 1}), .dy = dy.view(DType::kBF16, {w.rows(), w.s.values()}),
                                    .dx = dx.view(DType::kBF16, {w.rows(), w.s.inputs()}), .dweights = dweights.view(w.s), .sizes = w.s, .scratch = &arena});
  Gradient out{from_bf16(dx.download()), downloaded(dweights)};
  EXPECT_EQ(arena.used(), int64_t(0));
  EXPECT_EQ(arena.peak(), delta_rule_grad_scratch_bytes(device_stream(), w.rows(), w.s));
  return out;
}

/// slack: in units of 1 + |wanted|; rounded: `got` was rounded to bf16.
void expect_near(const std::vector<float>& got, const std::vector<float>& wanted, double slack, const char* what, bool rounded = false) {
  EXPECT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double allowed = slack * (1.0 + std::fabs(double(wanted[i]))) + (rounded ? bf16_rounding(wanted[i]) : 0.0);
    if (!(std::fabs(double(got[i]) - double(wanted[i])) <= allowed)) report(what, int(i), "is " + show(got[i]) + ", expected " + show(wanted[i]));
  }
}

}  // namespace

TEST(outputs_are_the_cpus_rounded_once) {
  NEEDS_DEVICE;
  for (const DeltaSizes& s : kSizes) {
    for (const auto& cu : {std::vector<int32_t>{0, 1, 12, 12, 20}, {0, 70}, {0, 0, 3}}) {
      if (s.key_dim == 128 && cu.back() > 50) continue;  // the emulated device takes seconds
      const World w(s, cu);
      expect_rounded(forward_on_device(s, w.x, weights_of(w), cu), forward_on_cpu(w), 2e-5, "y");
    }
  }
}

TEST(gradients_are_the_cpus) {
  NEEDS_DEVICE;
  for (const DeltaSizes& s : kSizes) {
    for (const auto& cu : {std::vector<int32_t>{0, 2, 2, 9}, {0, 66, 67, 133}, {0, 0, 5}}) {
      if (s.key_dim == 128) continue;  // see the next test
      const World w(s, cu);
      const HostWeights before = some_gradients(s);
      const Gradient got = gradient_on_device(w, before), wanted = gradient_on_cpu(w, before);
      expect_near(got.dx, wanted.dx, 2e-5, "dx", true);
      expect_near(got.dweights.conv, wanted.dweights.conv, 1e-4, "dconv");
      expect_near(got.dweights.decay, wanted.dweights.decay, 1e-4, "ddecay");
      expect_near(got.dweights.dt, wanted.dweights.dt, 1e-4, "ddt");
      expect_near(got.dweights.norm, wanted.dweights.norm, 1e-4, "dnorm");
    }
  }
}

TEST(gradients_of_the_largest_heads_over_several_chunks_are_the_cpus) {
  NEEDS_DEVICE;
  const World w({1, 1, 128, 128, 4}, {0, 66, 68});
  const HostWeights before = some_gradients(w.s);
  const Gradient got = gradient_on_device(w, before), wanted = gradient_on_cpu(w, before), again = gradient_on_device(w, before);
  expect_near(got.dx, wanted.dx, 2e-5, "dx", true);
  expect_near(got.dweights.conv, wanted.dweights.conv, 1e-4, "dconv");
  EXPECT_TRUE(got.dx == again.dx && got.dweights.conv == again.dweights.conv && got.dweights.norm == again.dweights.norm);
}

TEST(a_sequence_has_the_same_bits_however_its_rows_are_divided_among_calls) {
  NEEDS_DEVICE;
  for (const DeltaSizes& s : kSizes) {
    const World w(s, {0, 13, 30});
    const std::vector<uint16_t> whole = forward_on_device(s, w.x, weights_of(w), w.cu);
    constexpr int64_t kBefore = 5;  // of the layer's states in a sequence's
    const int64_t floats = kBefore + s.state_floats() + 2;
    const std::vector<float> empty(size_t(floats), 0.0f);
    DeviceStates states({empty, empty});
    std::vector<uint16_t> y(whole.size());
    int64_t at[2] = {0, 13};
    while (at[0] < 13 || at[1] < 30) {
      // A call has a piece of each of two sequences, and a row that belongs to none, whose state is null.
      const int64_t rows[2] = {std::min<int64_t>(random_int(0, 9), 13 - at[0]), std::min<int64_t>(random_int(0, 9), 30 - at[1])};
      std::vector<float> x;
      for (const int which : {0, 1}) x.insert(x.end(), w.x.begin() + at[which] * s.inputs(), w.x.begin() + (at[which] + rows[which]) * s.inputs());
      x.insert(x.end(), w.x.begin(), w.x.begin() + s.inputs());
      const std::vector<int32_t> cu{0, int32_t(rows[0]), int32_t(rows[0] + rows[1]), int32_t(rows[0] + rows[1] + 1)};
      const DeviceArray<float*> pointers(std::vector<float*>{states.own[0].data(), states.own[1].data(), nullptr});
      const std::vector<uint16_t> out = forward_on_device(s, x, weights_of(w), cu, pointers.data(), kBefore);
      std::copy(out.begin(), out.begin() + cu[1] * s.values(), y.begin() + at[0] * s.values());
      std::copy(out.begin() + cu[1] * s.values(), out.begin() + cu[2] * s.values(), y.begin() + at[1] * s.values());
      EXPECT_TRUE(std::equal(out.begin() + cu[2] * s.values(), out.end(), whole.begin()));
      at[0] += rows[0], at[1] += rows[1];
    }
    EXPECT_TRUE(whole == y);
    for (const DeviceArray<float>& state : states.own) {
      const std::vector<float> floats_now = state.download();
      for (const size_t i : {0, 1, 2, 3, 4}) EXPECT_EQ(floats_now[i], 0.0f);
      for (size_t i = floats_now.size() - 2; i < floats_now.size(); ++i) EXPECT_EQ(floats_now[i], 0.0f);
    }
  }
}

TEST(states_are_the_cpus_and_not_a_number_stays_in_its_sequence) {
  NEEDS_DEVICE;
  const DeltaSizes s = kSizes[1];
  World w(s, {0, 7, 9});
  w.x[size_t(2 * s.inputs() + 2 * s.keys())] = std::nanf("");  // of v, which enters the state
  std::vector<float> first = random_floats(s.state_floats()), second = random_floats(s.state_floats());
  const std::vector<uint16_t> alone = forward_on_device(s, {w.x.begin() + 7 * s.inputs(), w.x.end()}, weights_of(w), {0, 2}, DeviceStates({second}).pointers.data());
  const DeviceStates states({first, second});
  const std::vector<uint16_t> y = forward_on_device(s, w.x, weights_of(w), w.cu, states.pointers.data());
  EXPECT_TRUE(std::isnan(bf16_to_f32(y[size_t(6 * s.values())])));
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), y.begin() + 7 * s.values()));
  float* const pointers[] = {first.data(), second.data()};
  Arena arena(delta_rule_scratch_bytes({}, 9, s), "test");
  std::vector<float> on_cpu = poison(9 * s.values());
  const HostWeights weights = weights_of(w);
  delta_rule({}, {.x = f32(w.x.data(), {9, s.inputs()}), .weights = weights.view(s), .runs = {i32(w.cu.data(), {3}), pointers},
                  .y = f32(on_cpu.data(), {9, s.values()}), .sizes = s, .scratch = &arena});
  expect_near(states.own[1].download(), second, 1e-5, "state");
}

TEST(columns_by_key_head_are_the_cpus) {
  NEEDS_DEVICE;
  const DeltaSizes s{.key_heads = 3, .value_heads = 6, .key_dim = 5, .value_dim = 4, .taps = 2};
  constexpr int64_t rows = 4;
  const int64_t width = s.inputs();
  std::vector<float> head = rounded_to_bf16(random_floats(rows * width)), kind = poison(rows * width);
  delta_columns_by_kind({}, {f32(head.data(), {rows, width}), f32(kind.data(), {rows, width}), s});
  const DeviceArray<uint16_t> in(to_bf16(head)), out(rows * width), back(rows * width);
  const auto view = [&](const DeviceArray<uint16_t>& a) { return a.view(DType::kBF16, {rows, width}); };
  delta_columns_by_kind(device_stream(), {view(in), view(out), s});
  delta_columns_by_head(device_stream(), {view(back), view(out), s});
  EXPECT_TRUE(out.download() == to_bf16(kind));
  EXPECT_TRUE(back.download() == to_bf16(head));
}

TEST(heads_too_wide_for_the_device_are_refused) {
  NEEDS_DEVICE;
  const DeltaSizes s{1, 1, 136, 8, 4};
  const World w(s, {0, 1});
  EXPECT_THROWS(forward_on_device(s, w.x, weights_of(w), w.cu), Code::kUnsupported);
}

}  // namespace kernels_cuda_delta_rule_test
