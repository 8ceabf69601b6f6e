// Every policy objective compared with stored cases and, by central differences, with its formula in f64; KL
// and entropy terms compared with their definitions.
//
// Faults put into the code, each detected by the test named: clip compared with >= (stored cases,
// exact_edge_eps0); a clipped negative advantage stops the gradient (differences, stored); 1/n_i left out of
// the GSPO slope (differences, stored); 1/|g| left out (stored, grpo); token weight of dapo by N (stored);
// cispo slope times rho instead of clip(rho) (stored); lower clamp of reinforce_clamped at 1 - clip_low
// (stored); KL slope with ref - new exchanged, KL weight without 1/n_i, entropy sign (kl_and_entropy); masked
// outputs not written (NaN in all). std::clamp, which may hide NaN, gives the same results here;
// nan_reaches_the_loss protects against a rewrite by min/max.
#include "kernels/policy_loss.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "check.h"
#include "core/json.h"
#include "kernels/policy_batch.h"

namespace kernels_policy_loss_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;
using Batch = PolicyBatch;

namespace {

std::string shared() {
  const char* given = std::getenv("HONE_SHARED");
  const std::filesystem::path here = std::filesystem::path(__FILE__).parent_path();
  return given ? given : (here / "../../../../shared").string();
}

template <class T>
std::vector<T> numbers(const Json& object, const char* key) {
  std::vector<T> out;
  for (const Json& x : object.find(key)->items(key)) out.push_back(T(x.is_null() ? 0.0 : x.as_double(key)));
  return out;
}

Batch batch_of(const Json& c, const std::string& algo) {
  static const std::map<std::string, Objective> objectives = {
      {"gspo_uniform", Objective::kGspo}, {"gspo_length", Objective::kGspo}, {"grpo", Objective::kGrpo},
      {"dapo", Objective::kDapo}, {"dr_grpo", Objective::kDrGrpo}, {"ppo_clip", Objective::kPpoClip},
      {"cispo", Objective::kCispo}, {"reinforce_clamped", Objective::kReinforceClamped},
      {"reinforce", Objective::kReinforce}};
  Batch batch;
  batch.args.objective = objectives.at(algo);
  if (algo == "gspo_length") batch.args.sequence_weight = SequenceWeight::kLength;
  batch.logprobs = numbers<float>(c, "new_logprobs");
  batch.behavior = numbers<float>(c, "behaviour_logprobs");
  batch.advantages = numbers<float>(c, "advantages");
  batch.mask = numbers<uint8_t>(c, "mask");
  batch.starts = numbers<int32_t>(c, "cu_seqlens");
  if (c.find("token_advantages")) batch.token_advantages = numbers<float>(c, "token_advantages");
  std::map<int32_t, int32_t> sizes;
  const std::vector<int32_t> groups = numbers<int32_t>(c, "group_ids");
  for (int32_t g : groups) ++sizes[g];
  for (int32_t g : groups) batch.group_sizes.push_back(sizes[g]);
  const Json& params = *c.find("params");
  if (const Json* x = params.find("clip_low")) batch.args.clip_low = float(x->as_double("clip_low"));
  if (const Json* x = params.find("clip_high")) batch.args.clip_high = float(x->as_double("clip_high"));
  if (const Json* x = params.find("normaliser")) batch.args.step.dr_grpo = x->as_double("normaliser");
  batch.args.step.sequences = batch.sequences();
  batch.args.step.groups = int64_t(sizes.size());
  batch.args.step.counted_tokens = 0;
  for (int64_t i = 0; i < batch.sequences(); ++i) batch.args.step.counted_tokens += batch.counted(i);
  return batch;
}

/// The tolerance that the stored files state for f32 inputs.
double tolerance(double value) { return 1e-5 * std::max(1.0, std::fabs(value)); }

void check_case(const Json& c) {
  const std::string algo = c.find("algo")->as_string("algo"), tag = c.find("tag")->as_string("tag");
  Batch batch = batch_of(c, algo);
  const double loss = c.find("loss")->as_double("loss");
  EXPECT_NEAR(batch.run(), loss, tolerance(loss));
  const Json* ambiguous = c.find("ambiguous_clip");
  if ((ambiguous && ambiguous->as_bool("ambiguous_clip")) || tag.find("just_") == 0) return;
  const std::vector<double> ratios = numbers<double>(c, "ratios"), slopes = numbers<double>(c, "dloss_dlogprob");
  const std::vector<Json>& clipped = c.find("clipped")->items("clipped");
  const bool by_sequence = batch.args.objective == Objective::kGspo;
  for (int64_t i = 0; i < batch.sequences(); ++i) {
    for (size_t t = size_t(batch.starts[size_t(i)]); t < size_t(batch.starts[size_t(i) + 1]); ++t) {
      EXPECT_NEAR(batch.a[t], slopes[t], tolerance(slopes[t]));
      EXPECT_EQ(batch.b[t], 0.0f);
      const size_t at = by_sequence ? size_t(i) : t;
      EXPECT_NEAR(batch.ratios[t], batch.mask[t] ? ratios[at] : 0.0, tolerance(ratios[at]));
      const bool flag = batch.mask[t] && !clipped[at].is_null() && clipped[at].as_bool("clipped");
      EXPECT_EQ(int(batch.clipped[t]), int(flag));
    }
  }
}

const Objective kAll[] = {
    Objective::kGspo,
    Objective::kGrpo,
    Objective::kDapo,
    Objective::kDrGrpo,
    Objective::kPpoClip,
    Objective::kCispo,
    Objective::kReinforceClamped,
    Objective::kReinforce,
    Objective::kSupervised,
    Objective::kGspoToken,
    Objective::kGmpo,
    Objective::kSapo,
};

/// Whether each token's slope treats the other tokens' part of its ratio as constant, so that it is not the
/// value's derivative.
bool stops_a_ratio(Objective o) { return o == Objective::kGspoToken; }
bool stops_a_weight(Objective o) { return o == Objective::kCispo || o == Objective::kReinforceClamped; }

}  // namespace

