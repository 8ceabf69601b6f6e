// Either all ranks continue or none does, and each reports why; reports cover all ranks. Mutation tests:
// test/mutants/csrc-trainer.json.
#include "trainer/rank_agreement.h"

#include <cmath>

#include "check.h"
#include "trainer/reference_loss.h"
#include "trainer/on_ranks.h"

namespace trainer_rank_agreement_test {
namespace {

using namespace hone;
using test::has;
using trainer::agree;
using trainer::dealt;
using trainer::kept_failure;
using trainer::MicroBatch;
using trainer::StepLosses;
using trainer::StepReport;

TEST(one_failure_is_everybodys) {
  const auto said = test::on_ranks(3, [](dist::Communicator& ranks) {
    agree(ranks, "step", kept_failure([&] {
      if (ranks.rank() == 2) fail(Code::kOutOfMemory, "%s", std::string(2000, 'x').c_str());
    }));
  });
  EXPECT_TRUE(said[2].size() > 2000 && has(said[2], "OUT_OF_MEMORY xxx"));
  for (const size_t rank : {0, 1}) EXPECT_TRUE(has(said[rank], "COLLECTIVE step: rank 2 failed") && has(said[rank], "xxx"));
}

TEST(what_is_not_an_error_of_ours_is_kept_too_but_a_lost_group_is_not) {
  EXPECT_TRUE(kept_failure([] { throw std::bad_alloc(); }) != nullptr);
  EXPECT_TRUE(kept_failure([] {}) == nullptr);
  EXPECT_THROWS(kept_failure([] { fail(Code::kCollective, "gone"); }), Code::kCollective);
}

TEST(another_fingerprint_is_told_with_its_rank) {
  const auto said = test::on_ranks(4, [](dist::Communicator& ranks) { agree(ranks, "step", nullptr, std::string(64, ranks.rank() == 2 ? 'b' : 'a')); });
  for (const std::string& text : said) EXPECT_TRUE(has(text, "STATE step: rank 2 was given another"));
  for (const std::string& text : test::on_ranks(4, [](dist::Communicator& ranks) { agree(ranks, "step", nullptr, std::string(64, 'a')); })) {
    EXPECT_EQ(text, std::string("ok"));
  }
}

TEST(the_fingerprint_is_of_everything_that_ranks_must_share) {
  test::Batch batch;
  for (int i = 0; i < 3; ++i) batch.add({1, 2, 3, 4}, 1, 0.5f);
  batch.behavior.assign(12, -1.0f);
  const trainer::TrainingBatch view = batch.view();
  const trainer::StepOptions options;
  const trainer::TrainerConfig config;
  const std::string plain = trainer::step_fingerprint(view, options, config, 3, 4);
  EXPECT_EQ(plain.size(), size_t(64));
  EXPECT_EQ(plain, trainer::step_fingerprint(view, options, config, 3, 4));
  EXPECT_TRUE(plain != trainer::step_fingerprint(view, options, config, 4, 4));
  EXPECT_TRUE(plain != trainer::step_fingerprint(view, options, config, 3, 5));
  const auto batches = [&](const std::function<void(trainer::TrainingBatch&, test::Batch&)>& change) {
    test::Batch other = batch;
    trainer::TrainingBatch changed = other.view();
    change(changed, other);
    EXPECT_TRUE(plain != trainer::step_fingerprint(changed, options, config, 3, 4));
  };
  batches([](auto& v, auto&) { v.behavior_logprobs = nullptr; });
  batches([](auto& v, auto& b) { v.reference_logprobs = b.behavior.data(); });
  batches([](auto& v, auto& b) { v.proximal_logprobs = b.behavior.data(); });
  batches([](auto& v, auto& b) { v.token_advantages = b.behavior.data(); });
  batches([](auto&, auto& b) { b.mask[5] ^= 1; });
  batches([](auto&, auto& b) { b.behavior[11] = -1.5f; });
  batches([](auto&, auto& b) { b.group_sizes[1] = 2; });
  batches([](auto& v, auto&) { v.step.groups += 1; });
  batches([](auto& v, auto& b) { v.teacher = {.hidden = b.behavior.data(), .columns = 1}; });
  batches([](auto& v, auto& b) { v.teacher = {.ids = b.tokens.data(), .columns = 1}; });
  batches([](auto& v, auto& b) { v.teacher = {.logprobs = b.behavior.data(), .columns = 1}; });
  batches([](auto& v, auto&) { v.step.dr_grpo += 1.0; });
  const auto others = [&](const std::function<void(trainer::StepOptions&, trainer::TrainerConfig&)>& change) {
    trainer::StepOptions o;
    trainer::TrainerConfig c;
    change(o, c);
    EXPECT_TRUE(plain != trainer::step_fingerprint(view, o, c, 3, 4));
  };
  others([](auto& o, auto&) { o.objective = kernels::Objective::kGrpo; });
  others([](auto& o, auto&) { o.clip_high += 1e-3f; });
  others([](auto& o, auto&) { o.kl_coef += 1e-3f; });
  others([](auto& o, auto&) { o.kl_estimator = kernels::KlEstimator::kK1; });
  others([](auto& o, auto&) { o.dual_clip = 3.0f; });
  others([](auto& o, auto&) { o.off_policy_mask = 3.0f; });
  others([](auto& o, auto&) { o.gate_positive += 1e-3f; });
  others([](auto& o, auto&) { o.gate_negative += 1e-3f; });
  others([](auto& o, auto&) { o.temperature += 1e-3f; });
  others([](auto& o, auto&) { o.correction = kernels::Correction(1); });
  others([](auto& o, auto&) { o.slopes = [](const trainer::SlopesRequest&) {}; });
  others([](auto& o, auto&) { o.keeps_version = true; });
  others([](auto& o, auto&) { o.divergence.coef = 0.5f; });
  others([](auto& o, auto&) { o.divergence.beta = 0.6f; });
  others([](auto& o, auto&) { o.divergence.by_sequence = true; });
  others([](auto& o, auto&) { o.divergence.rest = true; });
  others([](auto&, auto& c) { c.packed_tokens += 1; });
  others([](auto&, auto& c) { c.sharding.exact = true; });
  others([](auto&, auto& c) { c.weight_storage = DType::kBF16; });
  others([](auto&, auto& c) { c.arithmetic = kernels::Arithmetic::kBF16; });
  others([](auto&, auto& c) { c.optimizer.gradient_clip = 0.4f; });
  others([](auto&, auto& c) { c.optimizer.seed = 4; });
}

TEST(the_first_of_all_ranks_is_found) {
  const auto first = [](std::vector<int64_t> numbers) {
    int64_t found = -2;
    test::on_ranks(int(numbers.size()), [&](dist::Communicator& ranks) {
      const int64_t answer = trainer::first_of_ranks(ranks, numbers[size_t(ranks.rank())]);
      if (ranks.rank() == 1) found = answer;
    });
    return found;
  };
  EXPECT_EQ(first({-1, 7, 3}), 3);
  EXPECT_EQ(first({0, -1, -1}), 0);
  EXPECT_EQ(first({-1, -1}), -1);
}

TEST(micro_batches_are_dealt_one_after_another) {
  std::vector<MicroBatch> all(5);
  for (int32_t i = 0; i < 5; ++i) all[size_t(i)].sequences = {i};
  EXPECT_EQ(dealt(all, 1, 3).size(), size_t(2));
  EXPECT_EQ(dealt(all, 1, 3)[1].sequences[0], 4);
  EXPECT_EQ(dealt(all, 2, 3)[0].sequences[0], 2);
  EXPECT_TRUE(dealt(all, 6, 7).empty());
}

/// Writes what the rank that has these sequences would report about them.
void fill(const test::Batch& batch, const MicroBatch& which, StepLosses& losses, StepReport& report) {
  for (const int32_t i : which.sequences) {
    losses.loss[size_t(i)] = i + 0.25;
    losses.policy[size_t(i)] = i == 3 ? std::nan("") : i + 0.5;
    for (int32_t t = batch.cu_seqlens[size_t(i)]; t < batch.cu_seqlens[size_t(i) + 1]; ++t) {
      report.logprobs[size_t(t)] = float(-t);
      report.entropies[size_t(t)] = float(t) * 2;
      report.ratios[size_t(t)] = float(t) * 3;
      report.weights[size_t(t)] = float(t) * 4;
      report.divergences[size_t(t)] = float(t) * 5;
      report.clipped[size_t(t)] = uint8_t(t % 2);
    }
  }
}

TEST(a_report_is_whole_on_every_rank) {
  test::Batch batch;
  for (int i = 0; i < 7; ++i) batch.add(std::vector<int32_t>(size_t(2 + i), 1), 1, 0.5f);
  const std::vector<MicroBatch> all = {{{4, 6}, 0}, {{5}, 0}, {{0, 2, 3}, 0}, {{1}, 0}};
  const size_t T = batch.tokens.size();
  const auto said = test::on_ranks(3, [&](dist::Communicator& ranks) {
    StepReport report;
    // the slowest rank is neither the first nor the last
    report.forward_seconds = ranks.rank() == 1 ? 3.0 : 1.0;
    report.backward_seconds = 5.0 - ranks.rank();
    for (auto* array : {&report.logprobs, &report.entropies, &report.ratios, &report.weights, &report.divergences}) array->resize(T);
    report.clipped.resize(T);
    StepLosses losses(7);
    for (const MicroBatch& which : dealt(all, ranks.rank(), 3)) fill(batch, which, losses, report);
    trainer::gather_report(ranks, 1, batch.view(), all, losses, report);
    EXPECT_EQ(report.forward_seconds, 3.0);
    EXPECT_EQ(report.backward_seconds, 5.0);
    EXPECT_EQ(losses.first_bad, 3);
    for (size_t i = 0; i < 7; ++i) EXPECT_EQ(losses.loss[i], double(i) + 0.25);
    for (size_t t = 0; t < T; ++t) {
      EXPECT_TRUE(report.logprobs[t] == -float(t) && report.entropies[t] == float(t) * 2 && report.ratios[t] == float(t) * 3 &&
                  report.weights[t] == float(t) * 4 && report.divergences[t] == float(t) * 5 && report.clipped[t] == t % 2);
    }
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
}

}  // namespace

}  // namespace trainer_rank_agreement_test
