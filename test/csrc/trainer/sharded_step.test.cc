// 2, 3 and 4 ranks that train one model together, compared with one trainer, after 20 steps. One trainer
// without sharding is the reference of the default mode; the exact mode has the same bits for any number of
// ranks. Mutation tests: test/mutants/csrc-trainer.json.
#include "trainer/sharded_step.h"

#include "check.h"
#include "trainer/sharded_course.h"

namespace trainer_sharded_step_test {
namespace {

using namespace hone;
using namespace hone::test;

TEST(ranks_equal_one_trainer_within_the_bound_and_repeat_to_the_bit) {
  const model::ModelConfig model = test::switch_configs()[1].second;
  for (const Objective objective : {Objective::kGspo, Objective::kSupervised}) {
    const StepOptions o = options_of(objective);
    const Course alone = train(model, config_of(Sharding::Stage::kNone, false), o, 8, nullptr);
    EXPECT_TRUE(alone.reports[0].micro_batches > 4 && alone.reports[0].grad_scale < 1.0);
    for (const int size : {2, 3, 4}) {
      const auto first = train_ranks(size, model, config_of(Sharding::Stage::kOptimizer, false), o, 8);
      const auto second = train_ranks(size, model, config_of(Sharding::Stage::kOptimizer, false), o, 8);
      expect_near(first[0], alone);
      for (size_t rank = 0; rank < first.size(); ++rank) {
        EXPECT_TRUE(same_course(first[rank], first[0]));
        EXPECT_TRUE(same_course(first[rank], second[rank]));
      }
    }
  }
}

TEST(the_exact_mode_has_the_same_bits_for_any_number_of_ranks) {
  const model::ModelConfig model = test::switch_configs()[0].second;
  for (const Objective objective : {Objective::kGspo, Objective::kSupervised}) {
    for (const DType moments : {DType::kF32, DType::kBF16}) {
      TrainerConfig config = config_of(Sharding::Stage::kOptimizer, true);
      config.optimizer.moments = moments;
      const StepOptions o = options_of(objective);
      const Course solo = train(model, config, o, 7, nullptr);
      for (const int size : {1, 2, 3, 4}) {
        for (const Course& course : train_ranks(size, model, config, o, 7)) EXPECT_TRUE(same_course(course, solo));
      }
      config.sharding = {};
      expect_near(solo, train(model, config, o, 7, nullptr));
    }
  }
}

TEST(muon_updates_whole_matrices_on_every_rank) {
  const model::ModelConfig model = test::switch_configs()[0].second;
  StepOptions o = options_of(Objective::kSupervised);
  o.muon_lr = 1e-3f;
  TrainerConfig config = config_of(Sharding::Stage::kOptimizer, true);
  config.optimizer.kind = trainer::OptimizerConfig::Kind::kMuon;
  const Course solo = train(model, config, o, 7, nullptr);
  for (const int size : {1, 2, 3}) {
    for (const Course& course : train_ranks(size, model, config, o, 7)) EXPECT_TRUE(same_course(course, solo));
  }
  config.sharding = {};
  const Course alone = train(model, config, o, 7, nullptr);
  expect_near(solo, alone);
  config.sharding = {Sharding::Stage::kOptimizer, false};
  for (const Course& course : train_ranks(3, model, config, o, 7)) expect_near(course, alone);
}

TEST(divided_gradients_and_weights_have_the_bits_of_the_exact_mode) {
  for (const size_t which : {0, 1, 3}) {
    const model::ModelConfig model = test::switch_configs()[which].second;
    const StepOptions o = options_of(which ? Objective::kGspo : Objective::kSupervised);
    const Course solo = train(model, config_of(Sharding::Stage::kOptimizer, true), o, 7, nullptr);
    for (const auto stage : {Sharding::Stage::kGradients, Sharding::Stage::kParameters}) {
      TrainerConfig config = config_of(stage, false);
      for (const int size : {1, 2, 3, 4}) {
        config.sharding.exact = config.recompute = size % 2 == 0;
        for (const Course& course : train_ranks(size, model, config, o, 7)) EXPECT_TRUE(same_course(course, solo));
      }
    }
  }
}

TEST(ranks_without_a_micro_batch_change_nothing) {
  const model::ModelConfig model = test::tiny_config();
  const StepOptions o = options_of(Objective::kGspo);
  const Course alone = train(model, config_of(Sharding::Stage::kNone, false, 4096), o, 4, nullptr);
  EXPECT_EQ(alone.reports[0].micro_batches, 1);
  for (const bool exact : {false, true}) {
    for (const Course& course : train_ranks(3, model, config_of(Sharding::Stage::kOptimizer, exact, 4096), o, 4)) {
      expect_near(course, alone);
    }
  }
}

/// The scores of a batch, computed by one of `ranks` or, if that is null, by a single trainer.
std::vector<float> scores_of(const model::ModelConfig& model, const TrainerConfig& config, const Batch& batch, dist::Communicator* ranks) {
  Trainer trainer(model, config, nullptr, ranks);
  test::roughen(trainer.parameters(), 11);
  trainer.parameters_changed();
  std::vector<float> logprobs(batch.tokens.size()), entropies = logprobs;
  trainer.score(batch.view(), 0.7f, logprobs.data(), entropies.data());
  logprobs.insert(logprobs.end(), entropies.begin(), entropies.end());
  return logprobs;
}

TEST(ranks_and_teams_score_as_one_trainer_does) {
  const model::ModelConfig model = test::switch_configs()[0].second;

  const Batch batch = drawn_batch(model, 9, 3);
  const std::vector<float> alone = scores_of(model, config_of(Sharding::Stage::kNone, false), batch, nullptr);
  for (const auto stage : {Sharding::Stage::kOptimizer, Sharding::Stage::kGradients, Sharding::Stage::kParameters}) {
    for (const auto& [size, sequence] : {std::pair{2, 1}, {3, 1}, {2, 2}, {4, 2}}) {
      TrainerConfig config = config_of(stage, true);
      config.sharding.sequence = sequence;
      const auto said = on_ranks(size, [&](dist::Communicator& ranks) { EXPECT_TRUE(same(scores_of(model, config, batch, &ranks), alone)); });
      for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
    }
  }
}

/// Checks which micro-batches each rank scores: its scores differ from other ranks'.
TEST(each_rank_or_team_scores_its_own_micro_batches_and_all_have_all_scores) {
  const model::ModelConfig model = tiny_config();
  Batch batch;
  for (int i = 0; i < 5; ++i) batch.add(std::vector<int32_t>(size_t(3 + i), 1), 1, 0.5f);
  const std::vector<trainer::MicroBatch> all = {{{4}, 7}, {{0, 3}, 9}, {{2}, 5}, {{1}, 4}, {{}, 0}};
  // for each sequence, which of two teams has its micro-batch
  const std::vector<int> owner = {1, 1, 0, 1, 0};
  for (const int team : {1, 2}) {
    TrainerConfig config = config_of(Sharding::Stage::kOptimizer, true);
    config.sharding.sequence = team;
    const auto said = on_ranks(2 * team, [&](dist::Communicator& ranks) {
      model::Parameters parameters(model, Stream{});
      trainer::ShardedStep step(Stream{}, {parameters, &parameters}, config, &ranks);
      std::vector<float> logprobs(batch.tokens.size()), entropies = logprobs;
      int64_t scored = 0;
      const auto score = [&](const trainer::MicroBatch& which) {
        ++scored;
        for (const int32_t i : which.sequences) {
          for (int32_t t = batch.cu_seqlens[size_t(i)]; t < batch.cu_seqlens[size_t(i) + 1]; ++t) {
            logprobs[size_t(t)] = float(100 * (ranks.rank() / team) + i), entropies[size_t(t)] = -float(t);
          }
        }
      };
      step.score([] {}, batch.view(), 1.0f, all, score, {logprobs.data(), entropies.data()});
      EXPECT_EQ(scored, ranks.rank() / team == 0 ? 3 : 2);
      for (size_t i = 0; i < owner.size(); ++i) {
        for (auto t = size_t(batch.cu_seqlens[i]); t < size_t(batch.cu_seqlens[i + 1]); ++t) {
          EXPECT_EQ(logprobs[t], float(100 * owner[i]) + float(i));
          EXPECT_EQ(entropies[t], -float(t));
        }
      }
    });
    for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
  }
}

TEST(adapters_are_divided_as_all_weights_are) {
  const model::ModelConfig model = test::tiny_config();
  TrainerConfig config = config_of(Sharding::Stage::kOptimizer, true);
  config.adapters = {.rank = 4, .alpha = 8.0f, .targets = {"all-linear"}, .seed = 3};
  StepOptions o = options_of(Objective::kSupervised);
  o.lr = 1e-2f;
  const Course solo = train(model, config, o, 7, nullptr);
  for (const int size : {2, 3}) {
    for (const Course& course : train_ranks(size, model, config, o, 7)) EXPECT_TRUE(same_course(course, solo));
  }
  config.sharding = {};
  expect_near(solo, train(model, config, o, 7, nullptr));
}

}  // namespace

}  // namespace trainer_sharded_step_test
