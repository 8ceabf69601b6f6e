// Options of a trainer.
#pragma once

#include <cstdint>

#include "core/stream.h"
#include "core/tensor.h"
#include "kernels/lm_head.h"
#include "kernels/matmul.h"
#include "model/adapters.h"

namespace hone::trainer {

struct OptimizerConfig {
  enum class Kind : uint8_t { kAdamW, kMuon } kind = Kind::kAdamW;  // kMuon: Muon for block matrices, AdamW for the rest
  float beta1 = 0.9f, beta2 = 0.95f, eps = 1e-8f;
  float weight_decay = 0.0f;
  bool decay_all = false;        // false: only 2-D tensors decay (norms and biases do not)
  float muon_momentum = 0.95f;
  float gradient_clip = 0.3f;    // global norm; 0: off
  DType moments = DType::kF32;   // of AdamW; kBF16: rounded at random, see kernels::AdamWArgs
  uint64_t seed = 0;             // of that random rounding
  /// On a GPU: AdamW's moments are in page-locked host memory, and an update streams windows of them through the
  /// device; the same bits. On the CPU they are in host memory anyway.
  bool moments_on_host = false;
  int64_t window = int64_t(1) << 22;  // on a GPU: elements of AdamW that one call updates at most, a multiple of 16
};

/// State that cooperating trainers shard (docs/explanation/numerics.md). Each of the P trainers has the whole
/// batch and computes every P-th of its micro-batches.
struct Sharding {
  /// kOptimizer: AdamW's moments. kGradients: also gradients; a rank has those of its shard, and of a micro-batch those
  /// of the current layer and of the tensors outside of layers. kParameters: also weights, likewise; those of a layer
  /// are gathered while the previous one is computed.
  enum class Stage : uint8_t { kNone, kOptimizer, kGradients, kParameters } stage = Stage::kNone;
  /// Gives the same bits for any number of ranks, including one: adds up the gradients of micro-batches one by one, in
  /// their order. Otherwise a rank adds up its own first, unless it keeps no gradients to add to: kGradients and
  /// kParameters are exact.
  bool exact = false;
  /// K: teams of K neighbouring ranks share a micro-batch of K * packed_tokens tokens: each takes 1/K of its rows, and,
  /// in attention, all rows of 1/K of the heads. A micro-batch's gradient is then a sum of K parts, one per block of
  /// its rows, in their order; a single exact rank adds up the same parts. K divides the number of ranks, unless that
  /// is 1, and the model's heads and key/value heads.
  int sequence = 1;
};

struct TrainerConfig {
  model::AdapterConfig adapters{};  // if enabled: only their A and B are trained
  OptimizerConfig optimizer;
  int64_t packed_tokens = 4096;  // T of a micro-batch; a longer sequence gets its own
  bool recompute = false;  // activations: keep only a layer's input, and recompute the rest in the backward; the same bits
  int64_t head_rows = kernels::kHeadGradientRows;  // on a GPU: kernels::LmHeadGradArgs::chunk
  DType weight_storage = DType::kF32;  // on the CPU; a GPU always computes in bf16
  kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32;  // on the CPU: of block matrices' products; kBF16 needs bf16 storage
  Stream::Backend device = Stream::Backend::kCpu;
  /// On a GPU: attention uses the engine's instructions, so that log-probs equal the engine's to the bit (on the CPU
  /// they always do). Otherwise it uses the fastest kernels, within the bound of docs/explanation/numerics.md.
  bool deterministic = false;
  Sharding sharding{};
};

}  // namespace hone::trainer
