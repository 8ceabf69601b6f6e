// Steps with an importance correction: the gradient of every weight of a network compared with central
// differences of the same step in f64. The correction's weights stay those at the start of the step, or of
// the batch if it has several updates.
//
// Faults put into the code, each detected: proximal log-probs other than the step's own, weights not fetched,
// bounds exchanged.
#include "trainer/step.h"

#include <cmath>
#include <map>

#include "check.h"
#include "trainer/reference_loss.h"

namespace trainer_step_test {
namespace {

using namespace hone;
using kernels::Correction;
using kernels::Objective;
using test::Batch;
using trainer::StepOptions;

/// One value for each token of each sequence.
using Table = std::vector<std::vector<double>>;

Table logprobs_of(const test::Reference& model, const Batch& batch) {
  Table out;
  for (int64_t i = 0; i < batch.size(); ++i) out.push_back(model.predict(batch.sequence(i), 1.0).logprob);
  return out;
}

/// The weights w_t of docs/explanation/numerics.md, from the log-probs at the start of the step.
Table weights_of(const Table& start, const Batch& batch, const StepOptions& o) {
  Table weights = start;
  const double low = double(o.correction_low), high = double(o.correction_high);
  const auto inside = [&](double x) { return x >= low && x <= high; };
  for (size_t i = 0; i < start.size(); ++i) {
    const size_t first = size_t(batch.cu_seqlens[i]);
    double sum = 0.0, n = 0.0;
    for (size_t t = 0; t < start[i].size(); ++t) {
      if (!batch.mask[first + t]) continue;
      sum += start[i][t] - double(batch.behavior[first + t]);
      n += 1.0;
    }
    for (size_t t = 0; t < start[i].size(); ++t) {
      const double q = std::exp(start[i][t] - double(batch.behavior[first + t])), all = std::exp(sum);
      double& w = weights[i][t];
      if (o.correction == Correction::kTis) w = std::clamp(q, low, high);
      if (o.correction == Correction::kSequenceTis) w = std::clamp(all, low, high);
      if (o.correction == Correction::kIcepop) w = inside(q) ? q : 0.0;
      if (o.correction == Correction::kSequenceMask) w = inside(all) ? all : 0.0;
      if (o.correction == Correction::kGeometricMask) w = inside(std::exp(sum / n)) ? q : 0.0;
      if (!batch.mask[first + t]) w = 0.0;
    }
  }
  return weights;
}

/// Log-probs at the start of the batch, which differ by some hundredths from those at the start of this
/// update.
Table moved_from(const Table& start, Batch& batch) {
  Table old = start;
  for (size_t i = 0; i < start.size(); ++i) {
    for (size_t t = 0; t < start[i].size(); ++t) {
      batch.proximal.push_back(float(start[i][t] + 0.02 * double(t % 3) - 0.03 * double(i % 2)));
      old[i][t] = double(batch.proximal.back());
    }
  }
  return old;
}

/// The log-prob that a token's ratio is relative to: its own old one or, with GSPO, one that gives the
/// sequence's ratio.
Table ratio_base(const Table& start, const Table& old, const Batch& batch, Objective objective) {
  if (objective != Objective::kGspo) return old;
  Table base = start;
  for (size_t i = 0; i < start.size(); ++i) {
    const size_t first = size_t(batch.cu_seqlens[i]);
    double sum = 0.0, n = 0.0;
    for (size_t t = 0; t < start[i].size(); ++t) {
      if (batch.mask[first + t]) sum += start[i][t] - old[i][t], n += 1.0;
    }
    for (double& x : base[i]) x -= sum / n;
  }
  return base;
}

/// The loss if every ratio exp(now - base) is inside every clip range.
double loss_of(const Table& now, const Table& base, const Table& weights, const Batch& batch, Objective objective) {
  double loss = 0.0;
  for (size_t i = 0; i < now.size(); ++i) {
    const size_t first = size_t(batch.cu_seqlens[i]);
    double n = 0.0, gain = 0.0;
    for (size_t t = 0; t < now[i].size(); ++t) {
      n += batch.mask[first + t];
      gain += weights[i][t] * (objective == Objective::kReinforce ? now[i][t] : std::exp(now[i][t] - base[i][t]));
    }
    double scale = 1.0 / double(batch.size());
    if (objective == Objective::kGspo) scale /= n;
    if (objective == Objective::kGrpo) scale = 1.0 / (double(batch.groups) * double(batch.group_sizes[i]) * n);
    if (objective == Objective::kDapo) scale = 1.0 / double(batch.counted());
    loss -= scale * double(batch.advantages[i]) * gain;
  }
  return loss;
}

void check_gradients(Correction kind, Objective objective, bool first_update) {
  const auto [name, config] = test::switch_configs()[0];
  trainer::Trainer trainer(config, trainer::TrainerConfig{}, nullptr);
  test::roughen(trainer.parameters(), test::random()());
  trainer.parameters_changed();
  test::Reference reference(trainer.parameters());
  Batch batch;
  batch.groups = 2;
  for (int i = 0; i < 4; ++i) {
    std::vector<int32_t> ids(size_t(6 + i));
    for (int32_t& id : ids) id = int32_t(test::random_int(0, config.vocabulary - 1));
    batch.add(ids, 2, i % 2 ? 0.7f : -1.1f, 2);
  }
  test::add_logprobs(batch, reference, 1.0);
  StepOptions o;
  o.objective = objective;
  o.correction = kind;
  o.correction_low = kind == Correction::kGeometricMask ? 0.97f : 0.85f;
  o.correction_high = kind == Correction::kGeometricMask ? 1.03f : 1.21f;
  const Table start = logprobs_of(reference, batch), old = first_update ? start : moved_from(start, batch);
  if (!first_update) o.clip_low = o.clip_high = 0.5f;
  const trainer::StepReport report = trainer.step(batch.view(), o);
  const Table weights = weights_of(old, batch, o), base = ratio_base(start, old, batch, objective);
  const double loss = loss_of(start, base, weights, batch, objective);
  EXPECT_NEAR(report.loss, loss, 3e-5 * std::max(1.0, std::fabs(loss)));
  for (size_t i = 0; i < weights.size(); ++i) {
    for (size_t t = 0; t < weights[i].size(); ++t) {
      EXPECT_NEAR(report.weights[size_t(batch.cu_seqlens[i]) + t], weights[i][t], 1e-4);
    }
  }
  for (const auto& spec : trainer.parameters().specs()) {
    const float* gradient = trainer.gradients().view(spec).as<float>();
    double largest = 0.0;
    for (int64_t i = 0; i < spec.numel(); ++i) largest = std::max(largest, std::fabs(double(gradient[i])));
    const size_t at = size_t(test::random_int(0, spec.numel() - 1));
    double& x = reference.tensors.at(spec.name)[at];
    const double saved = x, h = 1e-5;
    x = saved + h;
    const double up = loss_of(logprobs_of(reference, batch), base, weights, batch, objective);
    x = saved - h;
    const double down = loss_of(logprobs_of(reference, batch), base, weights, batch, objective);
    x = saved;
    EXPECT_NEAR(gradient[at], (up - down) / (2.0 * h), 1e-6 + 1e-4 * largest);
  }
}

}  // namespace

TEST(gradients_with_a_correction_match_central_differences) {
  for (const Correction kind : {Correction::kTis, Correction::kSequenceTis, Correction::kIcepop, Correction::kSequenceMask,
                                Correction::kGeometricMask}) {
    for (const Objective objective : {Objective::kGspo, Objective::kGrpo, Objective::kDapo, Objective::kReinforce}) {
      for (const bool first_update : {true, false}) check_gradients(kind, objective, first_update);
    }
  }
}

namespace {

/// For each layer, the inputs of its experts: the rows of one sequence.
using Entered = std::map<int64_t, std::vector<std::vector<double>>>;

std::vector<Entered> entered_of(test::Reference& model, const Batch& batch) {
  std::vector<Entered> out(size_t(batch.size()));
  for (int64_t i = 0; i < batch.size(); ++i) {
    Entered all;
    model.entered = [&](int64_t layer, const std::vector<double>& x) { all[layer].push_back(x); };
    model.predict(batch.sequence(i), 1.0);
    for (auto& [layer, rows] : all) {
      if (!model.config.mixes(layer)) continue;
      for (size_t t = 0; t < rows.size(); ++t) {
        const size_t next = size_t(batch.cu_seqlens[size_t(i)]) + t + 1;
        const bool read = t + 1 < rows.size() && batch.mask[next];
        if (read || layer + 1 < model.config.layers) out[size_t(i)][layer].push_back(rows[t]);
      }
    }
  }
  model.entered = {};
  return out;
}

/// For each sequence and layer, the experts that the rows of Entered are routed to.
using Choices = std::vector<std::map<int64_t, std::vector<int64_t>>>;

Choices choices_of(const test::Reference& model, const std::vector<Entered>& all) {
  Choices out(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    for (const auto& [layer, rows] : all[i]) {
      for (const auto& x : rows) {
        for (const auto& [expert, weight] : model.route(layer, x)) out[i][layer].push_back(expert);
      }
    }
  }
  return out;
}

double router_loss_of(const test::Reference& model, const std::vector<Entered>& all, const Choices& choices, const trainer::RouterLoss& o) {
  const auto score = [&](double z) { return model.config.experts.sigmoid ? 1.0 / (1.0 + std::exp(-z)) : std::exp(z); };
  double loss = 0.0;
  for (size_t i = 0; i < all.size(); ++i) {
    double terms = 0.0;
    for (const auto& [layer, rows] : all[i]) {
      const double n = double(rows.size());
      for (const auto& x : rows) {
        const std::vector<double> logits = model.router_logits(layer, x);
        double sum = 0.0, powers = 0.0;
        for (const double z : logits) sum += score(z), powers += std::exp(z);
        for (const int64_t e : choices[i].at(layer)) terms += double(o.balance_coef) * double(logits.size()) * score(logits[size_t(e)]) / sum / (n * n);
        terms += double(o.z_coef) * std::log(powers) * std::log(powers) / n;
      }
    }
    loss += terms / double(all[i].size()) / double(all.size());
  }
  return loss;
}

/// Checks the router's auxiliary losses in a step whose advantages are 0, so that there is no other loss.
void check_router_terms(const model::ModelConfig& config, const trainer::RouterLoss& router, int64_t packed_tokens) {
  trainer::TrainerConfig settings;
  settings.packed_tokens = packed_tokens;
  trainer::Trainer trainer(config, settings, nullptr);
  test::roughen(trainer.parameters(), test::random()());
  trainer.parameters_changed();
  test::Reference reference(trainer.parameters());
  Batch batch;
  for (int i = 0; i < 3; ++i) {
    std::vector<int32_t> ids(size_t(6 + i));
    for (int32_t& id : ids) id = int32_t(test::random_int(0, config.vocabulary - 1));
    batch.add(ids, 2, 0.0f);
  }
  batch.behavior.assign(batch.tokens.size(), -1.0f);
  StepOptions o;
  o.router = router;
  const trainer::StepReport report = trainer.step(batch.view(), o);
  const Choices choices = choices_of(reference, entered_of(reference, batch));
  const auto loss = [&] { return router_loss_of(reference, entered_of(reference, batch), choices, router); };
  EXPECT_NEAR(report.loss, loss(), 3e-5);
  EXPECT_EQ(report.router_loss, report.loss);
  EXPECT_NEAR(report.policy_loss, 0.0, 1e-12);
  for (const auto& spec : trainer.parameters().specs()) {
    const float* gradient = trainer.gradients().view(spec).as<float>();
    double largest = 0.0;
    for (int64_t i = 0; i < spec.numel(); ++i) largest = std::max(largest, std::fabs(double(gradient[i])));
    const size_t at = size_t(test::random_int(0, spec.numel() - 1));
    double& x = reference.tensors.at(spec.name)[at];
    const double saved = x, h = 1e-6;
    x = saved + h;
    const double up = loss();
    x = saved - h;
    const double down = loss();
    x = saved;
    EXPECT_NEAR(gradient[at], (up - down) / (2.0 * h), 1e-6 + 2e-4 * largest);
  }
}

}  // namespace

TEST(terms_about_routers_and_their_gradients_match_central_differences) {
  for (const auto& [name, config] : test::switch_configs()) {
    if (!config.mixes()) continue;
    for (const trainer::RouterLoss& router : {trainer::RouterLoss{0.5f, 0.0f}, trainer::RouterLoss{0.0f, 0.25f}, trainer::RouterLoss{0.5f, 0.25f}}) {
      // micro-batches of one sequence each, and one micro-batch of all
      for (const int64_t packed : {8, 64}) check_router_terms(config, router, packed);
    }
  }
}

TEST(terms_about_routers_are_refused_where_there_are_none_or_they_are_no_coefficients) {
  const auto [name, config] = test::switch_configs()[0];
  trainer::Trainer dense(config, trainer::TrainerConfig{}, nullptr);
  dense.parameters_changed();
  Batch batch;
  batch.add({1, 2, 3}, 1, 1.0f);
  batch.behavior.assign(3, -1.0f);
  StepOptions o;
  o.router.z_coef = 0.1f;
  EXPECT_THROWS(dense.step(batch.view(), o), Code::kConfig);
  o.router.z_coef = -0.1f;
  EXPECT_THROWS(dense.step(batch.view(), o), Code::kConfig);
  o.router.z_coef = 0.0f;
  EXPECT_TRUE(!dense.step(batch.view(), o).skipped);
}

TEST(an_update_keeps_the_version_where_it_is_told_to) {
  const auto [name, config] = test::switch_configs()[0];
  trainer::Trainer trainer(config, trainer::TrainerConfig{}, nullptr);
  test::roughen(trainer.parameters(), test::random()());
  trainer.parameters_changed();
  trainer.set_version(7);
  Batch batch;
  batch.add({1, 2, 3}, 1, 1.0f);
  batch.behavior.assign(3, -1.0f);
  StepOptions o;
  o.lr = 1e-3f;
  o.keeps_version = true;
  const auto before = trainer.snapshot();
  EXPECT_TRUE(!trainer.step(batch.view(), o).skipped);
  EXPECT_EQ(trainer.version(), 7u);
  const auto after = trainer.snapshot();
  EXPECT_EQ(after->version, 7u);
  EXPECT_TRUE(after != before);  // a reader holds the first snapshot, so the new weights are in another one
  o.keeps_version = false;
  trainer.step(batch.view(), o);
  EXPECT_EQ(trainer.version(), 8u);
}

TEST(bounds_that_cannot_be_are_refused) {
  const auto [name, config] = test::switch_configs()[0];
  trainer::Trainer trainer(config, trainer::TrainerConfig{}, nullptr);
  trainer.parameters_changed();
  Batch batch;
  batch.add({1, 2, 3}, 1, 1.0f);
  batch.behavior.assign(3, -1.0f);
  StepOptions o;
  o.correction = Correction::kIcepop;
  o.correction_low = 2.0f, o.correction_high = 1.0f;
  EXPECT_THROWS(trainer.step(batch.view(), o), Code::kConfig);
  o.correction_low = -1.0f;
  EXPECT_THROWS(trainer.step(batch.view(), o), Code::kConfig);
  o.correction_low = 0.5f, o.correction_high = std::nanf("");
  EXPECT_THROWS(trainer.step(batch.view(), o), Code::kConfig);
  o.correction_high = 2.0f;
  EXPECT_TRUE(!trainer.step(batch.view(), o).weights.empty());
  o.objective = Objective::kSupervised;
  EXPECT_THROWS(trainer.step(batch.view(), o), Code::kConfig);
  o.correction = Correction::kNone;
  EXPECT_TRUE(trainer.step(batch.view(), o).weights.empty());
}

}  // namespace trainer_step_test
