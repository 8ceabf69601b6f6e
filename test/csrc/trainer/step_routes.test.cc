// Steps with given expert routes that the current weights would not choose: log-probs, loss and the gradient
// of every weight compared with an f64 reference that uses the same experts, and the number of choices that
// differ. Faults put into the code, each detected: the router's own experts instead of the given ones, those
// of another token or layer; weights divided by the sum of the own experts' scores.
#include <map>

#include "check.h"
#include "model/routes.h"
#include "trainer/on_ranks.h"
#include "trainer/reference_loss.h"
#include "trainer/step.h"

namespace trainer_step_routes_test {
namespace {

using namespace hone;
using test::Batch;
using trainer::StepOptions;

std::vector<int32_t> drawn_experts(const model::ModelConfig& c) {
  std::vector<int32_t> all;
  for (int32_t e = 0; e < int32_t(c.experts.count); ++e) all.push_back(e);
  std::shuffle(all.begin(), all.end(), test::random());
  all.resize(size_t(c.experts.chosen));
  std::sort(all.begin(), all.end());
  return all;
}

/// Random experts for every row but a sequence's last, which has none.
void add_routes(Batch& batch, const model::ModelConfig& c) {
  const int64_t bytes = model::route_bytes(c);
  batch.routes.assign(batch.tokens.size() * size_t(bytes), model::kNoRoute);
  for (int64_t t = 0; t + 1 < int64_t(batch.tokens.size()); ++t) {
    if (!std::count(batch.cu_seqlens.begin(), batch.cu_seqlens.end(), int32_t(t + 1))) {
      for (int64_t l = 0; l < c.layers; ++l) {
        std::vector<int32_t> experts = drawn_experts(c);
        if (c.mixes(l)) model::write_routes(c, l, i32(experts.data(), {1, c.experts.chosen}), batch.routes.data() + t * bytes);
      }
    }
  }
}

Batch drawn_batch(const model::ModelConfig& c) {
  Batch batch;
  for (int i = 0; i < 3; ++i) {
    std::vector<int32_t> ids(size_t(6 + i));
    for (int32_t& id : ids) id = int32_t(test::random_int(0, c.vocabulary - 1));
    batch.add(ids, 2, i == 1 ? 0.7f : -1.1f);
  }
  add_routes(batch, c);
  return batch;
}

/// One row that reaches a layer's experts: its input and its experts.
struct Row {
  std::vector<double> x;
  std::vector<int32_t> experts;
};

/// The step in f64: log-probs of all tokens, the router's auxiliary losses, and how many choices differ from
/// the reference's own.
class RoutedReference {
 public:
  RoutedReference(test::Reference& model, const Batch& batch) : model_(model), batch_(batch) {}

  int64_t given = 0, replaced = 0;
  std::vector<double> logprobs;

  /// The loss of the supervised objective with the router's auxiliary losses.
  double loss(const trainer::RouterLoss& o) {
    double sum = 0.0;
    given = replaced = 0;
    logprobs.clear();
    for (int64_t i = 0; i < batch_.size(); ++i) {
      rows_.clear();
      const std::vector<double> of = sequence(i);
      for (size_t t = 0; t < of.size(); ++t) sum -= batch_.mask[size_t(batch_.cu_seqlens[size_t(i)]) + t] ? of[t] / double(batch_.counted()) : 0.0;
      logprobs.insert(logprobs.end(), of.begin(), of.end());
      for (const auto& [layer, rows] : rows_) sum += terms(layer, rows, o) / double(rows_.size()) / double(batch_.size());
    }
    return sum;
  }

