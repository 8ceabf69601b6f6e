// Sharded optimizers have, to the bit, the weights and moments of a single optimizer that has every moment,
// for the same clipped gradients; norms are compared with sums over all elements. Mutation tests:
// test/mutants/csrc-trainer.json.
#include "trainer/sharded_optimizer.h"

#include <cmath>

#include "check.h"
#include "core/device.h"
#include "model/reference.h"
#include "trainer/optimizer.h"
#include "trainer/on_ranks.h"

namespace trainer_sharded_optimizer_test {
namespace {

using namespace hone;
using trainer::OptimizerConfig;
using trainer::ShardExchange;
using trainer::ShardLayout;
using trainer::ShardPart;
using trainer::StepOptions;
using trainer::StepReport;

model::ModelConfig config() {
  model::ModelConfig c = test::switch_configs()[2].second;
  c.vocabulary = 1500;
  return c;
}

/// Random values in every tensor, zeros in the gaps.
model::Parameters drawn(uint64_t seed, float scale = 1.0f) {
  model::Parameters out(config());
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0.0f, scale);
  for (const model::TensorSpec& spec : out.specs()) {
    for (int64_t i = 0; i < spec.numel(); ++i) out.view(spec).as<float>()[i] = normal(random);
  }
  return out;
}

double norm(const float* a, const float* b, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; ++i) sum += (double(a[i]) - (b ? double(b[i]) : 0.0)) * (double(a[i]) - (b ? double(b[i]) : 0.0));
  return std::sqrt(sum);
}

/// The optimizer of a single rank; each step() gives it random gradients times `scale`.
struct Whole {
  model::Parameters weights = drawn(1), before = drawn(1);
  trainer::Optimizer optimizer;
  explicit Whole(const OptimizerConfig& c) : optimizer(config(), c) {}
  void step(int s, double scale) {
    copy_rows(Stream{}, weights.flat(), before.flat());
    model::Parameters gradients = drawn(uint64_t(10 + s));
    for (int64_t i = 0; i < gradients.flat().numel(); ++i) gradients.flat().as<float>()[i] *= float(scale);
    double squares = 1.0;
    optimizer.apply(Stream{}, weights, gradients, {&squares, DType::kF64, {1}}, {.lr = 0.02f});
  }
};

struct Sharded {
  model::Parameters weights = drawn(1);
  ShardLayout layout;
  ShardExchange exchange;
  trainer::ShardedOptimizer optimizer;
  int rank;
  Sharded(dist::Communicator& ranks, const OptimizerConfig& c)
      : layout(weights.specs(), config().layers, ranks.size(), 2 * trainer::kShardBlock),
        exchange(Stream{}, layout, ranks),
        optimizer(Stream{}, weights, layout, exchange, ranks.rank()),
        rank(ranks.rank()) {
    optimizer.reset(c);
  }
  StepReport step(int s, bool skipped = false) {
    const model::Parameters gradients = drawn(uint64_t(10 + s));
    for (size_t b = 0; b < layout.buckets().size(); ++b) {
      const ShardPart& part = layout.part(b, rank);
      std::copy_n(gradients.flat().as<float>() + part.offset, part.count, optimizer.gradients() + part.local);
    }
    StepReport report;
    report.skipped = skipped;
    StepOptions o;
    o.lr = 0.02f;
    optimizer.apply(o, report);
    return report;
  }
};

OptimizerConfig adamw(DType moments, float clip) {
  OptimizerConfig c;
  c.moments = moments;
  c.gradient_clip = clip;
  c.weight_decay = 0.1f;
  c.seed = 7;
  return c;
}

