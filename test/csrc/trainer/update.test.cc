// Update: gradient norms, clipping and skipping, compared with f64.
#include "trainer/update.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "check.h"
#include "model/reference.h"

namespace trainer_update_test {
namespace {

using namespace hone;
using model::Parameters;
using trainer::OptimizerConfig;
using trainer::PackedWeights;
using trainer::StepOptions;
using trainer::StepReport;
using trainer::Update;

struct Fixture {
  model::ModelConfig config = test::tiny_config();
  Parameters p{config}, g{config};
  PackedWeights weights{Stream{}, p, DType::kF32};
  Update update;
  explicit Fixture(const OptimizerConfig& c = {}) : update(Stream{}, p, c) {
    test::roughen(p, 1);
    test::roughen(g, 2);
    weights.snapshot();
  }
  StepReport apply(const StepOptions& o, bool useless = false) {
    StepReport report;
    report.skipped = useless;
    update.apply(g, o, weights, report);
    return report;
  }
  std::vector<float> values() const {
    const TensorView all = p.flat();
    return {all.as<float>(), all.as<float>() + all.numel()};
  }
};

/// Gradient norms by layer, then of the tensors outside of layers, then of all.
std::vector<double> norms(const Parameters& g, int64_t layers) {
  std::vector<double> squares(size_t(layers) + 2);
  for (const auto& spec : g.specs()) {
    const auto inside = spec.name.rfind("model.layers.", 0) == 0 ? std::stoll(spec.name.substr(13)) : layers;
    for (int64_t i = 0; i < spec.numel(); ++i) {
      const double x = g.view(spec).as<float>()[i];
      squares[size_t(inside)] += x * x;
      squares.back() += x * x;
    }
  }
  for (double& x : squares) x = std::sqrt(x);
  return squares;
}

TEST(norms_are_reported_by_layer_and_the_clip_factor_follows_from_them) {
  OptimizerConfig c;
  c.gradient_clip = 0.05f;
  Fixture f(c);
  for (int step = 0; step < 2; ++step) {  // the second step must not add to the first
    const StepReport report = f.apply({.lr = 0.01f});
    std::vector<double> expected = norms(f.g, f.config.layers);
    EXPECT_NEAR(report.grad_norm, expected.back(), 1e-9 * expected.back());
    EXPECT_NEAR(report.grad_scale, double(c.gradient_clip) / (expected.back() + 1e-6), 1e-9);
    expected.pop_back();
    EXPECT_EQ(report.layer_grad_norms.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(report.layer_grad_norms[i], expected[i], 1e-9 * expected[i]);
    EXPECT_TRUE(report.update_norm > 0 && report.weight_norm > 0 && !report.skipped);
  }
  EXPECT_EQ(f.weights.version(), 2u);
  EXPECT_EQ(f.update.optimizer().steps, 2);
}

TEST(without_a_clip_nothing_is_scaled) {
  OptimizerConfig c;
  c.gradient_clip = 0;
  EXPECT_EQ(Fixture(c).apply({.lr = 0.01f}).grad_scale, 1.0);
}

TEST(a_useless_or_overflowing_gradient_changes_nothing) {
  for (const bool known : {true, false}) {
    Fixture f;
    if (!known) f.g.view(f.g.specs()[1]).as<float>()[0] = HUGE_VALF;
    const std::vector<float> before = f.values();
    const StepReport report = f.apply({.lr = 0.01f}, known);
    EXPECT_TRUE(report.skipped && f.values() == before);
    EXPECT_EQ(f.weights.version(), 0u);
    EXPECT_EQ(f.update.optimizer().steps, 0);
    EXPECT_EQ(std::isfinite(report.grad_norm), known);
    EXPECT_NEAR(report.weight_norm, norms(f.p, f.config.layers).back(), 1e-6 * report.weight_norm);
    EXPECT_EQ(report.grad_scale, 1.0);
  }
}

TEST(a_reset_drops_moments_and_takes_the_new_options) {
  Fixture f;
  f.apply({.lr = 0.01f});
  OptimizerConfig c;
  c.kind = OptimizerConfig::Kind::kMuon;
  f.update.reset(c);
  EXPECT_EQ(f.update.optimizer().steps, 0);
  EXPECT_TRUE(f.update.config().kind == OptimizerConfig::Kind::kMuon);
  c.eps = 0;
  EXPECT_THROWS(f.update.reset(c), Code::kConfig);
  EXPECT_THROWS(Update(Stream{}, f.p, c), Code::kConfig);
}

/// The experts' correction has no gradient (published_models.test.cc), and weight decay of all tensors
/// excludes it.
TEST(the_correction_of_experts_keeps_its_bits) {
  for (const auto& [name, config] : test::switch_configs()) {
    if (!config.experts.correction) continue;
    Parameters p(config), g(config);
    test::roughen(p, 1), test::roughen(g, 2);
    const int64_t layer = config.mixes(0) ? 0 : 1, n = config.experts.count;
    const TensorView correction = p.layer(layer).correction, norm = p.layer(layer).mlp_norm;
    std::fill_n(g.layer(layer).correction.as<float>(), n, 0.0f);
    const std::vector<float> before(correction.as<float>(), correction.as<float>() + n);
    const float moves = norm.as<float>()[0];
    OptimizerConfig c;
    c.weight_decay = 0.3f, c.decay_all = true;
    trainer::Optimizer optimizer(config, c);
    double squares = 1.0;
    optimizer.apply(Stream{}, p, g, {&squares, DType::kF64, {1}}, {.lr = 0.1f, .muon_lr = 0.0f, .clip = 1.0f});
    EXPECT_TRUE(test::same_bits(correction.as<float>(), before.data(), n));
    EXPECT_TRUE(norm.as<float>()[0] != moves);
  }
}

}  // namespace
}  // namespace trainer_update_test