 private:
  std::vector<double> sequence(int64_t i) {
    std::map<int64_t, int64_t> at;
    const int64_t first = batch_.cu_seqlens[size_t(i)], length = batch_.cu_seqlens[size_t(i + 1)] - first;
    const model::ModelConfig& c = model_.config;
    model_.given = [&](int64_t layer) { return experts_of(layer, first + at[layer] - 1); };
    model_.entered = [&](int64_t layer, const std::vector<double>& x) {
      const int64_t t = at[layer]++;
      if (!c.mixes(layer)) return;
      const bool read = t + 1 < length && batch_.mask[size_t(first + t + 1)];
      if (!read && layer + 1 == c.layers) return;
      const std::vector<int32_t> chosen = experts_of(layer, first + t), own = own_experts(layer, x);
      given += !chosen.empty(), replaced += !chosen.empty() && chosen != own;
      rows_[layer].push_back({x, chosen.empty() ? own : chosen});
    };
    const std::vector<double> of = model_.predict(batch_.sequence(i), 1.0).logprob;
    model_.given = {}, model_.entered = {};
    return of;
  }

  std::vector<int32_t> experts_of(int64_t layer, int64_t token) const {
    const model::ModelConfig& c = model_.config;
    std::vector<int32_t> experts(size_t(c.experts.chosen), 0);
    model::ExpertActivations act;
    act.experts = i32(experts.data(), {1, c.experts.chosen});
    model::read_routes(c, layer, {batch_.routes.data() + token * model::route_bytes(c)}, {}, act);
    return experts[0] < 0 ? std::vector<int32_t>{} : experts;
  }
  std::vector<int32_t> own_experts(int64_t layer, const std::vector<double>& x) {
    const auto choice = std::exchange(model_.given, {});
    std::vector<int32_t> out;
    for (const auto& [expert, weight] : model_.route(layer, x)) out.push_back(int32_t(expert));
    std::sort(out.begin(), out.end());
    model_.given = choice;
    return out;
  }

  double terms(int64_t layer, const std::vector<Row>& rows, const trainer::RouterLoss& o) const {
    const auto score = [&](double z) { return model_.config.experts.sigmoid ? 1.0 / (1.0 + std::exp(-z)) : std::exp(z); };
    const double n = double(rows.size()), E = double(model_.config.experts.count);
    std::vector<double> counts(size_t(E), 0.0);
    for (const Row& row : rows) for (const int32_t e : row.experts) counts[size_t(e)] += 1.0;
    double out = 0.0;
    for (const Row& row : rows) {
      const std::vector<double> logits = model_.router_logits(layer, row.x);
      double sum = 0.0, powers = 0.0, balance = 0.0;
      for (const double z : logits) sum += score(z), powers += std::exp(z);
      for (size_t e = 0; e < logits.size(); ++e) balance += counts[e] * score(logits[e]) / sum;
      out += double(o.balance_coef) * E * balance / (n * n) + double(o.z_coef) * std::log(powers) * std::log(powers) / n;
    }
    return out;
  }

