// Trainers on GPUs that share each micro-batch (sharding.sequence); sharded_cuda.test.cc tests other kinds of
// sharding. They equal, to the bit, one trainer on a GPU that sums over the same blocks of rows and, within
// the documented bound, one without blocks. As on a GPU, a stream's work waits for NCCL's earlier operations,
// and the host waits for none. Mutation tests: test/mutants/csrc-trainer.json.
#include "sharded_gpus.h"

namespace contract_sequence_cuda_test {

using namespace hone;
using namespace hone::test;

namespace {

TrainerConfig in_teams(Stage stage, bool exact, int sequence, int64_t packed_tokens) {
  TrainerConfig config = gpu_config(stage, exact, packed_tokens);
  config.sharding.sequence = sequence;
  return config;
}

/// A model with as many key/value heads as query heads, so that up to that many ranks can share them.
ModelConfig many_heads(bool decorated = false) {
  ModelConfig model = small();
  model.kv_heads = model.heads;
  model.qk_norm = decorated;
  return model;
}

/// A batch of sequences of these lengths; only the last token of each is a loss token.
Batch of_lengths(std::initializer_list<int> lengths) {
  Batch batch;
  for (const int length : lengths) {
    std::vector<int32_t> tokens;
    for (int t = 0; t < length; ++t) tokens.push_back((7 * t + length) % 61);
    batch.add(tokens, size_t(length - 1), 1.0f, 1);
  }
  return batch;
}

}  // namespace

TEST(teams_of_gpus_have_the_bits_of_one_trainer_alone_and_those_of_no_team_within_the_bound) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const std::vector<Batch> batches = drawn_batches(model);
  const TrainerConfig config = in_teams(Stage::kOptimizer, true, 2, 7);
  const Course solo = run(model, config, supervised(), batches);
  EXPECT_TRUE(solo.reports[0].micro_batches >= 3 && solo.reports[0].update_norm > 0);
  for (const Course& course : run_ranks(2, model, config, supervised(), batches)) EXPECT_TRUE(same_course(course, solo));
  expect_near(solo, run(model, gpu_config(Stage::kNone, false), supervised(), batches));
}

TEST(two_teams_that_divide_weights_and_compute_layers_again_have_the_bits_of_one_trainer_alone) {
  NEEDS_SHIM;
  const ModelConfig model = small(2);
  const std::vector<Batch> batch{drawn_batches(model)[0]};
  TrainerConfig config = in_teams(Stage::kParameters, true, 2, 7);
  config.recompute = true;
  const Course solo = run(model, config, supervised(), batch);
  // an odd number, so that in the last round one team has no micro-batch
  EXPECT_TRUE(solo.reports[0].micro_batches % 2 == 1);
  for (const Course& course : run_ranks(4, model, config, supervised(), batch)) EXPECT_TRUE(same_course(course, solo));
}

TEST(a_team_of_four_has_the_bits_of_one_trainer_alone_also_with_fewer_rows_than_ranks) {
  NEEDS_SHIM;
  const ModelConfig model = many_heads(true);
  const std::vector<Batch> batch{of_lengths({13, 2, 3})};  // gives micro-batches of 13 and of 5 rows
  const TrainerConfig config = in_teams(Stage::kOptimizer, true, 4, 3);
  const Course solo = run(model, config, supervised(), batch);
  EXPECT_EQ(solo.reports[0].micro_batches, 2);
  for (const Course& course : run_ranks(4, model, config, supervised(), batch)) EXPECT_TRUE(same_course(course, solo));
  const std::vector<Batch> few{of_lengths({3})};  // one rank has no row, and two have no loss row
  const TrainerConfig whole = in_teams(Stage::kParameters, true, 4, 3);
  const Course other = run(model, whole, supervised(), few);
  for (const Course& course : run_ranks(4, model, whole, supervised(), few)) EXPECT_TRUE(same_course(course, other));
}

TEST(teams_that_add_up_their_own_first_are_within_the_bound) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const std::vector<Batch> batches{drawn_batches(model)[0]};
  const Course alone = run(model, gpu_config(Stage::kNone, false), supervised(), batches);
  for (const Course& course : run_ranks(4, model, in_teams(Stage::kOptimizer, false, 2, 7), supervised(), batches)) expect_near(course, alone);
}

TEST(teams_score_as_one_trainer_does) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const Batch batch = some_batch(model);
  const auto scores = [&](Trainer& trainer) {
    std::vector<float> logprobs(batch.tokens.size()), entropies = logprobs;
    trainer.score(batch.view(), 1.0f, logprobs.data(), entropies.data());
    logprobs.insert(logprobs.end(), entropies.begin(), entropies.end());
    return logprobs;
  };
  Trainer alone(model, gpu_config(Stage::kNone, false), nullptr);
  roughen_all(alone);
  const std::vector<float> wanted = scores(alone);
  for (const Stage stage : {Stage::kOptimizer, Stage::kParameters}) {
    on_gpus(4, [&](dist::Communicator& group) {
      Trainer trainer(model, in_teams(stage, true, 2, 7), nullptr, &group);
      roughen_all(trainer);
      EXPECT_TRUE(same(scores(trainer), wanted));
    });
  }
}

/// Every rank calls the objective for all rows; when it fails on rank 0, rank 1 is waiting for rank 0 within
/// the pass.
TEST(an_objective_that_fails_on_one_gpu_amid_a_pass_ends_the_step_for_all) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  Batch batch = some_batch(model);
  batch.behavior.assign(batch.tokens.size(), -3.0f);
  for (const bool fails : {false, true}) {
    const auto said = gpu_ranks(2, {}, [&](GpuCommunicator& group, const Stream&, int rank) {
      Trainer trainer(model, in_teams(Stage::kOptimizer, true, 2, 14), nullptr, &group);
      roughen_all(trainer);
      StepOptions o = supervised();
      o.objective = Objective::kCustom;
      o.slopes = [&](const trainer::SlopesRequest& request) {
        if (fails && rank == 0) fail(Code::kData, "the objective cannot say.");
        for (int64_t t = 0; t < request.tokens; ++t) request.slopes[t] = -0.1;
        for (int64_t s = 0; s < request.sequences; ++s) request.losses[s] = 0.5;
      };
      EXPECT_TRUE(!trainer.step(batch.view(), o).skipped);
      EXPECT_EQ(trainer.version(), 1u);
    });
    EXPECT_EQ(said[0], std::string(fails ? "DATA the objective cannot say." : "ok"));
    EXPECT_TRUE(fails ? has(said[1], "COLLECTIVE") : said[1] == "ok");
  }
}

TEST(a_gpu_that_goes_away_amid_a_pass_leaves_nobody_waiting) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const std::vector<Batch> batches = drawn_batches(model);
  // after the comparison of weights: the exchange of rows for heads, and one in the backward
  for (const int at : {2, 5}) {
    const auto said = gpu_ranks(2, {.breaks = 1, .breaks_at = at}, [&](GpuCommunicator& group, const Stream&, int) {
      run(model, in_teams(Stage::kOptimizer, true, 2, 7), supervised(), batches, &group);
    });
    for (const std::string& text : said) EXPECT_TRUE(has(text, "COLLECTIVE"));
  }
}

}  // namespace contract_sequence_cuda_test
