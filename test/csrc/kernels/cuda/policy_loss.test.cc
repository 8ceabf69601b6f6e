// The policy objectives on the device, compared with the CPU op. Both share the formulas
// (kernels/policy_loss_terms.h), which are tested there; this file tests how a thread block iterates over its
// sequence and sums.
#include "kernels/policy_loss.h"

#include <algorithm>

#include "device.h"

namespace kernels_cuda_policy_loss_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

#ifdef HONE_HAVE_CUDA

namespace {

struct Outputs {
  std::vector<float> a, b, ratios;
  std::vector<uint8_t> clipped;
  std::vector<double> losses;
  std::vector<float> weights;
};

/// Sequences longer than a thread block, empty, fully masked and of one token; ratios near 1.
struct Batch {
  PolicyLossArgs args;
  bool weighted = false;  // tokens have weights
  std::vector<float> logprobs, behavior, proximal, reference, entropies, advantages, token_advantages, token_weights, token_penalties;
  std::vector<uint8_t> mask;
  std::vector<int32_t> starts{0}, group_sizes;

  Batch(Objective objective, SequenceWeight weight, std::initializer_list<int> lengths) {
    args.objective = objective;
    args.sequence_weight = weight;
    args.clip_low = 0.02f;
    args.clip_high = 0.03f;
    args.step = {9, 4, 1003, 123.5};
    for (const int n : lengths) starts.push_back(starts.back() + n);
    const int64_t T = starts.back(), S = int64_t(lengths.size());
    logprobs = random_floats(T, 0.5f);
    behavior = logprobs;
    for (float& x : behavior) x += random_floats(1, 0.05f)[0];
    proximal = logprobs;
    for (float& x : proximal) x += random_floats(1, 0.01f)[0];
    reference = random_floats(T, 0.5f);
    entropies = random_floats(T);
    advantages = random_floats(S);
    token_advantages = random_floats(T);
    token_weights = random_floats(T);
    token_penalties = random_floats(T);
    for (int64_t i = 0; i < S; ++i) group_sizes.push_back(int32_t(2 + i));
    for (int64_t t = 0; t < T; ++t) mask.push_back(uint8_t(t % 5 != 1));
    if (S > 2) std::fill(mask.begin() + starts[2], mask.begin() + starts[3], uint8_t(0));
  }
  /// Whether the batch is supervised and lacks the arrays that only policy objectives have.
  bool bare() const { return args.objective == Objective::kSupervised && behavior.empty(); }
  bool corrected() const { return args.correction != Correction::kNone; }
  int64_t tokens() const { return starts.back(); }
  int64_t sequences() const { return int64_t(starts.size()) - 1; }

  Outputs on_cpu() const {
    const int64_t T = tokens(), S = sequences();
    Outputs out{poison(T), poison(T), poison(T), std::vector<uint8_t>(size_t(T), 7), std::vector<double>(size_t(S), NAN),
                corrected() ? poison(T) : std::vector<float>{}};
    PolicyLossArgs x = args;
    x.logprobs = f32(logprobs.data(), {T});
    if (!bare()) x.behavior_logprobs = f32(behavior.data(), {T});
    if (corrected()) x.proximal_logprobs = f32(proximal.data(), {T});
    if (corrected()) x.weights = f32(out.weights.data(), {T});
    x.reference_logprobs = f32(reference.data(), {T});
    x.entropies = f32(entropies.data(), {T});
    x.mask = u8(mask.data(), {T});
    x.cu_seqlens = i32(starts.data(), {S + 1});
    if (!bare()) x.advantages = f32(advantages.data(), {S});
    x.token_advantages = f32(token_advantages.data(), {T});
    if (weighted) x.token_weights = f32(token_weights.data(), {T}), x.token_penalties = f32(token_penalties.data(), {T});
    x.group_sizes = i32(group_sizes.data(), {S});
    x.a = f32(out.a.data(), {T});
    x.b = f32(out.b.data(), {T});
    x.ratios = f32(out.ratios.data(), {T});
    x.clipped = u8(out.clipped.data(), {T});
    x.sequence_losses = {out.losses.data(), DType::kF64, {S}};
    policy_loss({}, x);
    return out;
  }