  test::Reference& model_;
  const Batch& batch_;
  std::map<int64_t, std::vector<Row>> rows_;
};

void check_step(const model::ModelConfig& config, const trainer::TrainerConfig& settings, const trainer::RouterLoss& router) {
  trainer::Trainer trainer(config, settings, nullptr);
  test::roughen(trainer.parameters(), test::random()());
  trainer.parameters_changed();
  test::Reference reference(trainer.parameters());
  const Batch batch = drawn_batch(config);
  StepOptions o;
  o.objective = kernels::Objective::kSupervised;
  o.router = router;
  const trainer::StepReport report = trainer.step(batch.view(), o);
  RoutedReference routed(reference, batch);
  const double loss = routed.loss(router);
  EXPECT_NEAR(report.loss, loss, 3e-5 * std::max(1.0, std::fabs(loss)));
  EXPECT_EQ(report.routes.given, routed.given);
  EXPECT_EQ(report.routes.replaced, routed.replaced);
  EXPECT_TRUE(routed.replaced > routed.given / 2);
  std::vector<float> scores(batch.tokens.size()), entropies(batch.tokens.size());
  trainer.score(batch.view(), 1.0f, scores.data(), entropies.data());
  for (size_t t = 0; t < scores.size(); ++t) {
    if (!batch.mask[t]) continue;
    EXPECT_NEAR(report.logprobs[t], routed.logprobs[t], 1e-4);
    EXPECT_EQ(scores[t], report.logprobs[t]);
  }
  for (const auto& spec : trainer.parameters().specs()) {
    const float* gradient = trainer.gradients().view(spec).as<float>();
    double largest = 0.0;
    for (int64_t i = 0; i < spec.numel(); ++i) largest = std::max(largest, std::fabs(double(gradient[i])));
    const size_t at = size_t(test::random_int(0, spec.numel() - 1));
    double& x = reference.tensors.at(spec.name)[at];
    const double saved = x, h = 1e-6;
    x = saved + h;
    const double up = routed.loss(router);
    x = saved - h;
    const double down = routed.loss(router);
    x = saved;
    EXPECT_NEAR(gradient[at], (up - down) / (2.0 * h), 1e-6 + 2e-4 * largest);
  }
}

TEST(given_experts_take_the_place_of_the_routers_choice_forward_and_backward) {
  for (const auto& [name, config] : test::switch_configs()) {
    if (!config.mixes()) continue;
    for (const bool recompute : {false, true}) {
      trainer::TrainerConfig settings;
      settings.recompute = recompute;
      settings.packed_tokens = recompute ? 8 : 64;  // one sequence per micro-batch, or all in one
      check_step(config, settings, recompute ? trainer::RouterLoss{} : trainer::RouterLoss{0.5f, 0.25f});
    }
  }
}

TEST(ranks_that_share_a_micro_batch_each_take_the_routes_of_their_rows) {
  model::ModelConfig config;
  for (const auto& [name, one] : test::switch_configs()) {
    if (std::string(name) == "experts, normalized") config = one;
  }
  Batch batch = drawn_batch(config);
  const auto logprobs = [&](int size) {
    std::vector<float> out;
    trainer::TrainerConfig settings;
    settings.packed_tokens = 64;
    if (size > 1) settings.sharding = {trainer::Sharding::Stage::kOptimizer, true, size}, settings.packed_tokens = 11;
    const auto each = [&](dist::Communicator& ranks) {
      trainer::Trainer trainer(config, settings, nullptr, size > 1 ? &ranks : nullptr);
      test::roughen(trainer.parameters(), 3);
      trainer.parameters_changed();
      StepOptions o;
      o.objective = kernels::Objective::kSupervised;
      const trainer::StepReport report = trainer.step(batch.view(), o);
      if (ranks.rank() == 0) out = report.logprobs;
    };
    for (const std::string& said : test::on_ranks(size, each)) EXPECT_EQ(said, std::string("ok"));
    return out;
  };
  const std::vector<float> given = logprobs(1);
  EXPECT_TRUE(given == logprobs(2));
  batch.routes.clear();
  EXPECT_TRUE(given != logprobs(1));
}

TEST(routes_of_another_model_are_refused) {
  const auto configs = test::switch_configs();
  const model::ModelConfig mixture = std::find_if(configs.begin(), configs.end(), [](const auto& one) { return one.second.mixes(); })->second;
  Batch batch = drawn_batch(mixture);
  StepOptions o;
  o.objective = kernels::Objective::kSupervised;
  trainer::Trainer dense(configs[0].second, trainer::TrainerConfig{}, nullptr);
  dense.parameters_changed();
  EXPECT_THROWS(dense.step(batch.view(), o), Code::kShape);
  trainer::Trainer trainer(mixture, trainer::TrainerConfig{}, nullptr);
  trainer.parameters_changed();
  EXPECT_TRUE(!trainer.step(batch.view(), o).skipped);
  batch.routes[1] = batch.routes[0];
  EXPECT_THROWS(trainer.step(batch.view(), o), Code::kShape);
}

}  // namespace
}  // namespace trainer_step_routes_test
