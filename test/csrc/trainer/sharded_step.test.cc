// Ranks that train one model together, against one trainer alone: 2, 3 and 4 of them, after 20 steps. One trainer without
// sharding is the reference of the default mode; the exact mode has the same bits for any number of ranks.
// Mutants: test/mutants/csrc-trainer.json.
#include "trainer/sharded_step.h"

#include <array>
#include <functional>

#include "check.h"
#include "trainer/reference_loss.h"
#include "trainer/on_ranks.h"

namespace {

using namespace hone;
using test::has;
using kernels::Objective;
using test::Batch;
using trainer::Sharding;
using trainer::StepOptions;
using trainer::StepReport;
using trainer::Trainer;
using trainer::TrainerConfig;

constexpr int kSteps = 20;

/// Sequences of 5 to 24 tokens, the same for a seed.
Batch drawn_batch(const model::ModelConfig& config, int sequences, uint64_t seed) {
  std::mt19937_64 random(seed);
  Batch batch;
  batch.groups = 2;
  for (int i = 0; i < sequences; ++i) {
    std::vector<int32_t> ids(5 + random() % 20);
    for (int32_t& id : ids) id = int32_t(random() % uint64_t(config.vocabulary));
    batch.add(ids, 2, i % 2 ? 0.8f : -1.1f, int32_t(sequences / 2));
  }
  return batch;
}

TrainerConfig config_of(Sharding::Stage stage, bool exact, int64_t packed_tokens = 24) {
  TrainerConfig config;
  config.packed_tokens = packed_tokens;
  config.optimizer.gradient_clip = 0.05f;  // below every norm here: the factor that clips matters
  config.optimizer.weight_decay = 0.01f;
  config.sharding = {stage, exact};
  return config;
}

StepOptions options_of(Objective objective) {
  StepOptions o;
  o.objective = objective;
  o.lr = 1e-3f;
  if (objective == Objective::kSupervised) return o;
  o.clip_low = o.clip_high = 0.2f;
  o.entropy_coef = 0.01f;
  return o;
}

struct Course {
  std::vector<float> weights;
  std::vector<StepReport> reports;
};

/// Steps on batches of the model's own making: behaviour is what the trainer scores before each.
Course train(const model::ModelConfig& model, const TrainerConfig& config, const StepOptions& o, int sequences,
             dist::Communicator* ranks) {
  Trainer trainer(model, config, nullptr, ranks);
  test::roughen(trainer.parameters(), 11);
  trainer.parameters_changed();
  Course course;
  for (int s = 0; s < kSteps; ++s) {
    Batch batch = drawn_batch(model, sequences, uint64_t(100 + s));
    if (o.objective != Objective::kSupervised) {
      std::vector<float> entropies(batch.tokens.size());
      batch.behavior.resize(batch.tokens.size());
      trainer.score(batch.view(), 1.0f, batch.behavior.data(), entropies.data());
    }
    course.reports.push_back(trainer.step(batch.view(), o));
  }
  EXPECT_EQ(trainer.version(), uint32_t(kSteps));
  const TensorView flat = trainer.trained().flat();
  course.weights.assign(flat.as<float>(), flat.as<float>() + flat.numel());
  return course;
}

std::vector<Course> train_ranks(int size, const model::ModelConfig& model, const TrainerConfig& config, const StepOptions& o,
                                int sequences) {
  std::vector<Course> courses(static_cast<size_t>(size));
  const auto said = test::on_ranks(size, [&](dist::Communicator& ranks) {
    courses[size_t(ranks.rank())] = train(model, config, o, sequences, &ranks);
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
  return courses;
}

double relative(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0.0, size = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (double(a[i]) - double(b[i])) * (double(a[i]) - double(b[i]));
    size += double(b[i]) * double(b[i]);
  }
  return std::sqrt(difference / size);
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Everything but times.
bool same_report(const StepReport& a, const StepReport& b) {
  return a.loss == b.loss && a.policy_loss == b.policy_loss && a.grad_norm == b.grad_norm && a.grad_scale == b.grad_scale &&
         a.update_norm == b.update_norm && a.weight_norm == b.weight_norm && a.skipped == b.skipped &&
         a.non_finite_sequence == b.non_finite_sequence && a.micro_batches == b.micro_batches &&
         a.trained_tokens == b.trained_tokens && a.packed_tokens == b.packed_tokens && same(a.logprobs, b.logprobs) &&
         same(a.entropies, b.entropies) && same(a.ratios, b.ratios) && same(a.clipped, b.clipped) &&
         same(a.weights, b.weights) && same(a.layer_grad_norms, b.layer_grad_norms);
}

bool same_course(const Course& a, const Course& b) {
  bool all = same(a.weights, b.weights) && a.reports.size() == b.reports.size();
  for (size_t s = 0; all && s < a.reports.size(); ++s) all = same_report(a.reports[s], b.reports[s]);
  return all;
}

void expect_close(double a, double b) { EXPECT_NEAR(a, b, 1e-5 * std::max(1e-3, std::fabs(b))); }

/// The bound of issue and docs: sums of gradients in another order, nothing else.
void expect_near(const Course& a, const Course& b) {
  EXPECT_TRUE(relative(a.weights, b.weights) <= 1e-5);
  for (size_t s = 0; s < a.reports.size(); ++s) {
    const StepReport &x = a.reports[s], &y = b.reports[s];
    for (const auto& [own, wanted] : {std::pair{x.loss, y.loss}, {x.policy_loss, y.policy_loss}, {x.grad_norm, y.grad_norm},
                                      {x.grad_scale, y.grad_scale}, {x.update_norm, y.update_norm}, {x.weight_norm, y.weight_norm}}) {
      expect_close(own, wanted);
    }
    EXPECT_EQ(x.micro_batches, y.micro_batches);
    EXPECT_EQ(x.trained_tokens, y.trained_tokens);
    EXPECT_EQ(x.packed_tokens, y.packed_tokens);
    EXPECT_EQ(x.layer_grad_norms.size(), y.layer_grad_norms.size());
    for (size_t l = 0; l < x.layer_grad_norms.size(); ++l) expect_close(x.layer_grad_norms[l], y.layer_grad_norms[l]);
    EXPECT_TRUE(relative(x.logprobs, y.logprobs) <= 1e-5 && relative(x.entropies, y.entropies) <= 1e-5);
    EXPECT_TRUE(y.ratios.size() == x.ratios.size() && relative(x.ratios, y.ratios) <= 1e-5);
  }
  EXPECT_TRUE(same(a.reports[0].logprobs, b.reports[0].logprobs) && same(a.reports[0].clipped, b.reports[0].clipped));
}

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

// ---- what goes wrong -------------------------------------------------------------------------------------

/// A step of every rank on the same weights; what each said, and whether weights and version are as before.
struct Outcome {
  std::vector<std::string> said;
  std::vector<StepReport> reports;
  bool untouched = true;
};
using Change = std::function<void(int rank, Batch& batch, StepOptions& o, Trainer& trainer)>;

Outcome one_step(int size, bool exact, const Change& change) {
  const model::ModelConfig model = test::tiny_config();
  Outcome out;
  out.reports.resize(size_t(size));
  std::vector<uint8_t> same_weights(size_t(size), 0);
  out.said = test::on_ranks(size, [&](dist::Communicator& ranks) {
    Trainer trainer(model, config_of(Sharding::Stage::kOptimizer, exact), nullptr, &ranks);
    test::roughen(trainer.parameters(), 9);
    Batch batch = drawn_batch(model, 8, 5);
    batch.behavior.assign(batch.tokens.size(), -3.0f);
    StepOptions o;
    o.lr = 0.1f;
    change(ranks.rank(), batch, o, trainer);
    trainer.parameters_changed();
    const TensorView flat = trainer.parameters().flat();
    const std::vector<float> before(flat.as<float>(), flat.as<float>() + flat.numel());
    const auto is_same = [&] { return test::same_bits(before.data(), flat.as<float>(), flat.numel()) && trainer.version() == 0; };
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

TEST(a_loss_that_is_not_a_number_on_one_rank_skips_the_step_on_all) {
  for (const bool exact : {false, true}) {
    const Outcome out = one_step(3, exact, [](int, Batch& batch, StepOptions&, Trainer&) {
      batch.behavior[size_t(batch.cu_seqlens[6]) - 1] = std::numeric_limits<float>::quiet_NaN();  // last token of sequence 5
    });
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
  const Outcome out = one_step(2, false, [](int, Batch& batch, StepOptions& o, Trainer&) {
    batch.add(std::vector<int32_t>(60, 7), 1, 3e38f, 1);
    batch.behavior.assign(batch.tokens.size(), -3.0f);
    o.objective = Objective::kReinforce;
  });
  EXPECT_TRUE(out.untouched);
  for (size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(out.said[rank], std::string("ok"));
    EXPECT_TRUE(out.reports[rank].skipped);
    EXPECT_EQ(out.reports[rank].non_finite_sequence, 8);
  }
}

TEST(a_rank_that_fails_ends_the_step_for_all_and_says_why) {
  for (const bool exact : {false, true}) {
    const Outcome out = one_step(3, exact, [](int rank, Batch&, StepOptions& o, Trainer&) {
      o.objective = Objective::kCustom;
      o.slopes = [rank](const trainer::SlopesRequest& request) {
        if (rank == 1) fail(Code::kData, "the objective cannot say.");
        std::fill_n(request.slopes, request.tokens, -0.1);
        std::fill_n(request.losses, request.sequences, 0.5);
      };
    });
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
  const model::ModelConfig model = test::tiny_config();
  // Of a first step: agreement, weights, agreement, results, gradients, norms, weights, sums.
  for (const uint64_t collective : {1, 2, 6, 9, 14, 20, 30}) {
    const auto said = test::on_ranks(
        3, [&](dist::Communicator& ranks) { train(model, config_of(Sharding::Stage::kOptimizer, true), options_of(Objective::kSupervised), 7, &ranks); },
        {.kind = test::LocalFault::Kind::kDies, .rank = 1, .collective = collective});
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
  const model::ModelConfig model = test::tiny_config();
  TrainerConfig muon = config_of(Sharding::Stage::kOptimizer, false);
  muon.optimizer.kind = trainer::OptimizerConfig::Kind::kMuon;
  EXPECT_THROWS(Trainer(model, muon, nullptr), Code::kUnsupported);
  TrainerConfig cuda = config_of(Sharding::Stage::kOptimizer, false);
  cuda.device = Stream::Backend::kCuda;
  EXPECT_THROWS(trainer::check_sharding(cuda), Code::kUnsupported);
  dist::SoloCommunicator ranks;
  EXPECT_THROWS(Trainer(model, TrainerConfig{}, nullptr, &ranks), Code::kConfig);
  Trainer trainer(model, config_of(Sharding::Stage::kOptimizer, false), nullptr);
  EXPECT_THROWS(trainer.gradients(), Code::kUnsupported);
  EXPECT_THROWS(trainer.reset_optimizer(muon.optimizer), Code::kUnsupported);
}

TEST(a_new_optimizer_begins_with_empty_moments) {
  const model::ModelConfig model = test::tiny_config();
  const Batch batch = drawn_batch(model, 6, 1);
  StepOptions o = options_of(Objective::kSupervised);
  std::vector<double> norms[2];
  for (int resets = 0; resets < 2; ++resets) {
    Trainer trainer(model, config_of(Sharding::Stage::kOptimizer, true), nullptr);
    test::roughen(trainer.parameters(), 11);
    trainer.parameters_changed();
    for (int s = 0; s < 3; ++s) {
      if (resets) trainer.reset_optimizer(config_of(Sharding::Stage::kOptimizer, true).optimizer);
      norms[resets].push_back(trainer.step(batch.view(), o).update_norm);
    }
  }
  EXPECT_EQ(norms[0][0], norms[1][0]);
  EXPECT_TRUE(norms[0][1] != norms[1][1]);
  // A first AdamW step moves every weight by the rate, or by 0 where it has no gradient: the second of fresh moments too.
  EXPECT_NEAR(norms[1][2] / norms[1][0], 1.0, 1e-2);
}

}  // namespace

TEST_MAIN
