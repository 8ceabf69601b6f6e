// The trainer: packs sequences, runs forward, objective and backward, and takes one optimizer step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dist/communicator.h"
#include "model/parameters.h"
#include "model/weight_snapshot.h"
#include "trainer/checkpoint_draft.h"
#include "trainer/config.h"
#include "trainer/gradient_parts.h"
#include "trainer/step.h"
#include "trainer/teacher_head.h"

namespace hone::trainer {

/// Not thread-safe: one thread makes all calls. On a GPU, master weights, gradients and moments stay on the device,
/// except sharded weights (kParameters), and moments if OptimizerConfig says so, which are in host memory. Batches are
/// copied to it and per-token results back once per micro-batch, norms once per step. The reported times of forward and
/// backward are those of queueing the work, except for the last backward, which includes the wait.
/// 
/// With TrainerConfig::sharding it is one of several ranks that train one model. All of them then call step, score,
/// save and load together, with the same arguments, and get the same results; with sharded weights (kParameters) also
/// every other call that reads weights: parameters, trained, snapshot, save_model, which then hold all weights until
/// the next step or score. After kCollective the group is lost: close it, and load a checkpoint with a new one.
class Trainer {
 public:
  /// ranks: the group, which must outlive this; null without sharding, or for a single rank. Throws kConfig naming the
  /// field, kOutOfMemory, kCuda without a usable GPU, kUnsupported for a model without GPU kernels, or state that
  /// cannot be sharded.
  Trainer(const model::ModelConfig& model, const TrainerConfig& config, ThreadPool* pool, dist::Communicator* ranks = nullptr);
  ~Trainer();

  /// All weights, in f32; with adapters the frozen base. Call parameters_changed() after writing to them.
  model::Parameters& parameters();
  /// Gradients of the trained weights after the last step, before clipping. Throws kUnsupported with sharding.
  const model::TensorBlock& gradients() const;
  /// The parameters, or the adapters alone.
  model::TensorBlock& trained();
  /// Call after writing to parameters(): rebuilds the packed copies; optimizer state is kept.
  void parameters_changed();
  uint32_t version() const;       // as set, plus the steps since (not those skipped, or with keeps_version)
  void set_version(uint32_t version);
  /// Drops optimizer moments and the step counter (between warm start and RL).
  void reset_optimizer(const OptimizerConfig& config);

  /// Throws kShape naming the argument and index for an inconsistent batch; the model is then unchanged. Same batch,
  /// same bits, for any number of threads. With sharding also kState naming a rank with another batch, other options or
  /// other weights, and kCollective if another rank failed: no rank has then changed anything.
  StepReport step(const TrainingBatch& batch, const StepOptions& options);
  /// Inner products of the gradients that P parts of a batch add to that of step(): part p is the sequences i with
  /// part_of[i] = p, packed on their own, with the normalizer of the whole batch, so that the P gradients add up to the
  /// step's. Takes no step: overwrites gradients() alone. Keeps P - 1 gradients in host memory meanwhile.
  /// Throws what step throws, and kShape naming a part outside [0, parts). The same bits for any number of threads.
  GradientParts gradient_parts(const TrainingBatch& batch, const StepOptions& options, const int32_t* part_of, int32_t parts);
  /// Forward only: log-prob and entropy of every masked-in token; bit for bit what the engine records on the CPU, and
  /// on a GPU if TrainerConfig::deterministic. With sharding a rank, or a team, computes every P-th micro-batch, all get all
  /// results, and it throws what step throws.
  void score(const TrainingBatch& batch, float temperature, float* logprobs, float* entropies);

  /// Like score(), for a student's TrainingBatch::teacher. Also throws kConfig if k exceeds the vocabulary.
  void teach(const TrainingBatch& batch, float temperature, TokenScores scores);
  TeacherHead& teacher();  // reads TeacherTokens::hidden

  const Stream& stream() const;  // snapshots are in its memory
  /// The current weights for engines on the same device: not rewritten while an engine holds them.
  std::shared_ptr<const model::WeightSnapshot> snapshot();

  /// Safetensors shards of parameters and optimizer moments with a manifest (sha256 of each file, step,
  /// version, `extra` as given); fsync, then one atomic rename: a directory that exists is complete.
  void save(const std::string& directory, const std::string& extra_json);
  /// Copies the current state: `into` then writes what save would have written now, regardless of later steps. A
  /// collective. Throws kOutOfMemory, or kCollective naming the rank that failed.
  void stage(const std::string& extra_json, StagedCheckpoint& into);
  /// Throws kFormat naming the file for a truncated or altered checkpoint; returns `extra`.
  std::string load(const std::string& directory);

  /// Adapters from a PEFT folder. Throws kConfig without adapters, and what model::load_adapters throws.
  void load_adapters(const std::string& directory);
  /// The weights as engine and trainer read them, adapters merged into them: a model folder in f32.
  void save_model(const std::string& directory);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::trainer
