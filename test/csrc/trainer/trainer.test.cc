// The whole training step: gradients compared with central differences of an f64 model; equal bits for any
// packing and number of threads; refusals. Goldens: test/csrc/contract/golden_gradients.test.cc. Faults put
// into the code: head row t instead of t-1, gradient rows not zeroed before the scatter or after it, grads
// not zeroed between steps, clip factor applied twice, entropy coefficients dropped, behavior log-probs
// gathered in packed order, transposed packs or weight packs kept after an update, k norm's gradient added to
// q's, rotation not inverted, residual or bias gradient lost, window or temperature lost in the backward,
// results scattered in packed order. Each is detected.
#include "trainer/trainer.h"

#include <functional>

#include "check.h"
#include "trainer/reference_loss.h"
namespace trainer_trainer_test {
namespace {

using namespace hone;
using kernels::Objective;
using kernels::SequenceWeight;
using test::Batch;
using trainer::StepOptions;
using trainer::StepReport;
using trainer::Trainer;
using trainer::TrainerConfig;

std::vector<int32_t> random_ids(int64_t n, int64_t vocabulary) {
  std::vector<int32_t> ids(static_cast<size_t>(n));
  for (int32_t& id : ids) id = int32_t(test::random_int(0, vocabulary - 1));
  return ids;
}

Batch random_batch(int64_t vocabulary, int64_t sequences) {
  Batch b;
  b.groups = 2;
  for (int64_t i = 0; i < sequences; ++i) {
    const int64_t n = test::random_int(3, 12);
    b.add(random_ids(n, vocabulary), test::random_int(1, n - 1), i % 2 ? 0.7f : -1.1f, int32_t(sequences / 2));
  }
  return b;
}

struct GradientCase {
  const char* name;
  StepOptions options;
};

std::vector<GradientCase> gradient_cases() {
  StepOptions gspo, by_length, grpo, supervised, everything;
  gspo.clip_low = gspo.clip_high = 0.02f;
  by_length = gspo;
  by_length.sequence_weight = SequenceWeight::kLength;
  grpo = gspo;
  grpo.objective = Objective::kGrpo;
  grpo.clip_low = grpo.clip_high = 0.1f;
  supervised.objective = Objective::kSupervised;
  everything = gspo;
  everything.clip_low = everything.clip_high = 0.5f;
  everything.kl_coef = 0.3f;
  everything.entropy_coef = 0.2f;
  everything.temperature = 0.7f;
  return {{"gspo", gspo}, {"gspo by length", by_length}, {"grpo", grpo}, {"supervised", supervised},
          {"gspo + entropy + kl at T 0.7", everything}};
}

/// Compares `samples` elements of every tensor's gradient with central differences of the f64 reference loss.
void check_gradients(const char* model_name, const model::ModelConfig& config, const GradientCase& c, int samples) {
  Trainer trainer(config, TrainerConfig{}, nullptr);
  test::roughen(trainer.parameters(), test::random()());
  trainer.parameters_changed();
  test::Reference reference(trainer.parameters());
  Batch batch = random_batch(config.vocabulary, 4);
  test::add_logprobs(batch, reference, double(c.options.temperature));
  const StepReport report = trainer.step(batch.view(), c.options);
  EXPECT_NEAR(report.loss, test::reference_loss(reference, batch, c.options), 2e-5);
  double square = 0.0, checked = 0.0;
  for (const auto& spec : trainer.parameters().specs()) {
    const float* gradient = trainer.gradients().view(spec).as<float>();
    double largest = 0.0;
    for (int64_t i = 0; i < spec.numel(); ++i) {
      largest = std::max(largest, std::fabs(double(gradient[i])));
      square += double(gradient[i]) * gradient[i];
    }
    for (int k = 0; k < samples && !model::is_frozen(spec); ++k) {
      const size_t i = size_t(test::random_int(0, spec.numel() - 1));
      double& x = reference.tensors.at(spec.name)[i];
      const double saved = x, h = 1e-5;
      x = saved + h;
      const double up = test::reference_loss(reference, batch, c.options);
      x = saved - h;
      const double down = test::reference_loss(reference, batch, c.options);
      x = saved;
      const double wanted = (up - down) / (2.0 * h);
      checked = std::max(checked, std::fabs(wanted));
      // As for golden data, an f32 gradient may be off by 1e-6 plus 1e-4 of the tensor's largest.
      if (std::fabs(double(gradient[i]) - wanted) > 1e-6 + 1e-4 * largest) {
        test::report(__FILE__, __LINE__, std::string(model_name) + ", " + c.name + ": d" + spec.name + "[" + std::to_string(i) +
                                             "] is " + test::show(gradient[i]) + ", differences give " + test::show(wanted));
      }
    }
  }
  EXPECT_TRUE(checked > 1e-3);  // clipping must leave some gradients above the tolerance
  EXPECT_NEAR(report.grad_norm / std::sqrt(square), 1.0, 1e-6);
}

TEST(gradients_match_central_differences_for_every_switch_and_objective) {
  const auto configs = test::switch_configs();
  const auto cases = gradient_cases();
  for (const auto& [name, config] : configs) check_gradients(name, config, cases.back(), 4);
  for (const auto& c : cases) check_gradients(configs[0].first, configs[0].second, c, 3);
}

// ---- equal bits ---------------------------------------------------------------------------------------

struct Run {
  std::vector<float> parameters, gradients;
  StepReport last;
};

/// Runs gspo steps with entropy from one seed; score() records the behavior log-probs, so they are on-policy.
Run run_steps(const model::ModelConfig& config, TrainerConfig options, ThreadPool* pool, const Batch& given, int steps) {
  Trainer trainer(config, options, pool);
  test::roughen(trainer.parameters(), 11);
  trainer.parameters_changed();
  Batch batch = given;
  batch.behavior.assign(batch.tokens.size(), 0.0f);
  StepOptions o;
  o.entropy_coef = 0.01f;
  o.lr = 1e-3f;
  o.muon_lr = 5e-3f;
  Run run;
  for (int s = 0; s < steps; ++s) {
    std::vector<float> entropies(batch.tokens.size());
    trainer.score(batch.view(), 1.0f, batch.behavior.data(), entropies.data());
    run.last = trainer.step(batch.view(), o);
    // On-policy, the sequence ratio is exactly 1.
    for (size_t t = 0; t < batch.mask.size(); ++t) EXPECT_EQ(run.last.ratios[t], batch.mask[t] ? 1.0f : 0.0f);
  }
  EXPECT_EQ(trainer.version(), uint32_t(steps));
  const TensorView p = trainer.parameters().flat(), g = trainer.gradients().flat();
  run.parameters.assign(p.as<float>(), p.as<float>() + p.numel());
  run.gradients.assign(g.as<float>(), g.as<float>() + g.numel());
  return run;
}

TEST(twenty_steps_give_the_same_bits_on_any_number_of_threads) {
  const model::ModelConfig config = test::switch_configs()[3].second;  // a model with q/k norm
  const Batch batch = random_batch(config.vocabulary, 24);
  for (auto kind : {trainer::OptimizerConfig::Kind::kAdamW, trainer::OptimizerConfig::Kind::kMuon}) {
    TrainerConfig options;
    options.optimizer.kind = kind;
    options.packed_tokens = 50;
    const Run one = run_steps(config, options, nullptr, batch, 20);
    for (int threads : {2, 3, 7}) {
      ThreadPool pool(threads);
      const Run many = run_steps(config, options, &pool, batch, 20);
      EXPECT_TRUE(test::same_bits(one.parameters.data(), many.parameters.data(), int64_t(one.parameters.size())));
      EXPECT_TRUE(one.last.logprobs == many.last.logprobs && one.last.loss == many.last.loss);
    }
  }
}

TEST(log_probs_do_not_depend_on_the_packing) {
  const model::ModelConfig config = test::tiny_config();
  const Batch batch = random_batch(config.vocabulary, 20);
  TrainerConfig wide;
  const Run whole = run_steps(config, wide, nullptr, batch, 1);
  for (int64_t budget : {1, 13, 29, 64}) {
    TrainerConfig narrow;
    narrow.packed_tokens = budget;
    const Run parts = run_steps(config, narrow, nullptr, batch, 1);
    EXPECT_TRUE(parts.last.micro_batches > 1);
    EXPECT_TRUE(test::same_bits(whole.last.logprobs.data(), parts.last.logprobs.data(), int64_t(whole.last.logprobs.size())));
    EXPECT_TRUE(test::same_bits(whole.last.entropies.data(), parts.last.entropies.data(), int64_t(whole.last.entropies.size())));
    double norm = whole.last.grad_norm;
    for (size_t i = 0; i < whole.gradients.size(); ++i) {
      // Sums over tokens associate differently, which gives a few f32 roundings of the largest partial sums.
      EXPECT_NEAR(parts.gradients[i], whole.gradients[i], 1e-5 * norm);
    }
  }
}

TEST(a_sequence_longer_than_the_budget_grows_the_arena_once) {
  const model::ModelConfig config = test::tiny_config();
  TrainerConfig options;
  options.packed_tokens = 8;
  Trainer trainer(config, options, nullptr);
  test::roughen(trainer.parameters(), 3);
  trainer.parameters_changed();
  Batch batch;
  batch.add(random_ids(60, config.vocabulary), 1, 1.0f);
  batch.add(random_ids(3, config.vocabulary), 1, 1.0f);
  const StepOptions o{.objective = Objective::kSupervised, .lr = 1e-3f};
  const double before = trainer.step(batch.view(), o).loss;
  for (int s = 0; s < 5; ++s) trainer.step(batch.view(), o);
  EXPECT_TRUE(trainer.step(batch.view(), o).loss < before);
}

TEST(a_step_without_memory_leaves_a_trainer_that_can_go_on) {
  model::ModelConfig config = test::tiny_config();
  config.max_positions = 2 << 20, config.mlp_width = 1 << 16;  // two million tokens would need terabytes
  Trainer trainer(config, TrainerConfig{}, nullptr);
  Batch small, huge;
  small.add({1, 2, 3, 4, 5}, 2, 1.0f);
  huge.add(std::vector<int32_t>(size_t(config.max_positions), 1), 1, 1.0f);
  const StepOptions o{.objective = Objective::kSupervised};
  EXPECT_THROWS(trainer.step(huge.view(), o), Code::kOutOfMemory);
  EXPECT_TRUE(!trainer.step(small.view(), o).skipped);
}

TEST(a_micro_batch_without_a_counted_token_adds_nothing) {
  const model::ModelConfig config = test::tiny_config();
  const auto gradients = [&](bool idle) {
    TrainerConfig options;
    options.packed_tokens = 8;
    Trainer trainer(config, options, nullptr);
    test::roughen(trainer.parameters(), 3);
    trainer.parameters_changed();
    Batch batch;
    batch.add({1, 2, 3, 4, 5}, 2, 1.0f);
    if (idle) batch.add({6, 7, 8, 9, 10, 11}, 6, 1.0f);
    StepOptions o;
    o.objective = Objective::kSupervised;
    const StepReport report = trainer.step(batch.view(), o);
    EXPECT_EQ(report.micro_batches, idle ? 2 : 1);
    const TensorView g = trainer.gradients().flat();
    return std::vector<float>(g.as<float>(), g.as<float>() + g.numel());
  };
  EXPECT_TRUE(gradients(false) == gradients(true));
}

TEST(score_equals_step_and_both_equal_the_reference) {
  const model::ModelConfig config = test::tiny_config();
  Trainer trainer(config, TrainerConfig{}, nullptr);
  test::roughen(trainer.parameters(), 5);
  trainer.parameters_changed();
  Batch batch = random_batch(config.vocabulary, 6);
  auto logprobs = test::poison(int64_t(batch.tokens.size())), entropies = logprobs;
  trainer.score(batch.view(), 0.8f, logprobs.data(), entropies.data());
  const test::Reference reference(trainer.parameters());
  for (int64_t i = 0; i < batch.size(); ++i) {
    const auto p = reference.predict(batch.sequence(i), 0.8);
    for (size_t t = 0; t < p.logprob.size(); ++t) {
      const size_t at = size_t(batch.cu_seqlens[size_t(i)]) + t;
      EXPECT_NEAR(logprobs[at], batch.mask[at] ? p.logprob[t] : 0.0, 2e-5);
      EXPECT_NEAR(entropies[at], batch.mask[at] ? p.entropy[t] : 0.0, 2e-5);
    }
  }
  StepOptions o;
  o.objective = Objective::kSupervised;
  o.temperature = 0.8f;
  const StepReport report = trainer.step(batch.view(), o);
  EXPECT_TRUE(report.logprobs == logprobs);
}

TEST(snapshots_are_immutable_and_shared_until_the_weights_change) {
  const model::ModelConfig config = test::tiny_config();
  Trainer trainer(config, TrainerConfig{}, nullptr);
  trainer.parameters().initialize(1);
  trainer.parameters_changed();
  const auto a = trainer.snapshot();
  EXPECT_EQ(a.get(), trainer.snapshot().get());
  EXPECT_EQ(a->version, 0u);
  const std::vector<float> before(a->embedding.as<float>(), a->embedding.as<float>() + a->embedding.numel());
  Batch batch = random_batch(config.vocabulary, 3);
  StepOptions o;
  o.objective = Objective::kSupervised;
  o.lr = 0.1f;
  trainer.step(batch.view(), o);
  const auto b = trainer.snapshot();
  EXPECT_TRUE(a.get() != b.get());
  EXPECT_EQ(b->version, 1u);
  EXPECT_EQ(a->rope_table(0).as<float>(), b->rope_table(0).as<float>());  // one shared table
  EXPECT_TRUE(test::same_bits(before.data(), a->embedding.as<float>(), int64_t(before.size())));
  EXPECT_TRUE(!test::same_bits(before.data(), b->embedding.as<float>(), int64_t(before.size())));
  trainer.set_version(40);
  EXPECT_EQ(trainer.snapshot()->version, 40u);
}

std::vector<float> copy(const TensorView& flat) { return {flat.as<float>(), flat.as<float>() + flat.numel()}; }

TEST(a_second_step_is_that_of_a_fresh_trainer_with_the_new_weights) {
  const model::ModelConfig config = test::tiny_config();
  const Batch batch = random_batch(config.vocabulary, 4);
  StepOptions o;
  o.objective = Objective::kSupervised;
  o.lr = 0.05f;
  Trainer first(config, TrainerConfig{}, nullptr), fresh(config, TrainerConfig{}, nullptr);
  test::roughen(first.parameters(), 3);
  first.parameters_changed();
  first.step(batch.view(), o);
  std::memcpy(fresh.parameters().flat().data, first.parameters().flat().data, size_t(first.parameters().flat().numel()) * 4);
  fresh.parameters_changed();
  const double loss = first.step(batch.view(), o).loss;
  EXPECT_EQ(fresh.step(batch.view(), o).loss, loss);
  EXPECT_TRUE(copy(first.gradients().flat()) == copy(fresh.gradients().flat()));
}

TEST(gradients_are_clipped_to_the_global_norm) {
  const model::ModelConfig config = test::tiny_config();
  const Batch batch = random_batch(config.vocabulary, 4);
  StepOptions o;
  o.objective = Objective::kSupervised;
  o.lr = 1e10f;
  for (const float clip : {0.0f, 0.05f, 1e3f}) {
    // Without moments and with a huge eps, AdamW's update is the clipped gradient itself.
    TrainerConfig options;
    options.optimizer.beta1 = options.optimizer.beta2 = 0.0f;
    options.optimizer.eps = 1e10f;
    options.optimizer.gradient_clip = clip;
    Trainer trainer(config, options, nullptr);
    test::roughen(trainer.parameters(), 3);
    trainer.parameters_changed();
    const StepReport r = trainer.step(batch.view(), o);
    const bool clips = clip > 0.0f && clip < r.grad_norm;
    EXPECT_EQ(clips, clip == 0.05f);
    EXPECT_NEAR(r.grad_scale, clips ? double(clip) / (r.grad_norm + 1e-6) : 1.0, 1e-12);
    EXPECT_NEAR(r.update_norm / (clips ? double(clip) : r.grad_norm), 1.0, 1e-4);  // weights round to f32
    double square = 0.0;
    for (const double layer : r.layer_grad_norms) square += layer * layer;
    EXPECT_NEAR(std::sqrt(square) / r.grad_norm, 1.0, 1e-12);
    EXPECT_EQ(r.layer_grad_norms.size(), size_t(config.layers) + 1);
  }
}

TEST(resetting_the_optimizer_drops_its_moments) {
  const model::ModelConfig config = test::tiny_config();
  const Batch batch = random_batch(config.vocabulary, 4);
  StepOptions o;
  o.objective = Objective::kSupervised;
  o.lr = 0.01f;
  const auto after = [&](bool reset) {
    Trainer trainer(config, TrainerConfig{}, nullptr);
    trainer.parameters().initialize(1);
    trainer.parameters_changed();
    trainer.step(batch.view(), o);
    if (reset) trainer.reset_optimizer({});
    return trainer.step(batch.view(), o).update_norm;
  };
  EXPECT_TRUE(after(true) != after(false));
}

// ---- refusals -----------------------------------------------------------------------------------------

TEST(a_loss_that_is_not_a_number_skips_the_step_and_names_its_sequence) {
  const model::ModelConfig config = test::tiny_config();
  TrainerConfig options;
  options.packed_tokens = 20;
  Trainer trainer(config, options, nullptr);
  test::roughen(trainer.parameters(), 9);
  trainer.parameters_changed();
  Batch batch = random_batch(config.vocabulary, 6);
  batch.behavior.assign(batch.tokens.size(), -3.0f);
  batch.behavior[size_t(batch.cu_seqlens[4]) - 1] = std::numeric_limits<float>::quiet_NaN();  // in sequence 3
  const TensorView flat = trainer.parameters().flat();
  const std::vector<float> before(flat.as<float>(), flat.as<float>() + flat.numel());
  StepOptions o;
  o.lr = 0.1f;
  const StepReport report = trainer.step(batch.view(), o);
  EXPECT_TRUE(report.skipped);
  EXPECT_EQ(report.non_finite_sequence, 3);
  EXPECT_EQ(trainer.version(), 0u);
  EXPECT_TRUE(test::same_bits(before.data(), flat.as<float>(), flat.numel()));
  EXPECT_TRUE(std::isfinite(report.logprobs[size_t(batch.cu_seqlens[1]) - 1]));
  batch.behavior[size_t(batch.cu_seqlens[4]) - 1] = -3.0f;
  EXPECT_TRUE(!trainer.step(batch.view(), o).skipped);
}

TEST(a_gradient_that_overflows_names_its_sequence) {
  const model::ModelConfig config = test::tiny_config();
  Trainer trainer(config, TrainerConfig{}, nullptr);
  test::roughen(trainer.parameters(), 9);
  trainer.parameters_changed();
  Batch batch = random_batch(config.vocabulary, 2);
  batch.add(std::vector<int32_t>(60, 7), 1, 3e38f, 1);  // each slope fits in f32, the sum of 59 does not
  batch.behavior.assign(batch.tokens.size(), -3.0f);
  StepOptions o;
  o.objective = Objective::kReinforce;
  const StepReport report = trainer.step(batch.view(), o);
  EXPECT_TRUE(report.skipped);
  EXPECT_EQ(report.non_finite_sequence, 2);
}

TEST(unusable_options_are_refused) {
  const model::ModelConfig config = test::tiny_config();
  const auto refuse = [&](const std::function<void(TrainerConfig&)>& spoil) {
    TrainerConfig bad;
    spoil(bad);
    EXPECT_THROWS(Trainer(config, bad, nullptr), Code::kConfig);
  };
  refuse([](TrainerConfig& c) { c.packed_tokens = 0; });
  refuse([](TrainerConfig& c) { c.weight_storage = DType::kF16; });
  refuse([](TrainerConfig& c) { c.arithmetic = kernels::Arithmetic::kBF16; });
  refuse([](TrainerConfig& c) { c.optimizer.beta1 = 1.0f; });
  refuse([](TrainerConfig& c) { c.optimizer.weight_decay = -0.1f; });
  refuse([](TrainerConfig& c) { c.optimizer.eps = std::nanf(""); });
  refuse([](TrainerConfig& c) { c.optimizer.eps = 0.0f; });  // a zero gradient would give 0 / 0
}

}  // namespace
}  // namespace trainer_trainer_test