TEST(all_stored_cases_hold) {
  std::ifstream file(shared() + "/reference/goldens/losses/cases.jsonl");
  if (!file) SKIP("no shared goldens");
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    const int before = failures();
    const Json c = Json::parse(line, "cases.jsonl");
    check_case(c);
    if (failures() != before) std::printf("  in case %d: %s\n", cases, c.find("tag")->as_string("tag").c_str());
  }
  EXPECT_EQ(cases, 354);
}

// The gradient of CISPO and clamped REINFORCE treats the ratio weight as constant: their value is linear in
// new_t only if behavior changes along with it, which keeps rho.
TEST(slopes_match_central_differences) {
  for (Objective objective : kAll) {
    if (stops_a_ratio(objective)) continue;  // tested in policy_loss_terms.test.cc
    for (SequenceWeight weight : {SequenceWeight::kUniform, SequenceWeight::kLength}) {
      Batch batch = random_batch(objective);
      batch.args.sequence_weight = weight;
      batch.args.kl_coef = stops_a_weight(objective) ? 0.0f : 0.05f;
      batch.run();
      for (size_t t = 0; t < batch.logprobs.size(); ++t) {
        const float h = 0x1p-9f;
        Batch up = batch, down = batch;
        up.logprobs[t] += h;
        down.logprobs[t] -= h;
        if (stops_a_weight(objective)) {
          up.behavior[t] += up.logprobs[t] - batch.logprobs[t];
          down.behavior[t] += down.logprobs[t] - batch.logprobs[t];
        }
        const double slope = (up.run() - down.run()) / (double(up.logprobs[t]) - double(down.logprobs[t]));
        // If a step crosses a clip bound, the flags differ and the difference is no derivative.
        if (up.clipped != down.clipped) continue;
        EXPECT_NEAR(batch.a[t], slope, 2e-5);
      }
    }
  }
}