TEST(each_shard_is_updated_as_the_whole_is) {
  for (const DType moments : {DType::kF32, DType::kBF16}) {
    for (const bool decay_all : {false, true}) {
      OptimizerConfig c = adamw(moments, 0.0f);
      c.decay_all = decay_all;
      Whole whole(c);
      for (int s = 0; s < 3; ++s) whole.step(s, 1.0);
      for (const int size : {1, 2, 4}) {
        const auto said = test::on_ranks(size, [&](dist::Communicator& ranks) {
          Sharded sharded(ranks, c);
          StepReport report;
          for (int s = 0; s < 3; ++s) report = sharded.step(s);
          const int64_t n = whole.weights.flat().numel(), element = dtype_bytes(moments);
          EXPECT_TRUE(test::same_bits(sharded.weights.flat().as<float>(), whole.weights.flat().as<float>(), n));
          EXPECT_NEAR(report.update_norm / norm(whole.weights.flat().as<float>(), whole.before.flat().as<float>(), n), 1.0, 1e-6);
          EXPECT_NEAR(report.weight_norm / norm(whole.weights.flat().as<float>(), nullptr, n), 1.0, 1e-6);
          for (const auto& piece : trainer::shard_pieces(sharded.weights.specs(), sharded.layout, ranks.rank())) {
            const int64_t at = sharded.weights.specs()[piece.tensor].offset + piece.first;
            const auto same = [&](const TensorView& own, const TensorView& all) {
              return std::memcmp(own.as<std::byte>() + piece.local * element, all.as<std::byte>() + at * element,
                                 size_t(piece.count * element)) == 0;
            };
            EXPECT_TRUE(same(sharded.optimizer.m().flat(), whole.optimizer.m().flat()) && same(sharded.optimizer.v().flat(), whole.optimizer.v().flat()));
          }
        });
        for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
      }
    }
  }
}

TEST(gradients_are_clipped_by_the_norm_of_all_ranks) {
  const OptimizerConfig c = adamw(DType::kF32, 0.5f);
  const model::Parameters gradients = drawn(10);
  const double length = norm(gradients.flat().as<float>(), nullptr, gradients.flat().numel());
  Whole whole(adamw(DType::kF32, 0.0f));
  whole.step(0, 0.5 / (length + 1e-6));
  const auto said = test::on_ranks(3, [&](dist::Communicator& ranks) {
    Sharded sharded(ranks, c);
    const StepReport report = sharded.step(0);
    EXPECT_NEAR(report.grad_norm / length, 1.0, 1e-6);
    EXPECT_NEAR(report.grad_scale, 0.5 / (length + 1e-6), 1e-9);
    double squares = 0.0;
    for (const double layer : report.layer_grad_norms) squares += layer * layer;
    EXPECT_EQ(int64_t(report.layer_grad_norms.size()), config().layers + 1);
    EXPECT_NEAR(std::sqrt(squares) / length, 1.0, 1e-6);
    EXPECT_TRUE(norm(sharded.weights.flat().as<float>(), whole.weights.flat().as<float>(), whole.weights.flat().numel()) < 1e-4);
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
}

TEST(a_skipped_step_and_a_gradient_that_is_not_finite_change_nothing) {
  const auto said = test::on_ranks(2, [&](dist::Communicator& ranks) {
    Sharded sharded(ranks, adamw(DType::kF32, 0.5f));
    const model::Parameters before = drawn(1);
    EXPECT_TRUE(sharded.step(0, true).skipped);
    sharded.step(1);
    EXPECT_EQ(sharded.optimizer.steps, 1);
    Sharded other(ranks, adamw(DType::kF32, 0.5f));
    StepReport report;
    other.optimizer.clear_gradients();
    if (ranks.rank() == 1) other.optimizer.gradients()[3] = HUGE_VALF;
    StepOptions o;
    o.lr = 0.5f;
    other.optimizer.apply(o, report);
    EXPECT_TRUE(report.skipped && report.update_norm == 0.0 && report.grad_scale == 1.0);
    EXPECT_EQ(other.optimizer.steps, 0);
    EXPECT_TRUE(test::same_bits(other.weights.flat().as<float>(), before.flat().as<float>(), before.flat().numel()));
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
}

TEST(pieces_cover_every_tensor_once) {
  const auto specs = model::tensor_specs(config());
  for (const int size : {1, 3, 8}) {
    const ShardLayout layout(specs, config().layers, size, 2 * trainer::kShardBlock);
    std::vector<int64_t> covered(specs.size());
    for (int rank = 0; rank < size; ++rank) {
      for (const auto& piece : trainer::shard_pieces(specs, layout, rank)) {
        EXPECT_TRUE(piece.count > 0 && piece.first >= 0 && piece.first + piece.count <= specs[piece.tensor].numel());
        EXPECT_TRUE(piece.local + piece.count <= layout.elements(rank));
        covered[piece.tensor] += piece.count;
      }
    }
    for (size_t t = 0; t < specs.size(); ++t) EXPECT_EQ(covered[t], specs[t].numel());
  }
}

}  // namespace

}  // namespace trainer_sharded_optimizer_test
