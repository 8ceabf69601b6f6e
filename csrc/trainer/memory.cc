#include "trainer/memory.h"

#include "kernels/lm_head.h"
#include "model/network.h"
#include "model/parameters.h"
#include "trainer/micro_batch_pass.h"
#include "trainer/optimizer.h"
#include "trainer/update.h"

namespace hone::trainer {

TrainerBytes trainer_bytes(const model::ModelConfig& model, const TrainerConfig& config, int64_t sequences, int threads) {
  const Stream stream{.backend = config.device};
  const model::TrainingBytes training = model::training_bytes(stream, model, config.packed_tokens, config.recompute);
  const int64_t logits = kernels::lm_head_scratch_bytes(stream, config.packed_tokens, model.width, model.vocabulary);
  return {.parameters = model::parameter_bytes(model),
          .transposed = model::transposed_bytes(stream, model, config.weight_storage),
          .activations = training.kept,
          .scratch = pass_arena_bytes(stream, model, config.packed_tokens, config.recompute) - training.kept - logits,
          .logits = logits,
          .arrays = packed_batch_bytes(config.packed_tokens, sequences) + update_bytes(stream, model) +
                    optimizer_bytes(stream, model, config.optimizer, threads)};
}

}  // namespace hone::trainer
