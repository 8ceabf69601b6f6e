// Twenty steps of teams of ranks that share each micro-batch equal, to the bit, those of one trainer that
// sums over the same row blocks and, within the documented bound, those of one without blocks. If a rank
// fails within a pass, all ranks report it. Mutation tests: test/mutants/csrc-trainer.json.
#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <thread>

#include "check.h"
#include "model/goldens.h"
#include "trainer/sequence_ranks.h"
#include "trainer/sharded_course.h"

namespace trainer_sequence_ranks_course_test {
namespace {

using namespace hone;
using namespace hone::test;

TrainerConfig in_teams(Sharding::Stage stage, bool exact, int sequence, int64_t packed_tokens) {
  TrainerConfig config = config_of(stage, exact, packed_tokens);
  config.sharding.sequence = sequence;
  return config;
}

TEST(teams_have_the_bits_of_one_trainer_alone_and_those_of_no_team_within_the_bound) {
  for (const size_t which : {0, 3}) {
    const model::ModelConfig model = switch_configs()[which].second;
    const StepOptions o = options_of(which ? Objective::kGspo : Objective::kSupervised);
    const Course alone = train(model, config_of(Sharding::Stage::kNone, false, 48), o, 7, nullptr);
    const Course solo = train(model, in_teams(Sharding::Stage::kOptimizer, true, 2, 24), o, 7, nullptr);
    EXPECT_TRUE(alone.reports[0].micro_batches > 1);  // of 48 tokens, which a team shares
    expect_near(solo, alone);
    for (const auto stage : {Sharding::Stage::kOptimizer, Sharding::Stage::kGradients, Sharding::Stage::kParameters}) {
      for (const int size : {2, 4}) {
        TrainerConfig config = in_teams(stage, true, 2, 24);
        config.recompute = size == 2;
        for (const Course& course : train_ranks(size, model, config, o, 7)) EXPECT_TRUE(same_course(course, solo));
      }
      EXPECT_TRUE(same_course(train(model, in_teams(stage, true, 2, 24), o, 7, nullptr), solo));
    }
    for (const Course& course : train_ranks(4, model, in_teams(Sharding::Stage::kOptimizer, false, 2, 24), o, 7)) expect_near(course, alone);
  }
}

/// Sequences of 5 to 24 tokens on four ranks with 3 tokens each: every sequence is longer than one rank's
/// share.
TEST(a_sequence_longer_than_one_rank_holds_spans_four) {
  const model::ModelConfig model = switch_configs()[3].second;
  const StepOptions o = options_of(Objective::kGspo);
  TrainerConfig config = in_teams(Sharding::Stage::kParameters, true, 4, 3);
  config.recompute = true;
  const Course solo = train(model, config, o, 4, nullptr);
  EXPECT_TRUE(solo.reports[0].micro_batches > 2);
  for (const Course& course : train_ranks(4, model, config, o, 4)) EXPECT_TRUE(same_course(course, solo));
  expect_near(solo, train(model, config_of(Sharding::Stage::kNone, false, 12), o, 4, nullptr));
}

TEST(adapters_and_matrices_that_are_updated_whole_too) {
  const model::ModelConfig model = tiny_config();
  StepOptions o = options_of(Objective::kSupervised);
  o.muon_lr = 1e-3f;
  TrainerConfig muon = in_teams(Sharding::Stage::kOptimizer, true, 2, 24), adapted = muon;
  muon.optimizer.kind = trainer::OptimizerConfig::Kind::kMuon;
  adapted.adapters = {.rank = 4, .alpha = 8.0f, .targets = {"all-linear"}, .seed = 3};
  for (const TrainerConfig& config : {muon, adapted}) {
    const Course solo = train(model, config, o, 7, nullptr);
    for (const Course& course : train_ranks(4, model, config, o, 7)) EXPECT_TRUE(same_course(course, solo));
  }
}

TEST(a_checkpoint_of_teams_is_read_by_any_number_of_ranks) {
  const model::ModelConfig model = tiny_config();
  const StepOptions o = options_of(Objective::kSupervised);
  const TemporaryFolder folder("teams");
  const std::string saved = folder / "saved";
  const auto next = [&](Trainer& trainer) {
    trainer.step(drawn_batch(model, 7, 2).view(), o);
    const TensorView flat = trainer.trained().flat();
    return std::vector<float>(flat.as<float>(), flat.as<float>() + flat.numel());
  };
  std::vector<float> wanted;
  const TrainerConfig config = in_teams(Sharding::Stage::kParameters, true, 2, 24);
  const auto go_on = [&](dist::Communicator* ranks) {
    Trainer trainer(model, config, nullptr, ranks);
    trainer.load(saved);
    EXPECT_TRUE(same(next(trainer), wanted));
  };
  for (const std::string& text : on_ranks(4, [&](dist::Communicator& ranks) {
         Trainer trainer(model, config, nullptr, &ranks);
         roughen(trainer.parameters(), 11);
         trainer.parameters_changed();
         for (const uint64_t seed : {0, 1}) trainer.step(drawn_batch(model, 7, seed).view(), o);
         trainer.save(saved, "");
         const std::vector<float> now = next(trainer);
         if (ranks.rank() == 0) wanted = now;
       })) EXPECT_EQ(text, std::string("ok"));
  go_on(nullptr);
  for (const int size : {2, 4, 6}) {
    for (const std::string& text : on_ranks(size, [&](dist::Communicator& ranks) { go_on(&ranks); })) EXPECT_EQ(text, std::string("ok"));
  }
}

/// What each rank reported for one step, in teams of two, on the same weights.
struct Outcome {
  std::vector<std::string> said;
  std::vector<StepReport> reports;
  bool untouched = true;
};
using Change = std::function<void(int rank, Batch& batch, StepOptions& o)>;

Outcome one_step(Sharding::Stage stage, const Change& change, LocalFault fault = {}, milliseconds timeout = milliseconds(60'000)) {
  const model::ModelConfig model = tiny_config();
  Outcome out;
  out.reports.resize(4);
  std::vector<uint8_t> untouched(4, 0);
  std::atomic<int> ended{0};
  out.said.resize(4);
  const auto ran = local_ranks(4, timeout, fault, [&](dist::Communicator& ranks, int rank) {
    Trainer trainer(model, in_teams(stage, true, 2, 12), nullptr, &ranks);
    roughen(trainer.parameters(), 9);
    Batch batch = drawn_batch(model, 8, 5);
    batch.behavior.assign(batch.tokens.size(), -3.0f);
    StepOptions o;
    o.lr = 0.1f;
    change(rank, batch, o);
    trainer.parameters_changed();
    const TensorView flat = trainer.parameters().flat();
    const std::vector<float> before(flat.as<float>(), flat.as<float>() + flat.numel());
    out.said[size_t(rank)] = outcome([&] { out.reports[size_t(rank)] = trainer.step(batch.view(), o); });
    const bool whole = stage == Sharding::Stage::kOptimizer;  // otherwise a rank only has its own shard
    untouched[size_t(rank)] = trainer.version() == 0 && (!whole || same_bits(before.data(), flat.as<float>(), flat.numel()));
    ++ended;  // a rank that ends would fail the others, which the failed step has to do alone
    for (int wait = 0; ended < 4 && wait < 30'000; ++wait) std::this_thread::sleep_for(milliseconds(2));
  });
  for (const std::string& text : ran) EXPECT_EQ(text, std::string("ok"));
  for (const uint8_t same : untouched) out.untouched = out.untouched && same;
  return out;
}

constexpr Sharding::Stage kStages[] = {Sharding::Stage::kOptimizer, Sharding::Stage::kGradients, Sharding::Stage::kParameters};

TEST(what_is_not_finite_is_named_by_all_and_skipped) {
  for (const auto stage : kStages) {
    const Outcome loss = one_step(stage, [](int, Batch& batch, StepOptions&) {
      // in sequence 5
      batch.behavior[size_t(batch.cu_seqlens[6]) - 1] = std::numeric_limits<float>::quiet_NaN();
    });
    const Outcome gradient = one_step(stage, [](int, Batch& batch, StepOptions& o) {
      batch.add(std::vector<int32_t>(60, 7), 1, 3e38f, 1);
      batch.behavior.assign(batch.tokens.size(), -3.0f);
      o.objective = Objective::kReinforce;
    });
    EXPECT_TRUE(loss.untouched && gradient.untouched);
    for (size_t rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(loss.said[rank] + gradient.said[rank], std::string("okok"));
      EXPECT_TRUE(loss.reports[rank].skipped && gradient.reports[rank].skipped);
      EXPECT_EQ(loss.reports[rank].non_finite_sequence, 5);
      EXPECT_EQ(gradient.reports[rank].non_finite_sequence, 8);
    }
  }
}

/// The failing rank's partner waits for it within the pass, so the group is aborted at once.
TEST(a_rank_that_fails_amid_a_pass_ends_the_step_for_all) {
  for (const auto stage : kStages) {
    const Outcome out = one_step(stage, [](int rank, Batch&, StepOptions& o) {
      o.objective = Objective::kCustom;
      o.slopes = [rank](const trainer::SlopesRequest& request) {
        if (rank == 1) fail(Code::kData, "the objective cannot say.");
        std::fill_n(request.slopes, request.tokens, -0.1);
        std::fill_n(request.losses, request.sequences, 0.5);
      };
    }, {}, milliseconds(20'000));
    EXPECT_TRUE(out.untouched);
    EXPECT_TRUE(has(out.said[1], "DATA the objective cannot say."));
    for (const size_t rank : {0, 2, 3}) EXPECT_TRUE(has(out.said[rank], "COLLECTIVE") && !has(out.said[rank], "in time"));
  }
}

constexpr uint64_t kOfTeam = uint64_t(1) << 55;

TEST(a_rank_that_dies_hangs_or_calls_something_else_amid_a_pass_raises_on_all) {
  using Kind = LocalFault::Kind;
  const auto nothing = [](int, Batch&, StepOptions&) {};
  // rows to heads, heads to rows, sharing results, and a collective in the backward
  for (const uint64_t collective : {1, 3, 5, 8}) {
    for (const Kind kind : {Kind::kDies, Kind::kWrongCount}) {
      const Outcome out = one_step(Sharding::Stage::kGradients, nothing, {kind, 2, kOfTeam | collective});
      EXPECT_TRUE(out.untouched);
      for (const std::string& text : out.said) EXPECT_TRUE(has(text, "COLLECTIVE"));
      if (kind == Kind::kWrongCount) EXPECT_TRUE(has(out.said[3], "in teams of 2 as collective " + std::to_string(collective)));
    }
  }
  const Outcome late = one_step(Sharding::Stage::kOptimizer, nothing, {Kind::kHangs, 2, kOfTeam | 3}, milliseconds(3'000));
  EXPECT_TRUE(late.untouched);
  for (const std::string& text : late.said) EXPECT_TRUE(has(text, "COLLECTIVE"));
}

TEST(what_teams_cannot_divide_is_refused_where_a_trainer_is_made) {
  const model::ModelConfig model = tiny_config();
  EXPECT_THROWS(Trainer(model, in_teams(Sharding::Stage::kOptimizer, true, 4, 24), nullptr), Code::kConfig);
  EXPECT_THROWS(Trainer(model, in_teams(Sharding::Stage::kNone, true, 2, 24), nullptr), Code::kConfig);
  for (const std::string& text : on_ranks(3, [&](dist::Communicator& ranks) {
         Trainer(model, in_teams(Sharding::Stage::kOptimizer, true, 2, 24), nullptr, &ranks);
       })) EXPECT_TRUE(has(text, "CONFIG trainer: sharding.sequence is 2, which does not divide the 3 ranks"));
}

}  // namespace

}  // namespace trainer_sequence_ranks_course_test
