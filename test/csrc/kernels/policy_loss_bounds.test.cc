// Bounds on the terms of bad answers, compared with the formulas of docs/reference/recipe.md in f64: the dual clip and the
// off-policy mask.
//
// Faults put into the code, each detected: the dual clip applied to good tokens too; its value without its slope; the
// mask's sign exchanged; the mask left out of GSPO's loss; masked tokens not reported as clipped; good tokens masked too.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "kernels/policy_formulas.h"

namespace kernels_policy_loss_bounds_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST(a_dual_clip_holds_the_terms_of_bad_tokens_alone) {
  const Objective clipping[] = {Objective::kGspo, Objective::kGrpo, Objective::kDapo, Objective::kDrGrpo, Objective::kPpoClip, Objective::kGspoToken};
  for (const Objective objective : clipping) {
    for (const float dual : {1.02f, 1.5f}) {  // below and above 1 + clip_high
      PolicyBatch batch = corrected_batch(objective, Correction::kTis, false);
      batch.args.dual_clip = dual;
      for (float& x : batch.proximal) x -= 0.2f;  // makes ratios around 1.2
      batch.proximal[2] = batch.logprobs[2] - 3.0f;
      for (float& x : batch.advantages) x = -std::fabs(x);
      batch.token_advantages[2] = -0.7f;
      PolicyBatch without = batch;
      without.args.dual_clip = std::numeric_limits<float>::infinity();
      const std::vector<double> weights = brute_weights(batch);
      const std::vector<double> now(batch.logprobs.begin(), batch.logprobs.end());
      EXPECT_NEAR(batch.run(), brute_loss(batch, weights, now), 1e-12);
      EXPECT_TRUE(batch.run() < without.run());
      for (size_t t = 0; t < now.size(); ++t) {
        std::vector<double> up = now, down = now;
        up[t] += 1e-6, down[t] -= 1e-6;
        EXPECT_NEAR(batch.a[t], (brute_loss(batch, weights, up) - brute_loss(batch, weights, down)) / 2e-6, 1e-6);
      }
      if (objective != Objective::kGspo && objective != Objective::kGspoToken) EXPECT_TRUE(batch.a[2] == 0.0f && batch.clipped[2]);
    }
  }
}

TEST(an_off_policy_mask_leaves_out_bad_tokens_of_sequences_that_became_improbable) {
  for (const Objective objective : kPolicies) {
    if (objective == Objective::kGmpo) continue;
    for (const Correction kind : {Correction::kNone, Correction::kTis}) {
      PolicyBatch batch = corrected_batch(objective, kind, false);
      batch.args.kl_coef = 0.1f;
      for (size_t t : counted_tokens(batch, 2)) batch.behavior[t] += 0.6f;  // became less probable
      batch.advantages[2] = batch.token_advantages[counted_tokens(batch, 2)[3]] = -0.5f;
      double means[5] = {};  // of behavior - new, in f64
      for (int64_t i = 0; i < 5; ++i) {
        const std::vector<size_t> tokens = counted_tokens(batch, i);
        for (size_t t : tokens) means[i] += (double(batch.behavior[t]) - double(batch.logprobs[t])) / double(tokens.size());
      }
      PolicyBatch masked = batch, zeroed = batch;
      masked.args.off_policy_mask = 0.25f;
      const bool whole = objective == Objective::kGspo;
      for (int64_t i = 0; i < 5; ++i) {
        if (means[i] <= double(masked.args.off_policy_mask)) continue;
        for (size_t t : counted_tokens(batch, i)) zeroed.token_advantages[t] = std::max(0.0f, zeroed.token_advantages[t]);
        zeroed.advantages[size_t(i)] = std::max(0.0f, zeroed.advantages[size_t(i)]);
      }
      EXPECT_NEAR(masked.run(), zeroed.run(), 1e-12);
      EXPECT_TRUE(means[2] > 0.25 && masked.run() != batch.run());
      for (size_t t = 0; t < masked.a.size(); ++t) EXPECT_NEAR(masked.a[t], zeroed.a[t], 1e-9);
      for (int64_t i = 0; i < 5; ++i) {
        for (size_t t : counted_tokens(batch, i)) {
          const float A = whole ? batch.advantages[size_t(i)] : batch.token_advantages[t];
          if (means[i] > double(masked.args.off_policy_mask) && A < 0) EXPECT_TRUE(masked.clipped[t]);
        }
      }
    }
  }
}

}  // namespace kernels_policy_loss_bounds_test
