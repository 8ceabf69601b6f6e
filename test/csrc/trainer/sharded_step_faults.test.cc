// Faults on one rank are reported on all: no weights change anywhere, and no rank waits forever. Mutation
// tests: test/mutants/csrc-trainer.json.
#include "trainer/sharded_step.h"

#include <array>
#include <functional>

#include "check.h"
#include "trainer/sharded_course.h"

namespace trainer_sharded_step_faults_test {
namespace {

using namespace hone;
using namespace hone::test;

/// What each rank reported for one step on the same weights, and whether weights and version are unchanged.
struct Outcome {
  std::vector<std::string> said;
  std::vector<StepReport> reports;
  bool untouched = true;
};
using Change = std::function<void(int rank, Batch& batch, StepOptions& o, Trainer& trainer)>;

Outcome one_step(int size, bool exact, const Change& change, Sharding::Stage stage = Sharding::Stage::kOptimizer) {
  const model::ModelConfig model = tiny_config();
  Outcome out;
  out.reports.resize(size_t(size));
  std::vector<uint8_t> same_weights(size_t(size), 0);
  out.said = on_ranks(size, [&](dist::Communicator& ranks) {
    Trainer trainer(model, config_of(stage, exact), nullptr, &ranks);
    roughen(trainer.parameters(), 9);
    Batch batch = drawn_batch(model, 8, 5);
    batch.behavior.assign(batch.tokens.size(), -3.0f);
    StepOptions o;
    o.lr = 0.1f;
    change(ranks.rank(), batch, o, trainer);
    trainer.parameters_changed();
    const TensorView flat = trainer.parameters().flat();
    const std::vector<float> before(flat.as<float>(), flat.as<float>() + flat.numel());
    const auto is_same = [&] {
      const TensorView now = trainer.parameters().flat();
      return same_bits(before.data(), now.as<float>(), now.numel()) && trainer.version() == 0;
    };
    try {
      out.reports[size_t(ranks.rank())] = trainer.step(batch.view(), o);
    } catch (const Error&) {
      same_weights[size_t(ranks.rank())] = is_same();
      throw;
    }
    same_weights[size_t(ranks.rank())] = is_same();
  });
  for (const uint8_t same : same_weights) out.untouched = out.untouched && same;
  return out;
}

/// Not exact; exact; exact with gradients passed on layer by layer; exact with weights gathered layer by
/// layer.
const std::pair<Sharding::Stage, bool> kModes[] = {{Sharding::Stage::kOptimizer, false},
                                                   {Sharding::Stage::kOptimizer, true},
                                                   {Sharding::Stage::kGradients, true},
                                                   {Sharding::Stage::kParameters, true}};

TEST(a_loss_that_is_not_a_number_on_one_rank_skips_the_step_on_all) {
  for (const auto& [stage, exact] : kModes) {
    const Outcome out = one_step(3, exact, [](int, Batch& batch, StepOptions&, Trainer&) {
      // the last token of sequence 5
      batch.behavior[size_t(batch.cu_seqlens[6]) - 1] = std::numeric_limits<float>::quiet_NaN();
    }, stage);
    EXPECT_TRUE(out.untouched);
    for (size_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(out.said[rank], std::string("ok"));
      EXPECT_TRUE(out.reports[rank].skipped);
      EXPECT_EQ(out.reports[rank].non_finite_sequence, 5);
      EXPECT_TRUE(out.reports[rank].weight_norm > 0.0 && out.reports[rank].update_norm == 0.0);
    }
  }
}

TEST(a_gradient_that_overflows_names_its_sequence_on_all_ranks) {
  for (const auto& [stage, exact] : kModes) {
    const auto overflow = [](int, Batch& batch, StepOptions& o, Trainer&) {
      batch.add(std::vector<int32_t>(60, 7), 1, 3e38f, 1);
      batch.behavior.assign(batch.tokens.size(), -3.0f);
      o.objective = Objective::kReinforce;
    };
    const Outcome out = one_step(2, exact, overflow, stage);
    EXPECT_TRUE(out.untouched);
    for (size_t rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(out.said[rank], std::string("ok"));
      EXPECT_TRUE(out.reports[rank].skipped);
      EXPECT_EQ(out.reports[rank].non_finite_sequence, 8);
    }
  }
}

TEST(a_rank_that_fails_ends_the_step_for_all_and_says_why) {
  for (const auto& [stage, exact] : kModes) {
    const Outcome out = one_step(3, exact, [](int rank, Batch&, StepOptions& o, Trainer&) {
      o.objective = Objective::kCustom;
      o.slopes = [rank, asked = 0](const trainer::SlopesRequest& request) mutable {
        // the objective's next call succeeds
        if (rank == 1 && asked++ == 0) fail(Code::kData, "the objective cannot say.");
        std::fill_n(request.slopes, request.tokens, -0.1);
        std::fill_n(request.losses, request.sequences, 0.5);
      };
    }, stage);
    EXPECT_TRUE(out.untouched);
    EXPECT_EQ(out.said[1], std::string("DATA the objective cannot say."));
    for (const size_t rank : {0, 2}) EXPECT_TRUE(has(out.said[rank], "COLLECTIVE step: rank 1 failed") && has(out.said[rank], "the objective cannot say."));
  }
}

TEST(a_custom_objective_is_asked_by_each_rank_about_its_own_micro_batches) {
  std::array<int64_t, 3> tokens{};
  const Outcome out = one_step(3, false, [&](int rank, Batch&, StepOptions& o, Trainer&) {
    o.objective = Objective::kCustom;
    o.slopes = [&tokens, rank](const trainer::SlopesRequest& request) {
      tokens[size_t(rank)] += request.tokens;
      std::fill_n(request.slopes, request.tokens, -0.1);
      std::fill_n(request.losses, request.sequences, 0.25);
    };
  });
  EXPECT_TRUE(!out.untouched);
  for (size_t rank = 0; rank < 3; ++rank) {
    EXPECT_TRUE(tokens[rank] > 0);
    EXPECT_EQ(out.reports[rank].loss, 2.0);
  }
  EXPECT_EQ(tokens[0] + tokens[1] + tokens[2], out.reports[0].trained_tokens);
}

TEST(a_rank_that_dies_in_a_step_is_noticed_by_all_others) {
  const model::ModelConfig model = tiny_config();
  // The collectives of a first step: agreement, weights, agreement, results, gradients, norms, weights, sums.
  for (const uint64_t collective : {1, 2, 6, 9, 14, 20, 30}) {
    const auto said = on_ranks(
        3, [&](dist::Communicator& ranks) { train(model, config_of(Sharding::Stage::kOptimizer, true), options_of(Objective::kSupervised), 7, &ranks); },
        {.kind = LocalFault::Kind::kDies, .rank = 1, .collective = collective});
    for (const std::string& text : said) EXPECT_TRUE(has(text, "COLLECTIVE"));
  }
}

TEST(ranks_that_were_given_different_things_are_told) {
  const std::pair<const char*, Change> cases[] = {
      {"batch", [](int rank, Batch& batch, StepOptions&, Trainer&) { batch.tokens[3] ^= rank == 2; }},
      {"advantage", [](int rank, Batch& batch, StepOptions&, Trainer&) { batch.advantages[0] += rank == 2 ? 1e-3f : 0.0f; }},
      {"rate", [](int rank, Batch&, StepOptions& o, Trainer&) { o.lr = rank == 2 ? 0.2f : 0.1f; }},
      {"size", [](int rank, Batch& batch, StepOptions&, Trainer&) {
         if (rank == 2) batch.add({1, 2, 3}, 1, 0.5f), batch.behavior.resize(batch.tokens.size());
       }}};
  for (const auto& [name, change] : cases) {
    const Outcome out = one_step(3, true, change);
    EXPECT_TRUE(out.untouched);
    for (const std::string& said : out.said) EXPECT_TRUE(has(said, "STATE step: rank 2 was given another batch"));
  }
}

TEST(ranks_with_different_weights_are_told) {
  const Outcome out = one_step(3, false, [](int rank, Batch&, StepOptions&, Trainer& trainer) {
    if (rank == 1) trainer.parameters().flat().as<float>()[trainer.parameters().flat().numel() - 20] += 1.0f;
  });
  EXPECT_TRUE(out.untouched);
  for (const std::string& said : out.said) EXPECT_TRUE(has(said, "differ from those of other ranks") || has(said, "COLLECTIVE step: rank"));
}

TEST(a_batch_that_one_rank_refuses_ends_the_step_for_all) {
  const Outcome out = one_step(2, false, [](int rank, Batch& batch, StepOptions&, Trainer&) {
    if (rank == 0) batch.tokens[0] = -1;
  });
  EXPECT_TRUE(out.untouched);
  EXPECT_TRUE(has(out.said[0], "SHAPE step: tokens[0] is -1"));
  EXPECT_TRUE(has(out.said[1], "COLLECTIVE step: rank 0 failed, so that no rank went on: step: tokens[0] is -1"));
}

TEST(what_cannot_be_divided_is_refused_by_name) {
  const model::ModelConfig model = tiny_config();
  TrainerConfig muon = config_of(Sharding::Stage::kGradients, false);
  muon.optimizer.kind = trainer::OptimizerConfig::Kind::kMuon;
  EXPECT_THROWS(Trainer(model, muon, nullptr), Code::kUnsupported);
  TrainerConfig team = config_of(Sharding::Stage::kParameters, false);
  team.device = Stream::Backend::kCuda, team.sharding.sequence = 2;
  trainer::check_sharding(team);
  TrainerConfig adapted = config_of(Sharding::Stage::kGradients, false);
  adapted.adapters = {.rank = 4, .alpha = 8.0f, .targets = {"all-linear"}, .seed = 3};
  EXPECT_THROWS(Trainer(model, adapted, nullptr), Code::kUnsupported);
  Trainer layered(model, config_of(Sharding::Stage::kGradients, false), nullptr);
  const Batch batch = drawn_batch(model, 2, 1);
  const std::vector<int32_t> parts(2, 0);
  EXPECT_THROWS(layered.gradient_parts(batch.view(), options_of(Objective::kSupervised), parts.data(), 1), Code::kUnsupported);
  dist::SoloCommunicator ranks;
  EXPECT_THROWS(Trainer(model, TrainerConfig{}, nullptr, &ranks), Code::kConfig);
  Trainer trainer(model, config_of(Sharding::Stage::kOptimizer, false), nullptr);
  EXPECT_THROWS(trainer.gradients(), Code::kUnsupported);
  EXPECT_THROWS(layered.reset_optimizer(muon.optimizer), Code::kUnsupported);
}

TEST(a_new_optimizer_begins_with_empty_moments) {
  const model::ModelConfig model = tiny_config();
  const Batch batch = drawn_batch(model, 6, 1);
  StepOptions o = options_of(Objective::kSupervised);
  std::vector<double> norms[2];
  for (int resets = 0; resets < 2; ++resets) {
    Trainer trainer(model, config_of(Sharding::Stage::kOptimizer, true), nullptr);
    roughen(trainer.parameters(), 11);
    trainer.parameters_changed();
    for (int s = 0; s < 3; ++s) {
      if (resets) trainer.reset_optimizer(config_of(Sharding::Stage::kOptimizer, true).optimizer);
      norms[resets].push_back(trainer.step(batch.view(), o).update_norm);
    }
  }
  EXPECT_EQ(norms[0][0], norms[1][0]);
  EXPECT_TRUE(norms[0][1] != norms[1][1]);
  // A first AdamW step changes every weight by the rate, or by 0 if it has no gradient; after a reset so does
  // every step.
  EXPECT_NEAR(norms[1][2] / norms[1][0], 1.0, 1e-2);
}

TEST(scoring_that_fails_on_one_rank_fails_on_all_and_other_arguments_are_named) {
  const model::ModelConfig model = tiny_config();
  for (const bool other : {false, true}) {
    std::vector<float> after(2, 0.0f);
    const auto said = on_ranks(2, [&](dist::Communicator& ranks) {
      Trainer trainer(model, config_of(Sharding::Stage::kOptimizer, true), nullptr, &ranks);
      roughen(trainer.parameters(), 9);
      trainer.parameters_changed();
      Batch batch = drawn_batch(model, 8, 5);
      const int32_t first = batch.tokens[0];
      if (ranks.rank() == 1) batch.tokens[0] = other ? (first + 1) % int32_t(model.vocabulary) : -1;
      std::vector<float> logprobs(batch.tokens.size()), entropies = logprobs;
      try {
        trainer.score(batch.view(), 1.0f, logprobs.data(), entropies.data());
      } catch (const Error&) {
        batch.tokens[0] = first;
        trainer.score(batch.view(), 1.0f, logprobs.data(), entropies.data());  // the group can still be used
        after[size_t(ranks.rank())] = logprobs[size_t(batch.cu_seqlens[8]) - 1];
        throw;
      }
    });
    EXPECT_TRUE(after[0] < 0.0f && after[0] == after[1]);
    EXPECT_TRUE(has(said[0], other ? "STATE score: rank 1 was given another batch" : "COLLECTIVE score: rank 1 failed, so that no rank went on"));
    EXPECT_TRUE(has(said[1], other ? "STATE score: rank 1" : "SHAPE"));
  }
}

TEST(a_pass_of_scoring_that_fails_on_one_rank_fails_on_all) {
  const model::ModelConfig model = tiny_config();
  const Batch batch = drawn_batch(model, 2, 5);
  const std::vector<trainer::MicroBatch> all = {{{0}, 0}, {{1}, 0}};
  const auto said = on_ranks(2, [&](dist::Communicator& ranks) {
    model::Parameters parameters(model, Stream{});
    trainer::ShardedStep step(Stream{}, {parameters, &parameters}, config_of(Sharding::Stage::kOptimizer, true), &ranks);
    std::vector<float> logprobs(batch.tokens.size()), entropies = logprobs;
    const auto score = [&](const trainer::MicroBatch&) { if (ranks.rank() == 1) fail(Code::kOutOfMemory, "no room."); };
    step.score([] {}, batch.view(), 1.0f, all, score, {logprobs.data(), entropies.data()});
  });
  EXPECT_TRUE(has(said[0], "COLLECTIVE score: rank 1 failed") && has(said[0], "no room."));
  EXPECT_TRUE(has(said[1], "no room.") && !has(said[1], "COLLECTIVE"));
}

TEST(ranks_with_different_weights_do_not_score) {
  const model::ModelConfig model = tiny_config();
  const Batch batch = drawn_batch(model, 8, 5);
  const auto said = on_ranks(2, [&](dist::Communicator& ranks) {
    Trainer trainer(model, config_of(Sharding::Stage::kOptimizer, true), nullptr, &ranks);
    roughen(trainer.parameters(), uint64_t(9 + ranks.rank()));
    trainer.parameters_changed();
    std::vector<float> logprobs(batch.tokens.size()), entropies = logprobs;
    trainer.score(batch.view(), 1.0f, logprobs.data(), entropies.data());
  });
  for (const std::string& text : said) EXPECT_TRUE(has(text, "score: ") && has(text, "weights"));
}

}  // namespace

}  // namespace trainer_sharded_step_faults_test
