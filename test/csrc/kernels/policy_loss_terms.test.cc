// Importance corrections for a mismatch between sampler and trainer: every kind with every objective,
// compared with the formulas of docs/explanation/numerics.md in f64 (slopes are central differences with
// constant weights); and what corrections must not change.
//
// Faults put into the code, each detected: q_t inverted; the product a mean (sequence-tis, sequence-mask);
// the geometric mean a product; a mask that truncates, a truncation that masks; low and high exchanged; the
// weight left out of the slope, or of the loss; the objective's ratio relative to behavior; GSPO's weight as
// the sequence's mean.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "check.h"
#include "kernels/policy_formulas.h"

namespace kernels_policy_loss_terms_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

const Correction kKinds[] = {Correction::kTis, Correction::kSequenceTis, Correction::kIcepop, Correction::kSequenceMask,
                             Correction::kGeometricMask, Correction::kDppoTv, Correction::kDppoKl};

}  // namespace

TEST(gspo_token_is_gspo_where_a_sequence_has_one_advantage) {
  for (SequenceWeight weight : {SequenceWeight::kUniform, SequenceWeight::kLength}) {
    PolicyBatch whole = random_batch(Objective::kGspo);
    whole.args.sequence_weight = weight;
    whole.token_advantages.clear();
    PolicyBatch by_token = whole;
    by_token.args.objective = Objective::kGspoToken;
    EXPECT_NEAR(by_token.run(), whole.run(), 1e-15);
    EXPECT_TRUE(by_token.ratios == whole.ratios && by_token.clipped == whole.clipped);
    for (size_t t = 0; t < whole.a.size(); ++t) EXPECT_NEAR(by_token.a[t], whole.a[t], 1e-7 * std::fabs(whole.a[t]));
  }
}

// GMPO by its paper: a product of ratios to the power of the advantage's sign, each the smaller of itself and
// its clipped value.
TEST(gmpo_is_a_geometric_mean_of_clipped_ratios) {
  PolicyBatch batch = random_batch(Objective::kGmpo);
  batch.args.clip_low = 0.03f, batch.args.clip_high = 0.04f;
  double expected = 0;
  int bounded = 0;
  for (int64_t i = 0; i < batch.sequences(); ++i) {
    const double A = double(batch.advantages[size_t(i)]), sign = A > 0 ? 1.0 : -1.0;
    double product = 1;
    for (int32_t t = batch.starts[size_t(i)]; t < batch.starts[size_t(i) + 1]; ++t) {
      if (!batch.mask[size_t(t)]) continue;
      const double rho = std::exp(double(batch.logprobs[size_t(t)]) - double(batch.behavior[size_t(t)]));
      const double clipped = std::min(std::max(rho, std::exp(-double(0.03f))), std::exp(double(0.04f)));
      product *= std::pow(std::min(std::pow(rho, sign), std::pow(clipped, sign)), sign);
      bounded += std::pow(clipped, sign) < std::pow(rho, sign);
    }
    if (batch.counted(i) > 0) expected -= std::pow(product, 1.0 / double(batch.counted(i))) * A / 7;
  }
  EXPECT_NEAR(batch.run(), expected, 1e-12);
  EXPECT_EQ(std::count(batch.clipped.begin(), batch.clipped.end() - 1, 1), bounded);
  EXPECT_TRUE(bounded > 0);
}

TEST(sapo_gates_each_ratio_by_the_sign_of_its_advantage) {
  PolicyBatch batch = random_batch(Objective::kSapo);
  batch.args.gate_positive = 2.0f, batch.args.gate_negative = 3.0f;
  double expected = 0;
  for (int64_t i = 0; i < batch.sequences(); ++i) {
    for (int32_t t = batch.starts[size_t(i)]; t < batch.starts[size_t(i) + 1]; ++t) {
      if (!batch.mask[size_t(t)]) continue;
      const double A = double(batch.token_advantages[size_t(t)]), tau = A > 0 ? 2 : 3;
      const double rho = std::exp(double(batch.logprobs[size_t(t)]) - double(batch.behavior[size_t(t)]));
      expected -= A * 4 / tau / (1 + std::exp(-tau * (rho - 1))) / double(batch.counted(i)) / 7;
    }
  }
  EXPECT_NEAR(batch.run(), expected, 1e-12);
  EXPECT_EQ(std::count(batch.clipped.begin(), batch.clipped.end() - 1, 1), 0);
  batch.behavior[5] = -2000.0f;  // the ratio overflows: the gate is fully open, and its slope is 0
  EXPECT_TRUE(std::isfinite(batch.run()));
  EXPECT_EQ(batch.a[5], 0.0f);
}

