#include "trainer/memory.h"

#include <algorithm>

#include "kernels/lm_head.h"
#include "model/network.h"
#include "model/parameters.h"
#include "trainer/adapted_weights.h"
#include "trainer/gradient_rounds.h"
#include "trainer/micro_batch_pass.h"
#include "trainer/sequence_ranks.h"
#include "trainer/optimizer.h"
#include "trainer/shard_exchange.h"
#include "trainer/shard_layout.h"
#include "trainer/sharded_optimizer.h"
#include "trainer/update.h"
#include "trainer/weight_window.h"

namespace hone::trainer {
namespace {

/// Bytes of adapters in addition to gradients and moments; A and B take `trained` bytes.
int64_t adapter_bytes(const Stream& stream, const model::ModelConfig& model, const model::AdapterConfig& config, int64_t trained) {
  return trained + model::adapter_pack_bytes(stream, model, config) + forming_bytes(stream, model, config) +
         Arena::rounded(model::unused_gradient_width(model) * int64_t(sizeof(float)));
}

/// Bytes for copying an embedding to a GPU, if the scratch that AdaptedWeights keeps is too small for it;
/// otherwise 0.
int64_t embedding_bytes(const Stream& stream, const model::ModelConfig& model, const model::AdapterConfig& config) {
  const int64_t bytes = Arena::rounded(model.vocabulary * model.width * int64_t(sizeof(float)));
  return bytes > forming_bytes(stream, model, config) ? bytes : 0;
}

/// Bytes of the weights that a rank keeps: its shard of the layers, and everything outside of layers.
int64_t kept_parameter_bytes(const ShardLayout& layout, int64_t layers, int rank) {
  int64_t elements = 0;
  for (size_t b = 0; b < layout.buckets().size(); ++b) {
    const ShardBucket& bucket = layout.buckets()[b];
    elements += bucket.layer == layers ? bucket.count : layout.part(b, rank).count;
  }
  return elements * int64_t(sizeof(float));
}

/// Reduces `bytes` to what one rank needs if ranks shard the trainer's state.
void divide(const Stream& stream, const model::ModelConfig& model, const std::vector<model::TensorSpec>& specs, const TrainerConfig& config,
            const OneOfRanks& which, TrainerBytes& bytes) {
  const ShardLayout layout(specs, model.layers, which.size);
  const int64_t n = layout.elements(which.rank), shard = Arena::rounded(std::max<int64_t>(n, 1) * int64_t(sizeof(float)));
  const bool window = config.sharding.stage >= Sharding::Stage::kGradients;
  const int sequence = config.sharding.sequence;
  bytes.trained = blocks_alone(config.sharding, which.size) * (window ? gradient_window_bytes(layout, model.layers) : bytes.trained) + shard;
  if (sequence > 1 && which.size > 1) bytes.arrays += sequence_ranks_bytes(stream, model, config.packed_tokens * sequence, sequence);
  if (config.optimizer.kind == OptimizerConfig::Kind::kAdamW) {
    (bytes.host_moments > 0 ? bytes.host_moments : bytes.moments) = 2 * Arena::rounded(n * dtype_bytes(config.optimizer.moments));
  }
  const bool divides_weights = config.sharding.stage == Sharding::Stage::kParameters;
  bytes.arrays += shard_exchange_bytes(layout) + sharded_optimizer_bytes(stream, layout, which.rank, config.optimizer,
                                                                         divides_weights ? Memory::kHost : tensor_memory(stream));
  if (!divides_weights) return;
  const int64_t kept = stream.is_cuda() ? 0 : kept_parameter_bytes(layout, model.layers, which.rank);
  bytes.parameters = kept + weight_window_bytes(layout, model.layers);
}

}  // namespace

void check_hybrid(const model::ModelConfig& model, const TrainerConfig& config) {
  if ((model.has_kinds() || model.mixes()) && config.device == Stream::Backend::kCuda) model::check_for_gpu(model);
  if (model.sinks && config.sharding.sequence > 1) {
    fail(Code::kUnsupported, "trainer: %s has attention with sinks, whose heads ranks cannot divide; leave sharding.sequence out.", model.arch.c_str());
  }
  const bool sharded = config.sharding.stage != Sharding::Stage::kNone || config.sharding.sequence > 1;
  if (model.full_head_dim > 0 && sharded) {
    fail(Code::kUnsupported, "trainer: %s has heads of two sizes, and its trainers cannot be sharded. Leave sharding out.", model.arch.c_str());
  }
  if (!model.is_hybrid() || (config.sharding.stage == Sharding::Stage::kNone && config.sharding.sequence == 1)) return;
  fail(Code::kUnsupported, "trainer: %s has layers of gated DeltaNet, Mamba-2 or short convolution, whose trainers cannot be sharded. Leave sharding out.", model.arch.c_str());
}

TrainerBytes trainer_bytes(const model::ModelConfig& model, const TrainerConfig& config, int64_t sequences, int threads,
                           const OneOfRanks& which, DType base) {
  check_hybrid(model, config);
  const Stream stream{.backend = config.device};
  const bool adapted = config.adapters.on();
  const int64_t tokens = config.packed_tokens * config.sharding.sequence, rows = which.size > 1 ? config.packed_tokens : tokens;
  const model::TrainingBytes training = model::training_bytes(stream, model, rows, config.recompute, config.sharding.sequence > 1, config.weight_storage);
  const int64_t logits = kernels::lm_head_scratch_bytes(stream, rows, model.width, model.vocabulary,
                                                        config.head_rows);
  const bool visit = moments_visit(stream, config.optimizer);
  const auto specs = adapted ? model::adapter_specs(model, config.adapters) : model::tensor_specs(model);
  const int64_t trained = Arena::rounded(model::total_elements(specs) * int64_t(sizeof(float)));
  TrainerBytes bytes{.parameters = adapted && stream.is_cuda() ? 0 : model::parameter_bytes(model, base),
          .trained = trained,
          .moments = visit ? 0 : moment_bytes(specs, config.optimizer),
          .host_moments = visit ? moment_bytes(specs, config.optimizer) : 0,
          .first_packing = adapted && stream.is_cuda() ? embedding_bytes(stream, model, config.adapters) : 0,
          .adapters = adapted ? adapter_bytes(stream, model, config.adapters, trained) : 0,
          .activations = training.kept,
          .scratch = pass_arena_bytes(stream, model, rows, config) - training.kept - logits,
          .logits = logits,
          .arrays = packed_batch_bytes(tokens, sequences, expert_counts(model)) +
                    update_bytes(stream, model, model::total_elements(specs))};
  if (config.sharding.stage != Sharding::Stage::kNone) divide(stream, model, specs, config, which, bytes);
  if (config.sharding.stage == Sharding::Stage::kNone || config.optimizer.kind == OptimizerConfig::Kind::kMuon) bytes.arrays += optimizer_bytes(stream, specs, config.optimizer, threads);
  return bytes;
}

}  // namespace hone::trainer
