// The predicted memory of a trainer, compared to the byte with what the arenas of a real one hold after a
// step.
#include "trainer/memory.h"

#include "check.h"
#include "core/thread_pool.h"
#include "device.h"
#include "model/reference.h"
#include "trainer/micro_batch.h"
#include "trainer/on_ranks.h"
#include "trainer/rank_agreement.h"
#include "trainer/trainer.h"
#include "trainer/weight_window.h"

namespace trainer_memory_test {
namespace {

using namespace hone;
using trainer::OptimizerConfig;
using trainer::TrainerConfig;

/// T tokens in sequences of ten.
struct Batch {
  std::vector<int32_t> tokens, starts{0};
  std::vector<uint8_t> mask;
  explicit Batch(int64_t T) {
    for (int64_t t = 0; t < T; ++t) tokens.push_back(int32_t(t % 7)), mask.push_back(t % 10 != 0);
    for (int64_t end = 10; end <= T; end += 10) starts.push_back(int32_t(end));
  }
  trainer::TrainingBatch view() const {
    trainer::TrainingBatch b;
    b.tokens = tokens.data(), b.cu_seqlens = starts.data(), b.mask = mask.data();
    b.sequences = int64_t(starts.size()) - 1;
    b.step.counted_tokens = int64_t(tokens.size()) / 10 * 9, b.step.sequences = b.sequences;
    b.step.groups = 1, b.step.dr_grpo = 1;
    return b;
  }
};

/// Checks that a trainer holds, after a step, the bytes that it was predicted to take. base: how a frozen base is stored.
void check(const model::ModelConfig& model, TrainerConfig config, ThreadPool* pool, DType base = DType::kF32) {
  config.packed_tokens = 40;
  const Batch batch(config.packed_tokens);
  const Memory where = config.device == Stream::Backend::kCuda ? Memory::kDevice : Memory::kHost;
  const int64_t before = Arena::live_bytes(where), pinned = Arena::live_bytes(Memory::kPinned);
  {
    trainer::Trainer made(model, config, pool);
    made.parameters().initialize(1);
    if (base == DType::kBF16) test::round_to_bf16(made.parameters());
    made.parameters_changed();
    trainer::StepOptions o;
    o.objective = kernels::Objective::kSupervised;
    made.step(batch.view(), o);
    const bool divided = config.sharding.stage == trainer::Sharding::Stage::kParameters;
    const auto snapshot = model::snapshot_bytes({.backend = config.device}, model, config.weight_storage, divided, base);
    const auto planned = trainer::trainer_bytes(model, config, 4, pool ? pool->threads() : 1, {}, base);
    EXPECT_EQ(Arena::live_bytes(where) - before, planned.total() + snapshot.tensors() + snapshot.rope_tables);
    const bool on_device = !config.adapters.on() || where == Memory::kHost;
    if (!divided) EXPECT_EQ(planned.parameters, on_device ? Arena::rounded(made.parameters().flat().numel() * dtype_bytes(base)) : 0);
    const bool divides = config.sharding.stage != trainer::Sharding::Stage::kNone;
    if (!divides) EXPECT_EQ(planned.trained, made.trained().flat().numel() * 4);
    const int64_t both = 2 * Arena::rounded(made.trained().flat().numel() * dtype_bytes(config.optimizer.moments));
    const bool visit = config.optimizer.moments_on_host && where == Memory::kDevice;
    EXPECT_EQ(planned.moments, visit ? 0 : both);
    EXPECT_EQ(planned.host_moments, visit ? both : 0);
    if (visit) EXPECT_TRUE(Arena::live_bytes(Memory::kPinned) - pinned >= both);
  }
  EXPECT_EQ(Arena::live_bytes(where), before);
}

/// A tiny model with sizes that GPU kernels support.
model::ModelConfig gpu_model() {
  model::ModelConfig model = test::tiny_config();
  model.width = 40, model.head_dim = 16, model.mlp_width = 56, model.vocabulary = 64;
  return model;
}

TEST(on_the_cpu_a_trainer_takes_what_it_is_said_to_take) {
  for (const auto& [name, model] : test::switch_configs()) {
    check(model, {}, nullptr);
    TrainerConfig config;
    config.recompute = true;
    check(model, config, nullptr);
    config.optimizer.moments = DType::kBF16;
    check(model, config, nullptr);
    config.adapters = {4, 8.0f, {"all-linear"}, 1};
    if (model.mixes()) config.adapters.targets = {"q_proj", "o_proj"};
    check(model, config, nullptr);
    check(model, config, nullptr, DType::kBF16);
    config.adapters = {};
    config.optimizer.moments = DType::kF32;
    config.weight_storage = DType::kBF16;
    config.optimizer.kind = OptimizerConfig::Kind::kMuon;
    ThreadPool pool(3);
    check(model, config, &pool);
  }
}

/// Bytes that `size` ranks hold in total after each has made one step, whose tokens fit in one micro-batch.
int64_t taken_by_ranks(int size, const model::ModelConfig& model, const TrainerConfig& config, int64_t tokens) {
  const Batch batch(tokens);
  const int64_t before = Arena::live_bytes(Memory::kHost);
  int64_t taken = 0;
  const auto said = test::on_ranks(size, [&](dist::Communicator& ranks) {
    trainer::Trainer made(model, config, nullptr, &ranks);
    trainer::StepOptions o;
    o.objective = kernels::Objective::kSupervised;
    made.parameters_changed();
    EXPECT_EQ(made.step(batch.view(), o).micro_batches, 1);
    trainer::first_of_ranks(ranks, 0);  // waits until all have made their step
    if (ranks.rank() == 0) taken = Arena::live_bytes(Memory::kHost) - before;
    trainer::first_of_ranks(ranks, 0);  // keeps all ranks alive until rank 0 has counted
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
  return taken;
}

TEST(ranks_that_divide_something_take_what_they_are_said_to_take) {
  model::ModelConfig model = test::switch_configs()[1].second;
  model.vocabulary = 3000;
  using Stage = trainer::Sharding::Stage;
  using Kind = OptimizerConfig::Kind;
  for (const auto& [stage, kind] : {std::pair{Stage::kOptimizer, Kind::kAdamW}, {Stage::kGradients, Kind::kAdamW}, {Stage::kParameters, Kind::kAdamW}, {Stage::kOptimizer, Kind::kMuon}}) {
    for (const int size : {1, 3}) {
      TrainerConfig config;
      config.optimizer.kind = kind;
      config.packed_tokens = 40;
      config.sharding = {stage, true};
      const int64_t taken = taken_by_ranks(size, model, config, config.packed_tokens);
      int64_t planned = 0;
      const bool divided = stage == Stage::kParameters;
      const auto snapshot = model::snapshot_bytes({}, model, config.weight_storage, divided);
      const auto specs = model::tensor_specs(model);
      const trainer::ShardLayout layout(specs, model.layers, size);
      for (int rank = 0; rank < size; ++rank) {
        // A rank without a micro-batch has no activations; there is one micro-batch, which rank 0 has.
        const auto bytes = trainer::trainer_bytes(model, config, 4, 1, {rank, size});
        planned += bytes.total() + snapshot.tensors() + snapshot.rope_tables;
        // Of its block of all weights a rank only has its own pages in memory (weight_window.test.cc).
        if (divided) planned += model::parameter_bytes(model) - (bytes.parameters - trainer::weight_window_bytes(layout, model.layers));
      }
      const int64_t idle = (size - 1) * trainer::packed_batch_bytes(40, 4);
      EXPECT_EQ(taken, planned - idle);
    }
  }
}

/// Micro-batches of 80 tokens, which one trainer computes alone, or two with 40 rows each.
TEST(ranks_that_have_a_micro_batch_together_take_what_they_are_said_to_take) {
  model::ModelConfig model = test::switch_configs()[3].second;
  using Stage = trainer::Sharding::Stage;
  for (const auto stage : {Stage::kOptimizer, Stage::kGradients}) {
    for (const bool recompute : {false, true}) {
      TrainerConfig config;
      config.packed_tokens = 40, config.recompute = recompute;
      config.sharding = {stage, true, 2};
      int64_t activations[3] = {};
      for (const int size : {1, 2}) {
        const int64_t taken = taken_by_ranks(size, model, config, 80);
        int64_t planned = 0;
        const auto snapshot = model::snapshot_bytes({}, model, config.weight_storage, false);
        for (int rank = 0; rank < size; ++rank) {
          const auto bytes = trainer::trainer_bytes(model, config, 8, 1, {rank, size});
          planned += bytes.total() + snapshot.tensors() + snapshot.rope_tables;
          activations[size] = bytes.activations;
        }
        EXPECT_EQ(taken, planned);
      }
      // half of every array, because here no size is rounded up
      EXPECT_EQ(activations[2] * 2, activations[1]);
    }
  }
}

TEST(what_is_divided_takes_less) {
  model::ModelConfig model = test::tiny_config();
  model.layers = 12;
  const auto bytes = [&](trainer::Sharding::Stage stage, int size) {
    TrainerConfig config;
    config.sharding = {stage, false};
    return trainer::trainer_bytes(model, config, 4, 1, {0, size});
  };
  using Stage = trainer::Sharding::Stage;
  const auto alone = bytes(Stage::kNone, 1), moments = bytes(Stage::kOptimizer, 4), gradients = bytes(Stage::kGradients, 4);
  EXPECT_TRUE(moments.moments < alone.moments / 3 && moments.trained > alone.trained);
  EXPECT_EQ(gradients.moments, moments.moments);
  EXPECT_TRUE(gradients.trained < alone.trained / 2);
  const auto parameters = bytes(Stage::kParameters, 4);
  EXPECT_TRUE(parameters.parameters < alone.parameters);
  EXPECT_EQ(parameters.trained, gradients.trained);
}

TEST(on_a_gpu_too) {
  NEEDS_DEVICE;
  for (const auto kind : {OptimizerConfig::Kind::kAdamW, OptimizerConfig::Kind::kMuon}) {
    TrainerConfig config;
    config.optimizer.kind = kind;
    config.device = Stream::Backend::kCuda;
    model::ModelConfig model = gpu_model();
    check(model, config, nullptr);
    config.head_rows = 16;
    check(model, config, nullptr);
    model.tied_head = !model.tied_head;
    config.recompute = true;
    check(model, config, nullptr);
    config.sharding = {trainer::Sharding::Stage::kOptimizer, true};
    check(model, config, nullptr);
    config.sharding = {};
    if (kind == OptimizerConfig::Kind::kMuon) continue;
    for (const bool host : {false, true}) {
      config.optimizer.moments_on_host = host;
      config.sharding = {host ? trainer::Sharding::Stage::kGradients : trainer::Sharding::Stage::kParameters, true};
      check(model, config, nullptr);
      config.sharding = {};
    }
    check(model, config, nullptr);
    config.optimizer.window = 4096;
    check(model, config, nullptr);
    config.optimizer.moments = DType::kBF16;
    check(model, config, nullptr);
    config.adapters = {8, 8.0f, {"q_proj", "down_proj"}, 1};
    check(model, config, nullptr);
    model.vocabulary = 160;  // the embedding is then too large for the scratch, and its memory is released
    EXPECT_EQ(trainer::trainer_bytes(model, config, 4, 1).first_packing, 160 * model.width * 4);
    check(model, config, nullptr);
  }
}

TEST(a_gpu_is_answered_for_where_there_is_none) {
  TrainerConfig config;
  config.device = Stream::Backend::kCuda;
  const auto planned = trainer::trainer_bytes(test::tiny_config(), config, 4, 1);
  EXPECT_TRUE(planned.activations > 0 && planned.logits > 0);
  config.packed_tokens = 9000, config.head_rows = 8192;
  model::ModelConfig model = test::tiny_config();
  model.vocabulary = 1000;
  EXPECT_EQ(trainer::trainer_bytes(model, config, 4, 1).logits, 8192 * 1000 * 2);
}

TEST(recompute_keeps_what_enters_each_layer_and_one_layer) {
  model::ModelConfig model = test::tiny_config();
  const auto kept = [&](int64_t layers, bool recompute) {
    model.layers = layers;
    TrainerConfig config;
    config.packed_tokens = 40, config.recompute = recompute;
    return trainer::trainer_bytes(model, config, 4, 1).activations;
  };
  EXPECT_EQ(kept(1, true), kept(1, false));
  EXPECT_EQ(kept(9, true) - kept(1, true), 8 * Arena::rounded(40 * model.width * 4));
  EXPECT_TRUE(kept(9, false) - kept(1, false) > 4 * (kept(9, true) - kept(1, true)));
}

}  // namespace
}  // namespace trainer_memory_test
