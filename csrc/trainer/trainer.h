// The trainer: packs sequences, runs forward, objective and backward, and takes one optimizer step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/stream.h"
#include "kernels/policy_loss.h"
#include "model/parameters.h"
#include "model/weight_snapshot.h"

namespace hone::trainer {

struct OptimizerConfig {
  enum class Kind : uint8_t { kAdamW, kMuon } kind = Kind::kAdamW;  // Muon: block matrices; the rest AdamW
  float beta1 = 0.9f, beta2 = 0.95f, eps = 1e-8f;
  float weight_decay = 0.0f;
  bool decay_all = false;        // false: only 2-D tensors decay (norms and biases do not)
  float muon_momentum = 0.95f;
  float gradient_clip = 0.3f;    // global norm; 0: off
};

struct TrainerConfig {
  OptimizerConfig optimizer;
  int64_t packed_tokens = 4096;  // T of a micro-batch; a longer sequence gets one of its own
  DType weight_storage = DType::kF32;  // on the CPU; a GPU computes in bf16 whatever it says
  Stream::Backend device = Stream::Backend::kCpu;
  /// On a GPU: attention with the instructions of the engine's, so that log-probs are the engine's to the bit (on the
  /// CPU they always are). Otherwise the fastest there are, within the bound of docs/numerics.md.
  bool deterministic = false;
};

/// One optimizer step's data. T tokens over all sequences, S sequences; borrowed for the call.
struct TrainingBatch {
  const int32_t* tokens = nullptr;             // [T] prompt and response, sequence after sequence
  const int32_t* cu_seqlens = nullptr;         // [S+1]
  const uint8_t* mask = nullptr;               // [T] 1 on tokens the policy chose; the first of a sequence is 0
  const float* behavior_logprobs = nullptr;    // [T], read where mask is 1; null if supervised
  const float* reference_logprobs = nullptr;   // [T] or null
  const float* advantages = nullptr;           // [S]; null if supervised
  const float* token_advantages = nullptr;     // [T] or null
  const int32_t* group_sizes = nullptr;        // [S] or null
  int64_t sequences = 0;
  kernels::StepNormalizer step;                // counted_tokens and sequences are checked against the data
};

struct StepOptions {
  kernels::Objective objective = kernels::Objective::kGspo;
  kernels::SequenceWeight sequence_weight = kernels::SequenceWeight::kUniform;
  float clip_low = 3e-3f, clip_high = 4e-3f, kl_coef = 0, entropy_coef = 0, temperature = 1;
  float lr = 0, muon_lr = 0;
};

/// What a step did. Per-token and per-sequence arrays keep the order of the batch.
struct StepReport {
  double loss = 0, policy_loss = 0, grad_norm = 0, grad_scale = 1, update_norm = 0, weight_norm = 0;
  bool skipped = false;            // non-finite gradient or loss: weights untouched
  int64_t non_finite_sequence = -1;  // first sequence whose loss was not finite
  int64_t micro_batches = 0, trained_tokens = 0, packed_tokens = 0;
  double forward_seconds = 0, backward_seconds = 0, optimizer_seconds = 0, pack_seconds = 0;
  std::vector<float> logprobs, entropies;  // [T] under the weights before the step; 0 where masked out
  std::vector<float> ratios;               // [T] as policy_loss writes them
  std::vector<uint8_t> clipped;            // [T]
  std::vector<double> layer_grad_norms;    // [L + 1], the last entry is embedding, head and final norm
};

/// Not thread-safe: one thread calls everything. On a GPU masters, gradients and moments lie there; batches go up and
/// per-token results come down once per micro-batch, norms once per step, and the times of forward and backward are
/// those of giving the work, but for the last, which waits.
class Trainer {
 public:
  /// Throws kConfig naming the field, kOutOfMemory, kCuda without a GPU to use, kUnsupported for a model
  /// that the GPU has no kernels for.
  Trainer(const model::ModelConfig& model, const TrainerConfig& config, ThreadPool* pool);
  ~Trainer();

  model::Parameters& parameters();
  /// Of the last step, before clipping.
  const model::Parameters& gradients() const;
  /// Call after writing to parameters(): rebuilds the packed copies; optimizer state is kept.
  void parameters_changed();
  uint32_t version() const;       // optimizer steps taken (skipped ones not counted), or as set
  void set_version(uint32_t version);
  /// Drops optimizer moments and the step counter (between warm start and RL).
  void reset_optimizer(const OptimizerConfig& config);

  /// Throws kShape naming the argument and index on an inconsistent batch; the model is then untouched.
  /// Same batch, same bits, for any number of threads.
  StepReport step(const TrainingBatch& batch, const StepOptions& options);
  /// Forward only: log-prob and entropy of every masked-in token; bit for bit what the engine records on the CPU, and
  /// on a GPU if TrainerConfig::deterministic.
  void score(const TrainingBatch& batch, float temperature, float* logprobs, float* entropies);

  /// The current weights for engines on the same device: nobody rewrites them while anyone else holds them.
  std::shared_ptr<const model::WeightSnapshot> snapshot();

  /// Safetensors shards of parameters and optimizer moments with a manifest (sha256 of each file, step,
  /// version, `extra` as given); fsync, then one atomic rename: a directory that exists is complete.
  void save(const std::string& directory, const std::string& extra_json);
  /// Throws kFormat naming the file for a truncated or altered checkpoint; returns `extra`.
  std::string load(const std::string& directory);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::trainer
