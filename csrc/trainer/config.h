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
  // kMuon: Muon for the layers' matrices, AdamW for other tensors
  enum class Kind : uint8_t { kAdamW, kMuon } kind = Kind::kAdamW;
  float beta1 = 0.9f, beta2 = 0.95f, eps = 1e-8f;
  float weight_decay = 0.0f;
  bool decay_all = false;        // false: only 2-D tensors have weight decay (norms and biases have none)
  float muon_momentum = 0.95f;
  float gradient_clip = 0.3f;    // limit of the global gradient norm; 0: no clipping
  // dtype of AdamW's moments; kBF16: with stochastic rounding, see kernels::AdamWArgs
  DType moments = DType::kF32;
  uint64_t seed = 0;             // seed of the stochastic rounding of moments
  /// On a GPU: keeps AdamW's moments in page-locked host memory; an update streams windows of them through
  /// the device, with the same bits as moments on the device. On the CPU moments are always in host memory.
  bool moments_on_host = false;
  // on a GPU: limit of the elements that one AdamW call updates, a multiple of 16
  int64_t window = int64_t(1) << 22;
};

/// Which state cooperating trainers shard (docs/explanation/numerics.md). Each of the P trainers gets the
/// whole batch and computes every P-th of its micro-batches.
struct Sharding {
  /// kOptimizer shards AdamW's moments. kGradients also shards gradients: a rank holds those of its shard
  /// and, during a micro-batch, those of the current layer and of the tensors outside of layers. kParameters
  /// also shards the weights of layers: each layer is gathered while the previous one is computed.
  enum class Stage : uint8_t { kNone, kOptimizer, kGradients, kParameters } stage = Stage::kNone;
  /// Gives the same bits for any number of ranks, including one, by summing the gradients of micro-batches
  /// one by one in their order. If false, a rank first sums the gradients of its own micro-batches.
  /// kGradients and kParameters always sum one by one, since a rank has no memory for such a sum.
  bool exact = false;
  /// K: teams of K neighbouring ranks share a micro-batch of K * packed_tokens tokens; each rank takes 1/K of
  /// its rows and, in attention, all rows of 1/K of the heads. The gradient of a micro-batch is then a sum of
  /// K parts, one per block of rows, in their order; a single rank with `exact` sums the same parts. K
  /// divides the number of ranks (unless that is 1) and the model's numbers of heads and key/value heads.
  int sequence = 1;
};

struct TrainerConfig {
  model::AdapterConfig adapters{};  // if on(): only the adapters' A and B are trained
  OptimizerConfig optimizer;
  // T: limit of the tokens in a micro-batch; a longer sequence gets a micro-batch of its own
  int64_t packed_tokens = 4096;
  // store only each layer's input and recompute other activations in the backward; the same bits
  bool recompute = false;
  int64_t head_rows = kernels::kHeadGradientRows;  // on a GPU: kernels::LmHeadGradArgs::chunk
  DType weight_storage = DType::kF32;  // dtype of packed weights on the CPU; a GPU always uses bf16
  // arithmetic of products with the layers' matrices on the CPU; kBF16 needs bf16 storage
  kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32;
  Stream::Backend device = Stream::Backend::kCpu;
  /// On a GPU: attention uses the engine's instructions, so that log-probs equal the engine's to the bit (on
  /// the CPU they always do). If false, it uses the fastest kernels, whose error docs/explanation/numerics.md
  /// bounds.
  bool deterministic = false;
  Sharding sharding{};
};

}  // namespace hone::trainer
