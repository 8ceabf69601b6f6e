// A backward that passes gradients on layer by layer has the bits, element for element, of one that stores
// them all. Mutation tests: test/mutants/csrc-trainer.json.
#include "trainer/gradient_window.h"

#include <algorithm>

#include "check.h"
#include "core/device.h"
#include "model/reference.h"

namespace trainer_gradient_window_test {
namespace {

using namespace hone;
using trainer::GradientWindow;
using trainer::kShardBlock;
using trainer::ShardLayout;

model::ModelConfig config_of(const model::ModelConfig& base) {
  model::ModelConfig c = base;
  c.vocabulary = 700;  // makes the embedding larger than a bucket
  return c;
}

/// Forward and backward of one sequence, as a trainer runs them; dLoss/dhidden is random.
struct Passage {
  model::Parameters parameters;
  std::shared_ptr<model::WeightSnapshot> weights;
  Arena arena;
  std::vector<int32_t> ids, positions, starts;

  explicit Passage(const model::ModelConfig& config) : parameters(config) {
    test::roughen(parameters, 5);
    weights = model::WeightSnapshot::make(Stream{}, parameters, 0);
    for (int32_t t = 0; t < 9; ++t) ids.push_back(t * 31 % int32_t(config.vocabulary)), positions.push_back(t);
    starts = {0, 9};
  }
  void run(const model::Gradients& grads) {
    const model::ModelConfig& c = parameters.config();
    arena = Arena(model::training_bytes(Stream{}, c, 9, false).total() + Arena::rounded(9 * c.width * 4), "test");
    const model::PackedRows rows{.ids = i32(ids.data(), {9}), .positions = i32(positions.data(), {9}), .cu_seqlens = i32(starts.data(), {2}), .loss_rows = {}};
    const model::Activations saved = model::forward_training(Stream{}, *weights, rows, arena);
    std::vector<float> dhidden(size_t(9 * c.width));
    for (size_t i = 0; i < dhidden.size(); ++i) dhidden[i] = float(i % 13) - 6.0f;
    const TensorView head = grads.head();  // stands for the backward of the head, which comes first
    for (int64_t i = 0; i < head.numel(); ++i) head.as<float>()[i] += float(i % 7);
    model::backward(Stream{}, *weights, rows, saved, f32(dhidden.data(), {9, c.width}), model::one_block(rows, grads), arena);
  }
};

TEST(what_is_handed_on_is_the_gradient_of_all_parameters) {
  for (const auto& [name, base] : test::switch_configs()) {
    const model::ModelConfig config = config_of(base);
    Passage passage(config);
    model::Parameters whole(config), taken(config);
    passage.run({.parameters = &whole});
    const ShardLayout layout(whole.specs(), config.layers, 3, 2 * kShardBlock);
    GradientWindow window(Stream{}, passage.parameters, layout);
    for (int time = 0; time < 2; ++time) {  // the second micro-batch must begin with zeros
      std::vector<int64_t> layers;
      window.begin([&](size_t b, const float* gradients) {
        layers.push_back(layout.buckets()[b].layer);
        std::copy_n(gradients, layout.buckets()[b].count, taken.flat().as<float>() + layout.buckets()[b].offset);
      });
      passage.run({.window = &window});
      window.end();
      EXPECT_EQ(layers.size(), layout.buckets().size());
      EXPECT_TRUE(std::is_sorted(layers.rbegin(), layers.rend() - std::count(layers.begin(), layers.end(), config.layers)) ||
                  config.layers < 2);
      EXPECT_TRUE(layers.front() == config.layers - 1 && layers.back() == config.layers);
      EXPECT_TRUE(test::same_bits(taken.flat().as<float>(), whole.flat().as<float>(), whole.flat().numel()));
    }
  }
}

TEST(a_micro_batch_that_nobody_computes_ends_with_the_same_calls_and_zeros) {
  const model::ModelConfig config = config_of(test::tiny_config());
  const model::Parameters parameters(config);
  const ShardLayout layout(parameters.specs(), config.layers, 2, 2 * kShardBlock);
  GradientWindow window(Stream{}, parameters, layout);
  std::vector<size_t> buckets;
  const auto take = [&](size_t b, const float* gradients) {
    buckets.push_back(b);
    EXPECT_TRUE(std::all_of(gradients, gradients + layout.buckets()[b].count, [](float x) { return x == 0.0f; }));
  };
  window.begin(take);
  window.end();
  EXPECT_EQ(buckets.size(), layout.buckets().size());
  const std::vector<size_t> all = std::exchange(buckets, {});
  window.begin(take);
  window.finished(config.layers - 1);  // the backward stopped after this layer
  window.end();
  EXPECT_TRUE(buckets == all);
}

TEST(it_takes_what_it_says_and_less_than_all_gradients) {
  model::ModelConfig config = test::tiny_config();
  config.layers = 8;
  const model::Parameters parameters(config);
  const ShardLayout layout(parameters.specs(), config.layers, 2);
  const int64_t before = Arena::live_bytes(Memory::kHost);
  const GradientWindow window(Stream{}, parameters, layout);
  EXPECT_EQ(Arena::live_bytes(Memory::kHost) - before, trainer::gradient_window_bytes(layout, config.layers));
  EXPECT_TRUE(trainer::gradient_window_bytes(layout, config.layers) < parameters.flat().numel() * 4 / 2);
}

}  // namespace

}  // namespace trainer_gradient_window_test