TEST(kl_and_entropy_follow_their_definitions) {
  for (SequenceWeight weight : {SequenceWeight::kUniform, SequenceWeight::kLength}) {
    Batch plain = random_batch(Objective::kGspo);
    plain.args.sequence_weight = weight;
    Batch full = plain;
    full.args.kl_coef = 0.07f;
    full.args.entropy_coef = 0.03f;
    plain.run();
    full.run();
    for (int64_t i = 0; i < plain.sequences(); ++i) {
      double extra = 0;
      for (size_t t = size_t(plain.starts[size_t(i)]); t < size_t(plain.starts[size_t(i) + 1]); ++t) {
        const double w = weight == SequenceWeight::kUniform ? 1.0 / (7.0 * double(plain.counted(i))) : 1.0 / 7.0;
        if (!plain.mask[t]) {
          EXPECT_EQ(full.a[t], 0.0f);
          EXPECT_EQ(full.b[t], 0.0f);
          continue;
        }
        const double d = double(plain.reference[t]) - double(plain.logprobs[t]);
        extra += w * (double(0.07f) * (std::exp(d) - d - 1) - double(0.03f) * double(plain.entropies[t]));
        EXPECT_NEAR(full.a[t] - plain.a[t], double(0.07f) * (1 - std::exp(d)) * w, 1e-6);
        EXPECT_NEAR(full.b[t], -double(0.03f) * w, 1e-8);
      }
      EXPECT_NEAR(full.losses[size_t(i)] - plain.losses[size_t(i)], extra, 1e-12);
    }
  }
}

TEST(every_estimator_of_the_kl_is_its_definition) {
  for (KlEstimator estimator : {KlEstimator::kK1, KlEstimator::kK2, KlEstimator::kK3, KlEstimator::kUnbiased}) {
    const auto value = [&](double reference, double behavior, double now) {
      const double d = reference - now, k3 = std::exp(d) - d - 1;
      if (estimator == KlEstimator::kUnbiased) return std::exp(now) / std::exp(behavior) * k3;
      return estimator == KlEstimator::kK1 ? -d : estimator == KlEstimator::kK2 ? d * d / 2 : k3;
    };
    Batch plain = random_batch(Objective::kDapo), full = plain;
    full.args.kl_coef = 0.5f;
    full.args.kl_estimator = estimator;
    const double without = plain.run();
    double expected = 0;
    EXPECT_TRUE(full.run() != without);
    for (int64_t i = 0; i < plain.sequences(); ++i) {
      for (size_t t = size_t(plain.starts[size_t(i)]); t < size_t(plain.starts[size_t(i) + 1]); ++t) {
        if (!plain.mask[t]) continue;
        const auto at = [&](double moved) {
          return value(double(plain.reference[t]), double(plain.behavior[t]), double(plain.logprobs[t]) + moved);
        };
        const double k = 0.5 / (7.0 * double(plain.counted(i)));
        expected += k * at(0);
        EXPECT_NEAR(full.a[t] - plain.a[t], k * (at(1e-6) - at(-1e-6)) / 2e-6, 1e-6);
      }
    }
    EXPECT_NEAR(full.run() - without, expected, 1e-12);
  }
}

TEST(weights_of_tokens_multiply_their_terms_alone) {
  for (Objective objective : kAll) {
    Batch plain = random_batch(objective);
    plain.args.kl_coef = 0.3f, plain.args.entropy_coef = 0.1f;
    if (objective != Objective::kPpoClip) plain.token_advantages.clear();
    Batch ones = plain, none = plain, some = plain;
    const int64_t T = plain.tokens();
    ones.token_weights.assign(size_t(T), 1.0f);
    none.token_weights.assign(size_t(T), 0.0f);
    for (int64_t t = 0; t < T; ++t) some.token_weights.push_back(t % 3 ? 0.0f : 0.5f);
    EXPECT_NEAR(ones.run(), plain.run(), 1e-15);
    EXPECT_TRUE(ones.a == plain.a && ones.b == plain.b && ones.ratios == plain.ratios && ones.clipped == plain.clipped);
    none.run();
    some.run();
    for (size_t t = 0; t < size_t(T); ++t) {
      EXPECT_NEAR(some.a[t], double(none.a[t]) + double(some.token_weights[t]) * (double(plain.a[t]) - double(none.a[t])), 1e-7);
      EXPECT_EQ(some.b[t], plain.b[t]);
    }
    for (float& x : plain.advantages) x = 0.0f;
    for (float& x : plain.token_advantages) x = 0.0f;
    if (objective != Objective::kSupervised) EXPECT_NEAR(none.run(), plain.run(), 1e-15);
  }
}

