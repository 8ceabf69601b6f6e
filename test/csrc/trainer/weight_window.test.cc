// Passes over weights that ranks shard have the bits of passes over unsharded weights. Mutation tests:
// test/mutants/csrc-trainer.json.
#include "trainer/weight_window.h"

#include "check.h"
#include "core/device.h"
#include "model/reference.h"
#include "trainer/on_ranks.h"

namespace trainer_weight_window_test {
namespace {

using namespace hone;
using trainer::kShardBlock;
using trainer::Pass;
using trainer::ShardLayout;
using trainer::WeightWindow;

constexpr int64_t kTokens = 9;

/// Hidden states and gradients of one sequence.
struct Outcome {
  std::vector<float> hidden, gradients;
};

Outcome run(const model::WeightSnapshot& weights, bool recompute) {
  const model::ModelConfig& c = weights.config;
  std::vector<int32_t> ids, positions, starts{0, int32_t(kTokens)};
  for (int32_t t = 0; t < kTokens; ++t) ids.push_back(t * 31 % int32_t(c.vocabulary)), positions.push_back(t);
  const model::PackedRows rows{.ids = i32(ids.data(), {kTokens}), .positions = i32(positions.data(), {kTokens}), .cu_seqlens = i32(starts.data(), {2}), .loss_rows = {}};
  Arena arena(model::training_bytes(Stream{}, c, kTokens, recompute).total(), "test");
  const model::Activations saved = model::forward_training(Stream{}, weights, rows, arena, recompute);
  Outcome out;
  const auto* hidden = saved.hidden.as<float>();
  out.hidden.assign(hidden, hidden + saved.hidden.numel());
  std::vector<float> dhidden(size_t(kTokens * c.width));
  for (size_t i = 0; i < dhidden.size(); ++i) dhidden[i] = float(i % 13) - 6.0f;
  model::Parameters gradients(c);
  model::backward(Stream{}, weights, rows, saved, f32(dhidden.data(), {kTokens, c.width}), model::one_block(rows, {.parameters = &gradients}), arena);
  const auto* flat = gradients.flat().as<float>();
  out.gradients.assign(flat, flat + gradients.flat().numel());
  return out;
}

Outcome whole(const model::ModelConfig& config) {
  model::Parameters parameters(config);
  test::roughen(parameters, 5);
  const auto packed = model::WeightSnapshot::make(Stream{}, parameters, 0);
  return run(*packed, false);
}

/// Discards the layers' weights except the rank's own shard; weights outside of layers stay.
void forget_others(model::Parameters& parameters, const ShardLayout& layout, int rank) {
  for (size_t b = 0; b < layout.buckets().size(); ++b) {
    if (layout.buckets()[b].layer == parameters.config().layers) continue;
    for (int other = 0; other < layout.ranks(); ++other) {
      const auto& part = layout.part(b, other);
      if (other != rank) parameters.discard(part.offset, part.count);
    }
  }
}

TEST(a_pass_over_divided_weights_has_the_bits_of_one_over_whole_weights) {
  for (const auto& [name, config] : test::switch_configs()) {
    if (config.mixes_in_part() || config.full_head_dim > 0) continue;  // refused; tested below
    const Outcome wanted = whole(config);
    for (const int size : {1, 2, 3}) {
      const auto said = test::on_ranks(size, [&](dist::Communicator& ranks) {
        model::Parameters parameters(config);
        test::roughen(parameters, 5);
        const ShardLayout layout(parameters.specs(), config.layers, size, kShardBlock);
        forget_others(parameters, layout, ranks.rank());
        const bool recompute = size == 2;
        WeightWindow window(Stream{}, {parameters, layout, ranks}, DType::kF32);
        for (int time = 0; time < 3; ++time) {
          window.begin(Pass::kTraining);
          if (time != ranks.rank()) {  // each time another rank computes nothing
            const Outcome got = run(window.packed(), recompute);
            EXPECT_TRUE(got.hidden == wanted.hidden && got.gradients == wanted.gradients);
          }
          window.end();
        }
      });
      for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
    }
  }
}

TEST(layers_of_two_kinds_have_no_room_in_common) {
  for (const auto& [name, config] : test::switch_configs()) {
    if (config.mixes_in_part() || config.full_head_dim > 0) EXPECT_THROWS(model::WeightSnapshot::of_one_layer({}, config, DType::kF32), Code::kUnsupported);
  }
}

}  // namespace

}  // namespace trainer_weight_window_test
