// A layer's experts compared with the f64 reference: their output, its gradient with respect to the input,
// and the memory they need.
#include "model/experts.h"

#include <algorithm>

#include "check.h"
#include "model/network.h"
#include "model/reference.h"

namespace model_experts_test {
namespace {

using namespace hone;
using test::Vector;

std::vector<std::pair<std::string, model::ModelConfig>> mixtures() {
  std::vector<std::pair<std::string, model::ModelConfig>> out;
  for (const auto& [name, config] : test::switch_configs()) {
    if (config.mixes()) out.emplace_back(name, config);
  }
  return out;
}

struct Layer {
  model::ModelConfig config;
  int64_t index;
  model::Parameters parameters;
  std::shared_ptr<const model::WeightSnapshot> weights;
  std::vector<float> x;
  int64_t rows;

  Layer(const model::ModelConfig& c, int64_t r) : config(c), index(c.mixes(0) ? 0 : 1), parameters(c), x(test::random_floats(r * c.width)), rows(r) {
    test::roughen(parameters, 3);
    weights = model::WeightSnapshot::make(Stream{}, parameters, 1);
  }
  const model::PackedLayer& packed() const { return weights->layers[size_t(index)]; }
  TensorView input() const { return f32(x.data(), {rows, config.width}); }
  /// The experts' output, added to zeros.
  std::vector<float> added(const Stream& stream, const model::ExpertActivations& act, int64_t first, int64_t count) const {
    Arena scratch(model::expert_scratch_bytes({}, config, count), "test");
    std::vector<float> out(size_t(count * config.width), 0.0f);
    const TensorView part = f32(x.data() + first * config.width, {count, config.width});
    model::enter_experts(stream, config, packed(), part, act, scratch);
    model::leave_experts(stream, config, packed(), act, f32(out.data(), {count, config.width}), scratch);
    EXPECT_EQ(scratch.used(), 0);
    return out;
  }
};

TEST(what_experts_add_is_the_references_and_a_row_has_its_bits_alone) {
  ThreadPool pool(2);
  Stream threaded;
  threaded.pool = &pool;
  for (const auto& [name, config] : mixtures()) {
    const Layer layer(config, 23);
    const int64_t C = config.width;
    Arena kept(model::expert_activation_bytes({}, config, 23), "test");
    const model::ExpertActivations act = model::take_experts(config, DType::kF32, 23, kept);
    EXPECT_EQ(kept.used(), kept.capacity());
    const std::vector<float> all = layer.added(threaded, act, 0, 23);
    const test::Reference reference(layer.parameters);
    for (int64_t r = 0; r < 23; ++r) {
      const Vector row(layer.x.begin() + r * C, layer.x.begin() + (r + 1) * C);
      Vector wanted(size_t(C), 0.0);
      reference.mix(layer.index, row, wanted);
      for (int64_t i = 0; i < C; ++i) EXPECT_NEAR(all[size_t(r * C + i)], wanted[size_t(i)], 1e-5);
      const std::vector<float> alone = layer.added({}, model::first_rows(act, 1), r, 1);
      EXPECT_TRUE(test::same_bits(alone.data(), all.data() + r * C, C));
    }
  }
}

/// What one of `rows` contributes to the router's auxiliary losses.
struct TermsOf {
  const test::Reference& reference;
  int64_t layer;
  std::vector<int32_t> chosen;  // experts of all rows
  double balance_coef, z_coef;

  double operator()(const Vector& x, double rows) const {
    const Vector scores = reference.router_logits(layer, x);
    const auto value = [&](double z) { return reference.config.experts.sigmoid ? 1.0 / (1.0 + std::exp(-z)) : std::exp(z); };
    double sum = 0.0, powers = 0.0, balance = 0.0;
    for (const double z : scores) sum += value(z), powers += std::exp(z);
    for (const int32_t e : chosen) balance += value(scores[size_t(e)]) / sum;
    const double log_sum = std::log(powers);
    return balance_coef * double(scores.size()) * balance / (rows * rows) + z_coef * log_sum * log_sum / rows;
  }
};

TEST(gradients_to_what_enters_match_differences_of_the_reference) {
  for (const auto& [name, config] : mixtures()) {
    const Layer layer(config, 3);
    const int64_t C = config.width;
    Arena arena(1 << 20, "test");
    const model::ExpertActivations act = model::take_experts(config, DType::kF32, 3, arena);
    layer.added({}, act, 0, 3);
    const model::TransposedLayer transposed = model::transpose_layer({}, layer.packed(), arena);
    const std::vector<float> dadded = test::random_floats(3 * C);
    std::vector<float> dx = test::poison(3 * C);
    const std::vector<model::ExpertGradients> frozen{{{0, 3}, {}}};
    std::vector<double> rows(size_t(config.layers * config.experts.count), 1.0);
    const std::vector<int32_t> chosen(act.experts.as<int32_t>(), act.experts.as<int32_t>() + 3 * config.experts.chosen);
    const std::vector<int32_t> starts{0, 3};
    std::vector<double> losses{1.0};
    const model::RouterTerms terms{.balance_coef = 0.3, .z_coef = 0.2, .starts = i32(const_cast<int32_t*>(starts.data()), {2}), .losses = losses.data()};
    Arena scratch(model::experts_backward_bytes({}, config, 3), "test");
    model::experts_backward({}, config, {.x = layer.input(), .dadded = f32(dadded.data(), {3, C}), .dx = f32(dx.data(), {3, C}), .accumulate = false,
                                         .act = act, .weights = layer.packed(), .transposed = transposed.experts, .gradients = frozen, .arithmetic = kernels::Arithmetic::kF32, .layer = layer.index, .expert_rows = {rows.data(), DType::kF64, {config.layers, config.experts.count}}, .terms = terms}, scratch);
    EXPECT_EQ(scratch.peak(), scratch.capacity());
    for (int64_t e = 0; e < config.experts.count; ++e) {
      EXPECT_EQ(rows[size_t(layer.index * config.experts.count + e)], 1.0 + double(std::count(chosen.begin(), chosen.end(), int32_t(e))));
    }
    const test::Reference reference(layer.parameters);
    const TermsOf terms_of{reference, layer.index, chosen, 0.3, 0.2};
    double loss = 1.0;
    for (int64_t r = 0; r < 3; ++r) loss += terms_of(Vector(layer.x.begin() + r * C, layer.x.begin() + (r + 1) * C), 3);
    EXPECT_NEAR(losses[0], loss, 1e-6);
    for (int64_t r = 0; r < 3; ++r) {
      for (int64_t i = 0; i < C; ++i) {
        const auto value = [&](double step) {
          Vector row(layer.x.begin() + r * C, layer.x.begin() + (r + 1) * C), out(size_t(C), 0.0);
          row[size_t(i)] += step;
          reference.mix(layer.index, row, out);
          double sum = terms_of(row, 3);
          for (int64_t c = 0; c < C; ++c) sum += out[size_t(c)] * double(dadded[size_t(r * C + c)]);
          return sum;
        };
        const double wanted = (value(1e-6) - value(-1e-6)) / 2e-6;
        EXPECT_NEAR(dx[size_t(r * C + i)], wanted, 2e-4 * (1.0 + std::fabs(wanted)));
      }
    }
  }
}

}  // namespace
}  // namespace model_experts_test