TEST(a_penalty_is_of_the_distance_to_what_the_ratio_is_to) {
  for (Objective objective : kAll) {
    if (objective == Objective::kSupervised) continue;  // the supervised objective has no ratio
    for (bool corrected : {false, true}) {
      Batch plain = random_batch(objective);
      if (corrected) {
        plain.proximal = plain.behavior;
        for (float& x : plain.proximal) x += random_floats(1, 0.1f)[0];
        plain.args.correction = Correction::kTis;
        plain.args.correction_high = 1.1f;
      }
      const std::vector<float>& old = corrected ? plain.proximal : plain.behavior;
      plain.token_weights.assign(size_t(plain.tokens()), 0.25f);
      Batch held = plain;
      for (int64_t t = 0; t < plain.tokens(); ++t) held.token_penalties.push_back(t % 3 ? 0.0f : 2.0f);
      double expected = 0;
      const double before = plain.run(), after = held.run();
      for (int64_t i = 0; i < plain.sequences(); ++i) {
        const double n = double(plain.counted(i));
        for (size_t t = size_t(plain.starts[size_t(i)]); t < size_t(plain.starts[size_t(i) + 1]); ++t) {
          if (!plain.mask[t]) continue;
          double scale = 1 / 7.0;
          if (objective == Objective::kDapo || objective == Objective::kCispo) scale = 1 / 19.0;
          if (objective == Objective::kDrGrpo) scale = 1 / (7 * 12.5);
          if (objective == Objective::kGrpo) scale = 1 / (3 * double(plain.group_sizes[size_t(i)]) * n);
          if (objective == Objective::kGspo || objective >= Objective::kGspoToken) scale = 1 / (7 * n);
          const double gap = double(plain.logprobs[t]) - double(old[t]), beta = scale * double(held.token_penalties[t]);
          expected += beta * std::fabs(gap);
          EXPECT_NEAR(held.a[t], double(plain.a[t]) + (gap > 0 ? beta : -beta), 1e-7);
        }
      }
      EXPECT_NEAR(after - before, expected, 1e-12);
    }
  }
}

TEST(on_policy_ratios_are_exactly_one) {
  for (Objective objective : kAll) {
    Batch batch = random_batch(objective);
    batch.behavior = batch.logprobs;
    batch.run();
    for (size_t t = 0; t < batch.mask.size(); ++t) {
      EXPECT_EQ(batch.ratios[t], batch.mask[t] ? 1.0f : 0.0f);
      EXPECT_EQ(int(batch.clipped[t]), 0);
    }
  }
}

TEST(supervised_needs_neither_behavior_nor_advantages) {
  Batch batch = random_batch(Objective::kSupervised);
  batch.behavior.clear();
  batch.advantages.clear();
  double expected = 0;
  for (size_t t = 0; t < batch.mask.size(); ++t) expected -= batch.mask[t] ? double(batch.logprobs[t]) / 19.0 : 0.0;
  EXPECT_NEAR(batch.run(), expected, 1e-12);
}

TEST(token_advantages_that_are_the_sequences_change_no_bit) {
  for (Objective objective : kAll) {
    if (objective == Objective::kPpoClip) continue;  // it has no advantages per sequence
    Batch by_sequence = random_batch(objective);
    Batch by_token = by_sequence;
    by_sequence.token_advantages.clear();
    for (int64_t i = 0; i < by_token.sequences(); ++i) {
      for (int32_t t = by_token.starts[size_t(i)]; t < by_token.starts[size_t(i) + 1]; ++t) by_token.token_advantages[size_t(t)] = by_token.advantages[size_t(i)];
    }
    EXPECT_EQ(by_token.run(), by_sequence.run());
    EXPECT_TRUE(by_token.a == by_sequence.a && by_token.clipped == by_sequence.clipped);
  }
}