  Outputs on_device() const {
    const DeviceArray<float> t_weights(token_weights), t_penalties(token_penalties);
    const int64_t T = tokens(), S = sequences();
    const DeviceArray<float> p(logprobs), o(behavior), ref(reference), e(entropies), adv(advantages), t_adv(token_advantages);
    const DeviceArray<uint8_t> m(mask), flags(T);
    const DeviceArray<int32_t> cu(starts), sizes(group_sizes);
    const DeviceArray<float> a(T), b(T), ratios(T), prox(proximal), weights(T);
    const DeviceArray<double> losses(S);
    PolicyLossArgs x = args;
    x.logprobs = p.view(DType::kF32, {T});
    if (!bare()) x.behavior_logprobs = o.view(DType::kF32, {T});
    if (corrected()) x.proximal_logprobs = prox.view(DType::kF32, {T});
    if (corrected()) x.weights = weights.view(DType::kF32, {T});
    x.reference_logprobs = ref.view(DType::kF32, {T});
    x.entropies = e.view(DType::kF32, {T});
    x.mask = m.view(DType::kU8, {T});
    x.cu_seqlens = cu.view(DType::kI32, {S + 1});
    if (!bare()) x.advantages = adv.view(DType::kF32, {S});
    x.token_advantages = t_adv.view(DType::kF32, {T});
    if (weighted) x.token_weights = t_weights.view(DType::kF32, {T}), x.token_penalties = t_penalties.view(DType::kF32, {T});
    x.group_sizes = sizes.view(DType::kI32, {S});
    x.a = a.view(DType::kF32, {T});
    x.b = b.view(DType::kF32, {T});
    x.ratios = ratios.view(DType::kF32, {T});
    x.clipped = flags.view(DType::kU8, {T});
    x.sequence_losses = losses.view(DType::kF64, {S});
    policy_loss(device_stream(), x);
    return {a.download(), b.download(), ratios.download(), flags.download(), losses.download(),
            corrected() ? weights.download() : std::vector<float>{}};
  }
};

/// Sums in another order, and other libraries' exp, differ in the last bits of f64: an f32 output by at most
/// one ulp, except for coefficients that are differences (a, with its KL term), whose error is relative to
/// the larger term.
void expect_equal(const Outputs& got, const Outputs& expected, double scale) {
  EXPECT_TRUE(got.clipped == expected.clipped);
  for (size_t t = 0; t < expected.a.size(); ++t) {
    EXPECT_NEAR(got.a[t], expected.a[t], 0x1p-23 * std::fabs(double(expected.a[t])) + 1e-14 * scale);
    EXPECT_NEAR(got.b[t], expected.b[t], 0x1p-23 * std::fabs(double(expected.b[t])));
    EXPECT_NEAR(got.ratios[t], expected.ratios[t], 0x1p-23 * std::fabs(double(expected.ratios[t])));
  }
  EXPECT_EQ(got.weights.size(), expected.weights.size());
  for (size_t t = 0; t < expected.weights.size(); ++t) {
    EXPECT_NEAR(got.weights[t], expected.weights[t], 0x1p-23 * std::fabs(double(expected.weights[t])));
  }
  for (size_t i = 0; i < expected.losses.size(); ++i) {
    EXPECT_NEAR(got.losses[i], expected.losses[i], 1e-12 * scale * double(expected.a.size()));
  }
}

const Objective kAll[] = {Objective::kGspo, Objective::kGrpo, Objective::kDapo, Objective::kDrGrpo, Objective::kPpoClip,
                          Objective::kCispo, Objective::kReinforceClamped, Objective::kReinforce, Objective::kSupervised,
                          Objective::kGspoToken, Objective::kGmpo, Objective::kSapo};

}  // namespace