// A clip_low of 1 is no lower bound: the variant of TRL, MiniMax and ScaleRL, which clips ratios only from
// above.
TEST(cispo_with_a_lower_bound_of_0_clips_from_above_alone) {
  PolicyBatch batch = random_batch(Objective::kCispo);
  batch.args.clip_low = 1.0f;
  batch.run();
  int above = 0;
  for (size_t t = 0; t < batch.mask.size(); ++t) {
    if (!batch.mask[t]) continue;
    const double rho = std::exp(double(batch.logprobs[t]) - double(batch.behavior[t]));
    EXPECT_NEAR(batch.a[t], -std::min(rho, 1.0 + double(0.3f)) * double(batch.token_advantages[t]) / 19, 1e-8);
    above += rho > 1.0 + double(0.3f);
  }
  EXPECT_EQ(std::count(batch.clipped.begin(), batch.clipped.end() - 1, 1), above);
}

TEST(weights_losses_and_slopes_are_those_of_the_definitions) {
  for (Correction kind : kKinds) {
    int changed = 0, unchanged = 0;
    for (Objective objective : kPolicies) {
      for (bool at_the_start : {true, false}) {
        for (SequenceWeight weight : {SequenceWeight::kUniform, SequenceWeight::kLength}) {
          PolicyBatch batch = corrected_batch(objective, kind, at_the_start);
          batch.args.sequence_weight = weight;
          const std::vector<double> weights = brute_weights(batch);
          const std::vector<double> now(batch.logprobs.begin(), batch.logprobs.end());
          EXPECT_NEAR(batch.run(), brute_loss(batch, weights, now), 1e-12);
          for (size_t t = 0; t < now.size(); ++t) {
            EXPECT_NEAR(batch.weights[t], weights[t], 1e-6);
            const double h = 1e-6;
            std::vector<double> up = now, down = now;
            up[t] += h, down[t] -= h;
            EXPECT_NEAR(batch.a[t], (brute_loss(batch, weights, up) - brute_loss(batch, weights, down)) / (2 * h), 1e-6);
            if (batch.mask[t]) (batch.clipped[t] ? changed : unchanged) += 1;
          }
        }
      }
    }
    EXPECT_TRUE(changed > 30 && unchanged > 30);
  }
}

// Differences of the op's own loss, not of the brute-force one; proximal and behavior, and hence the weights,
// are constant.
TEST(slopes_match_central_differences_of_the_op_itself) {
  for (Correction kind : kKinds) {
    for (Objective objective : kPolicies) {
      // CISPO's and REINFORCE's weights change with new_t; GSPO treats a part as constant if its weights
      // differ.
      const bool stops = objective == Objective::kCispo || objective == Objective::kReinforceClamped;
      const bool by_token = kind != Correction::kSequenceTis && kind != Correction::kSequenceMask;
      const bool shares = objective == Objective::kGspo || objective == Objective::kGmpo;
      if (stops || objective == Objective::kGspoToken || (shares && by_token)) continue;
      PolicyBatch batch = corrected_batch(objective, kind, false);
      batch.args.kl_coef = 0.05f;
      batch.run();
      for (size_t t = 0; t < batch.logprobs.size(); ++t) {
        PolicyBatch up = batch, down = batch;
        up.logprobs[t] += 0x1p-9f;
        down.logprobs[t] -= 0x1p-9f;
        const double slope = (up.run() - down.run()) / (double(up.logprobs[t]) - double(down.logprobs[t]));
        if (up.clipped != down.clipped) continue;  // across a clip bound the difference is no derivative
        EXPECT_NEAR(batch.a[t], slope, 2e-5);
      }
    }
  }
}

TEST(at_the_start_of_a_step_a_slope_is_the_weight_times_that_of_an_on_policy_step) {
  for (Correction kind : kKinds) {
    for (Objective objective : kPolicies) {
      PolicyBatch batch = corrected_batch(objective, kind, true), plain = batch;
      plain.args.correction = Correction::kNone;
      plain.proximal.clear();
      plain.behavior = plain.logprobs;
      batch.run();
      plain.run();
      const std::vector<double> weights = brute_weights(batch);
      for (size_t t = 0; t < batch.logprobs.size(); ++t) {
        EXPECT_EQ(batch.ratios[t], batch.mask[t] ? 1.0f : 0.0f);
        EXPECT_NEAR(batch.a[t], weights[t] * double(plain.a[t]), 1e-7);
      }
    }
  }
}

TEST(where_nothing_differs_no_correction_changes_a_bit) {
  for (Correction kind : kKinds) {
    for (Objective objective : kPolicies) {
      PolicyBatch batch = corrected_batch(objective, kind, true);
      batch.behavior = batch.logprobs;
      batch.args.kl_coef = 0.05f;
      PolicyBatch plain = batch;
      plain.args.correction = Correction::kNone;
      plain.proximal.clear();
      EXPECT_NEAR(batch.run(), plain.run(), 1e-15);
      EXPECT_TRUE(batch.a == plain.a && batch.b == plain.b && batch.ratios == plain.ratios);
      for (size_t t = 0; t < batch.mask.size(); ++t) EXPECT_EQ(batch.weights[t], batch.mask[t] ? 1.0f : 0.0f);
    }
  }
}