TEST(nan_reaches_the_loss) {
  for (Objective objective : kAll) {
    for (bool positive : {true, false}) {
      Batch batch = random_batch(objective);
      for (float& x : batch.advantages) x = positive ? 1.0f : -1.0f;
      for (float& x : batch.token_advantages) x = positive ? 1.0f : -1.0f;
      batch.logprobs[5] = std::nanf("");
      EXPECT_TRUE(batch.mask[5]);
      EXPECT_TRUE(std::isnan(batch.run()));
      EXPECT_TRUE(std::isnan(batch.losses[2]));
      EXPECT_TRUE(!std::isnan(batch.losses[0]));
    }
  }
}

TEST(wrong_arguments_are_named) {
  Batch batch = random_batch(Objective::kGspo);
  batch.behavior.clear();
  EXPECT_THROWS(batch.run(), Code::kShape);
  Batch no_groups = random_batch(Objective::kGrpo);
  no_groups.group_sizes.clear();
  EXPECT_THROWS(no_groups.run(), Code::kShape);
  Batch no_reference = random_batch(Objective::kDapo);
  no_reference.reference.clear();
  no_reference.args.kl_coef = 0.1f;
  EXPECT_THROWS(no_reference.run(), Code::kShape);
  Batch no_entropy = random_batch(Objective::kDapo);
  no_entropy.entropies.clear();
  no_entropy.args.entropy_coef = 0.1f;
  EXPECT_THROWS(no_entropy.run(), Code::kShape);
  Batch per_token = random_batch(Objective::kPpoClip);
  per_token.token_advantages.clear();
  EXPECT_THROWS(per_token.run(), Code::kShape);
}

TEST(a_custom_objective_is_what_it_says_and_the_regularizers) {
  Batch given = random_batch(Objective::kCustom);
  for (size_t t = 0; t < given.logprobs.size(); ++t) given.custom_slopes.push_back(0.1 * double(t) - 0.6);
  for (int64_t i = 0; i < given.sequences(); ++i) given.custom_losses.push_back(double(i) + 0.25);
  Batch none = random_batch(Objective::kReinforce);
  none.logprobs = given.logprobs, none.behavior = given.behavior, none.reference = given.reference;
  none.entropies = given.entropies;
  none.advantages.assign(none.advantages.size(), 0.0f);
  none.token_advantages.clear();
  for (Batch* batch : {&given, &none}) batch->args.kl_coef = 0.3f, batch->args.entropy_coef = 0.1f;
  const double regularizers = none.run();
  double expected = regularizers;
  for (int64_t i = 0; i < given.sequences(); ++i) expected += given.counted(i) > 0 ? given.custom_losses[size_t(i)] : 0.0;
  EXPECT_NEAR(given.run(), expected, 1e-12);
  for (size_t t = 0; t < given.logprobs.size(); ++t) {
    const double slope = given.mask[t] ? given.custom_slopes[t] + double(none.a[t]) : 0.0;
    EXPECT_NEAR(given.a[t], slope, 1e-7);
    EXPECT_EQ(given.b[t], none.b[t]);
    EXPECT_EQ(given.ratios[t], none.ratios[t]);
    EXPECT_EQ(int(given.clipped[t]), 0);
  }
}

TEST(a_custom_objective_without_its_numbers_is_refused) {
  Batch batch = random_batch(Objective::kCustom);
  EXPECT_THROWS(batch.run(), Code::kShape);
  batch.custom_slopes.assign(batch.logprobs.size(), 0.0);
  EXPECT_THROWS(batch.run(), Code::kShape);
  batch.custom_losses.assign(size_t(batch.sequences()), 0.0);
  batch.run();
  batch.token_weights.assign(batch.logprobs.size(), 1.0f);
  EXPECT_THROWS(batch.run(), Code::kConfig);
  batch.token_weights.clear();
  batch.args.correction = Correction::kTis;
  batch.proximal = batch.logprobs;
  EXPECT_THROWS(batch.run(), Code::kConfig);
}

}  // namespace kernels_policy_loss_test
