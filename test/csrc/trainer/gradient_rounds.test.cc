// GradientRounds: how gradients of micro-batches reach the ranks that own them, summed over ranks and over
// row blocks in their order. Mutation tests: test/mutants/csrc-trainer.json.
#include "trainer/gradient_rounds.h"

#include "check.h"
#include "dist/solo_communicator.h"
#include "trainer/sharded_course.h"

namespace trainer_gradient_rounds_test {
namespace {

using namespace hone;
using namespace hone::test;
using trainer::GradientRounds;

constexpr Sharding::Stage kStages[] = {Sharding::Stage::kOptimizer, Sharding::Stage::kGradients};

/// In f32 ((0 + 1e8) - 1e8) + 0.1 is 0.1; an order that does not add 0.1 last gives 0.
constexpr float kParts[] = {1e8f, -1e8f, 0.1f};

void fill(const std::vector<TensorView>& views, float value) {
  for (const TensorView& view : views) std::fill_n(view.as<float>(), view.numel(), value);
}

/// Fills the gradients in the order of a backward: a layer is finished before the next one begins.
void backward(const std::vector<model::Gradients>& targets, const model::ModelConfig& config, const std::vector<float>& values) {
  for (size_t b = 0; b < targets.size(); ++b) fill({targets[b].embedding(), targets[b].final_norm(), targets[b].head()}, values[b]);
  for (int64_t l = config.layers - 1; l >= 0; --l) {
    for (size_t b = 0; b < targets.size(); ++b) {
      const model::LayerViews layer = targets[b].layer(config, l);
      fill({layer.attn_norm, layer.qkv, layer.o, layer.mlp_norm, layer.gate_up, layer.down}, values[b]);
    }
    for (const model::Gradients& target : targets) target.window ? target.window->finished(l) : void();
  }
}

/// Runs a round on `size` ranks, of which the first `given` have gradients, or on one rank with `sequence`
/// row blocks.
void check_round(Sharding::Stage stage, int size, int sequence, int given, float wanted) {
  const model::ModelConfig config = tiny_config();
  const auto said = on_ranks(size, [&](dist::Communicator& ranks) {
    const Stream stream;
    model::Parameters parameters(config);
    const trainer::ShardLayout layout(parameters.specs(), config.layers, size);
    trainer::ShardExchange exchange(stream, layout, ranks);
    trainer::ShardedWeights weights(parameters, layout, exchange, ranks);
    const Sharding sharding{stage, true, sequence};
    GradientRounds rounds(GradientRounds::Where{stream, layout, exchange, weights}, {parameters, &parameters}, sharding, size);
    trainer::TrainedGradients whole(stream, config, nullptr);
    EXPECT_EQ(rounds.by_layer(), stage != Sharding::Stage::kOptimizer);
    const auto targets = rounds.targets(whole);
    EXPECT_EQ(targets.size(), size_t(size == 1 ? sequence : 1));
    std::vector<float> shard(size_t(layout.elements(ranks.rank())), 0.0f);
    for (int round = 0; round < 2; ++round) {  // the second round must start from zeros again
      std::fill(shard.begin(), shard.end(), 0.0f);
      rounds.begin(whole, {given, shard.data()});
      std::vector<float> values;
      for (size_t b = 0; b < targets.size(); ++b) values.push_back(kParts[size_t(ranks.rank()) + b]);
      if (ranks.rank() < given) backward(targets, config, values);
      rounds.end();
    }
    int64_t right = 0, zeros = 0;
    for (const float x : shard) right += x == wanted, zeros += x == 0.0f;
    EXPECT_TRUE(right > 0 && right + zeros == int64_t(shard.size()));  // padding is 0
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
}

TEST(ranks_are_added_up_in_their_order_and_so_are_blocks_of_one_alone) {
  for (const auto stage : kStages) {
    check_round(stage, 3, 1, 3, 0.1f);
    check_round(stage, 1, 3, 1, 0.1f);
    check_round(stage, 3, 1, 1, 1e8f);
    check_round(stage, 1, 1, 1, 1e8f);
  }
}

TEST(blocks_are_kept_apart_where_one_alone_has_the_bits_of_a_team) {
  EXPECT_EQ(trainer::blocks_alone({Sharding::Stage::kOptimizer, true, 4}, 1), 4);
  EXPECT_EQ(trainer::blocks_alone({Sharding::Stage::kGradients, false, 4}, 1), 4);
  EXPECT_EQ(trainer::blocks_alone({Sharding::Stage::kOptimizer, false, 4}, 1), 1);
  EXPECT_EQ(trainer::blocks_alone({Sharding::Stage::kParameters, true, 4}, 4), 1);
}

TEST(squares_of_what_comes_by_layer_are_added_up) {
  const model::ModelConfig config = tiny_config();
  const Stream stream;
  dist::SoloCommunicator alone;
  model::Parameters parameters(config);
  const trainer::ShardLayout layout(parameters.specs(), config.layers, 1);
  trainer::ShardExchange exchange(stream, layout, alone);
  trainer::ShardedWeights weights(parameters, layout, exchange, alone);
  GradientRounds rounds(GradientRounds::Where{stream, layout, exchange, weights}, {parameters, &parameters}, {Sharding::Stage::kGradients, true, 2}, 1);
  trainer::TrainedGradients whole(stream, config, nullptr);
  int64_t elements = 0;
  for (const model::TensorSpec& spec : parameters.specs()) elements += spec.numel();
  const double squares = rounds.squares([&] { backward(rounds.targets(whole), config, {1.0f, 2.0f}); });
  EXPECT_EQ(squares, double(elements) * 5.0);
}

}  // namespace

}  // namespace trainer_gradient_rounds_test