TEST(tis_makes_reinforce_the_clamped_one) {
  PolicyBatch clamped = random_batch(Objective::kReinforceClamped);
  PolicyBatch corrected = clamped;
  corrected.args.objective = Objective::kReinforce;
  corrected.args.correction = Correction::kTis;
  corrected.args.correction_low = 0.0f;
  corrected.args.correction_high = 1.0f + clamped.args.clip_high;
  corrected.proximal = corrected.logprobs;
  EXPECT_NEAR(corrected.run(), clamped.run(), 1e-6);
  EXPECT_TRUE(corrected.clipped == clamped.clipped);
  for (size_t t = 0; t < clamped.a.size(); ++t) EXPECT_NEAR(corrected.a[t], clamped.a[t], 1e-6);
}

TEST(kl_and_entropy_keep_tokens_of_weight_0) {
  PolicyBatch batch = corrected_batch(Objective::kGrpo, Correction::kIcepop, true);
  batch.args.correction_low = 5.0f, batch.args.correction_high = 6.0f;  // no ratio is inside the bounds
  EXPECT_EQ(batch.run(), 0.0);
  batch.args.kl_coef = 0.07f, batch.args.entropy_coef = 0.03f;
  PolicyBatch plain = batch;
  plain.args.correction = Correction::kNone;
  for (float& x : plain.advantages) x = 0.0f;
  for (float& x : plain.token_advantages) x = 0.0f;
  EXPECT_NEAR(batch.run(), plain.run(), 1e-15);
  EXPECT_TRUE(batch.a == plain.a && batch.b == plain.b);
}

TEST(nan_and_what_overflows_are_not_hidden) {
  for (Correction kind : kKinds) {
    PolicyBatch batch = corrected_batch(Objective::kDapo, kind, true);
    batch.behavior[5] = std::nanf("");
    EXPECT_TRUE(std::isnan(batch.run()));
    EXPECT_TRUE(std::isnan(batch.losses[2]) && !std::isnan(batch.losses[0]));
    // these corrections have no bound on a weight
    if (kind == Correction::kDppoTv || kind == Correction::kDppoKl) continue;
    PolicyBatch far = corrected_batch(Objective::kDapo, kind, true);
    far.behavior[5] = -2000.0f;  // exp(2000) is infinite: outside every band, and above every bound
    EXPECT_TRUE(std::isfinite(far.run()));
    const bool masks = kind != Correction::kTis && kind != Correction::kSequenceTis;
    EXPECT_EQ(far.weights[5], masks ? 0.0f : 1.2f);
  }
}

// The cases include probabilities of 0 and 1, and changes against the advantage, which are never masked.
TEST(a_probability_gap_masks_what_moves_on_and_nothing_that_comes_back) {
  for (Correction kind : {Correction::kDppoTv, Correction::kDppoKl}) {
    for (const auto& [advantage, was, now, weight] : std::vector<std::array<float, 4>>{
             {1, -2.0f, -0.1f, 0}, {1, -0.1f, -2.0f, 1}, {-1, -0.1f, -2.0f, 0}, {-1, -2.0f, -0.1f, 1}, {0, -0.1f, -2.0f, 1},
             // the token became e times as likely, which would clip a ratio, but both probabilities are tiny
             {1, -9.0f, -8.0f, 1},
             {1, -90.0f, 0.0f, 0}, {1, -2.0f, 0.0f, 0}, {-1, 0.0f, -90.0f, 0}, {-1, 0.0f, 0.0f, 1}}) {
      PolicyBatch batch = random_batch(Objective::kDapo);
      batch.args.correction = kind;
      batch.args.correction_low = batch.args.correction_high = 0.05f;
      batch.args.clip_low = 1.0f, batch.args.clip_high = 1e30f;
      batch.token_advantages.clear();
      batch.advantages.assign(batch.advantages.size(), advantage);
      batch.behavior.assign(batch.behavior.size(), was);
      batch.logprobs.assign(batch.logprobs.size(), now);
      batch.proximal = batch.behavior;  // q_t is 1
      EXPECT_TRUE(std::isfinite(batch.run()));
      EXPECT_EQ(batch.weights[0], weight);
      EXPECT_EQ(batch.a[0] == 0.0f, weight * advantage == 0.0f);
    }
  }
}

TEST(wrong_arguments_are_named) {
  PolicyBatch supervised = corrected_batch(Objective::kSupervised, Correction::kTis, true);
  EXPECT_THROWS(supervised.run(), Code::kConfig);
  PolicyBatch without = corrected_batch(Objective::kGspo, Correction::kTis, true);
  without.proximal.clear();
  EXPECT_THROWS(without.run(), Code::kShape);
}

}  // namespace kernels_policy_loss_terms_test
