// Mixtures of experts that differ from those of architecture_configs() in names, shared experts or how scores become weights:
// the engine's log-probs equal the trainer's to the bit, and steps take the memory that they are said to take.
#include "architectures.h"
#include "engine_trainer.h"
#include "model/network.h"
#include "trainer/memory.h"

namespace contract_mixture_test {

using namespace hone;
using namespace hone::test;

TEST(mixtures_have_equal_log_probs_in_engine_and_trainer_after_preemption_in_every_storage) {
  int64_t preemptions = 0;
  for (const auto& [name, model] : mixture_configs()) {
    for (const DType storage : {DType::kF32, DType::kBF16}) {
      for (const int32_t rows : {3, 128}) {
        Case c;
        c.name = name.c_str(), c.model = model, c.storage = storage, c.engine = engine_config(16, rows, 12), c.packed_tokens = rows == 3 ? 170 : 4096, c.threads = 2;
        preemptions += expect_equal(c);
      }
    }
  }
  EXPECT_TRUE(preemptions > 0);
}

TEST(steps_of_mixtures_take_the_memory_that_they_are_said_to_take) {
  for (const auto& [name, model] : mixture_configs()) {
    for (const bool recompute : {false, true}) {
      trainer::TrainerConfig config;
      config.packed_tokens = 40, config.recompute = recompute;
      const std::vector<int32_t> tokens(40, 3), starts{0, 25, 40};
      std::vector<uint8_t> mask(40, 1);
      mask[0] = mask[25] = 0;
      const int64_t before = Arena::live_bytes(Memory::kHost);
      trainer::Trainer made(model, config, nullptr);
      trainer::TrainingBatch batch;
      batch.tokens = tokens.data(), batch.cu_seqlens = starts.data(), batch.mask = mask.data(), batch.sequences = 2;
      batch.step.sequences = 2, batch.step.counted_tokens = 38;
      trainer::StepOptions options;
      options.objective = kernels::Objective::kSupervised;
      made.step(batch, options);
      const auto snapshot = model::snapshot_bytes({}, model, config.weight_storage);
      EXPECT_EQ(Arena::live_bytes(Memory::kHost) - before, trainer::trainer_bytes(model, config, 2, 1).total() + snapshot.tensors() + snapshot.rope_tables);
    }
  }
}

TEST(a_term_in_the_sum_of_scores_is_refused_on_a_gpu) {
  for (const auto& [name, model] : mixture_configs()) {
    if (model.experts.least_sum > 0.0) EXPECT_THROWS(model::check_for_gpu(model), Code::kUnsupported);
    else model::check_for_gpu(model);
  }
}

}  // namespace contract_mixture_test