TEST(every_objective_is_the_cpu_s) {
  NEEDS_DEVICE;
  for (const Objective objective : kAll) {
    for (const SequenceWeight weight : {SequenceWeight::kUniform, SequenceWeight::kLength}) {
      for (const bool regularized : {false, true}) {
        Batch batch(objective, weight, {4, 0, 9, 700, 1, 256, 257});
        if (regularized) {
          batch.args.kl_coef = 0.07f;
          batch.args.entropy_coef = 0.03f;
          batch.args.kl_estimator = weight == SequenceWeight::kLength ? KlEstimator::kUnbiased : KlEstimator::kK2;
          batch.weighted = true;
          batch.args.dual_clip = 1.01f;  // ratios of bad tokens pass it
        }
        expect_equal(batch.on_device(), batch.on_cpu(), 10.0);
      }
    }
  }
}

TEST(an_off_policy_mask_is_the_cpu_s) {
  NEEDS_DEVICE;
  for (const Objective objective : kAll) {
    if (objective == Objective::kGmpo || objective == Objective::kSupervised) continue;
    for (const bool corrected : {false, true}) {
      Batch batch(objective, SequenceWeight::kUniform, {4, 0, 9, 700, 1, 256, 257});
      for (float& x : batch.behavior) x += 0.01f;
      batch.args.off_policy_mask = 0.011f;
      if (corrected) batch.args.correction = Correction::kTis, batch.args.correction_low = 0.5f, batch.args.correction_high = 2.0f;
      expect_equal(batch.on_device(), batch.on_cpu(), 10.0);
    }
  }
}

TEST(every_correction_is_the_cpu_s) {
  NEEDS_DEVICE;
  for (int kind = int(Correction::kTis); kind <= int(Correction::kDppoKl); ++kind) {
    for (const Objective objective : kAll) {
      if (objective == Objective::kSupervised) continue;
      Batch batch(objective, SequenceWeight::kUniform, {4, 0, 9, 700, 1, 256, 257});
      batch.args.correction = Correction(kind);
      batch.args.correction_low = 0.97f;
      batch.args.correction_high = 1.02f;
      if (kind >= int(Correction::kDppoTv)) {
        for (auto* of : {&batch.logprobs, &batch.behavior, &batch.proximal}) {
          for (float& x : *of) x -= 3.0f;
        }
        batch.args.correction_low = batch.args.correction_high = kind == int(Correction::kDppoTv) ? 0.001f : 2e-5f;
      }
      batch.args.kl_coef = 0.07f;
      const Outputs expected = batch.on_cpu();
      const auto changed = std::count(expected.clipped.begin(), expected.clipped.end(), 1);
      EXPECT_TRUE(kind == int(Correction::kGeometricMask) || changed > 0);
      expect_equal(batch.on_device(), expected, 10.0);
    }
  }
}

TEST(supervised_needs_neither_behavior_nor_advantages) {
  NEEDS_DEVICE;
  Batch batch(Objective::kSupervised, SequenceWeight::kUniform, {40, 3});
  batch.behavior.clear();
  batch.advantages.clear();
  expect_equal(batch.on_device(), batch.on_cpu(), 10.0);
}

TEST(nan_reaches_the_loss_of_its_sequence) {
  NEEDS_DEVICE;
  for (const Objective objective : kAll) {
    Batch batch(objective, SequenceWeight::kUniform, {300, 300});
    batch.logprobs[350] = std::nanf("");
    const Outputs out = batch.on_device();
    EXPECT_TRUE(std::isnan(out.losses[1]));
    EXPECT_TRUE(!std::isnan(out.losses[0]));
  }
}

TEST(the_same_call_twice_gives_the_same_bits) {
  NEEDS_DEVICE;
  const Batch batch(Objective::kGspo, SequenceWeight::kUniform, {900, 5});
  const Outputs one = batch.on_device(), two = batch.on_device();
  EXPECT_TRUE(one.losses == two.losses && one.a == two.a);
}

TEST(no_sequences_are_no_work) {
  NEEDS_DEVICE;
  EXPECT_TRUE(Batch(Objective::kGspo, SequenceWeight::kUniform, {}).on_device().losses.empty());
  EXPECT_EQ(Batch(Objective::kGspo, SequenceWeight::kUniform, {0}).on_device().losses[0], 0.0);
}

#endif

}  // namespace kernels_cuda_policy_loss_test
