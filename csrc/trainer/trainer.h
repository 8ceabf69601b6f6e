// The trainer: packs sequences, runs forward, objective and backward, and takes one optimizer step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "dist/communicator.h"
#include "model/parameters.h"
#include "model/weight_snapshot.h"
#include "trainer/adapter_transfer.h"
#include "trainer/checkpoint_draft.h"
#include "trainer/config.h"
#include "trainer/gradient_parts.h"
#include "trainer/step.h"
#include "trainer/teacher_head.h"

namespace hone::trainer {

/// Not thread-safe. On a GPU, master weights, gradients and moments stay on the device, except sharded
/// weights (kParameters), and moments if OptimizerConfig says so, which are in host memory. Each micro-batch
/// is copied to the GPU, and its per-token results back; norms are copied once per step. The reported times
/// of forward and backward are those of queueing the work, except that the last backward includes waiting for
/// the GPU.
/// 
/// With TrainerConfig::sharding this trainer is one of several ranks that train one model. All ranks then
/// call step, score, save and load together, with the same arguments, and get the same results. With sharded
/// weights (kParameters) they also call together every other method that reads weights: parameters, trained,
/// snapshot, save_model; each rank then holds all weights until the next step or score. After kCollective the
/// group is lost: close it, create a new group and trainer, and load a checkpoint.
class Trainer {
 public:
  /// ranks: the group, which must outlive this object; null without sharding, or for a single rank. Throws
  /// kConfig naming the field, kOutOfMemory, kCuda without a usable GPU, kUnsupported for a model without GPU
  /// kernels or for state that cannot be sharded.
  Trainer(const model::ModelConfig& model, const TrainerConfig& config, ThreadPool* pool, dist::Communicator* ranks = nullptr);
  ~Trainer();

  /// All weights, in f32; with adapters the frozen base. After writing to them, parameters_changed() must be
  /// called.
  model::Parameters& parameters();
  /// Gradients of the trained weights after the last step, before clipping. Throws kUnsupported with sharding.
  const model::TensorBlock& gradients() const;
  /// The trained tensors: all parameters, or only the adapters.
  model::TensorBlock& trained();
  /// Must be called after parameters() were written to: packs them again. Optimizer state is kept.
  void parameters_changed();
  // the last set_version(), plus the steps since that neither were skipped nor had keeps_version
  uint32_t version() const;
  void set_version(uint32_t version);
  /// Drops optimizer moments and the step counter (between warm start and RL).
  void reset_optimizer(const OptimizerConfig& config);

  /// Makes one optimizer step. Throws kShape naming the argument and index for an inconsistent batch; the
  /// model is then unchanged. Equal batches give equal bits, for any number of threads. With sharding also
  /// throws kState naming a rank that has another batch, other options or other weights, and kCollective if
  /// another rank failed: no rank has then changed anything.
  StepReport step(const TrainingBatch& batch, const StepOptions& options);
  /// Computes inner products between the gradients of P parts of a batch. Part p has the sequences i with
  /// part_of[i] = p, packed separately, and is normalized as the whole batch, so that the P gradients sum to
  /// that of step(). Makes no step; overwrites only gradients(). Needs host memory for P - 1 gradients.
  /// Throws the errors of step(), and kShape naming a part outside [0, parts). Same bits for any number of
  /// threads.
  GradientParts gradient_parts(const TrainingBatch& batch, const StepOptions& options, const int32_t* part_of, int32_t parts);
  /// Runs the forward only: log-prob and entropy of every token with mask 1. Log-probs equal those that the
  /// engine records, bit for bit, on the CPU, and on a GPU if TrainerConfig::deterministic. With sharding
  /// each rank, or team, computes every P-th micro-batch and all ranks get all results; throws the errors of
  /// step().
  void score(const TrainingBatch& batch, float temperature, float* logprobs, float* entropies);

  /// Like score(), but also computes what becomes TrainingBatch::teacher of a student. Also throws kConfig if
  /// k exceeds the vocabulary.
  void teach(const TrainingBatch& batch, float temperature, TokenScores scores);
  TeacherHead& teacher();  // the head that TeacherTokens::hidden is multiplied by

  const Stream& stream() const;  // snapshots are in this stream's memory
  /// The current packed weights, for engines on the same device. They are not rewritten while an engine holds
  /// them.
  std::shared_ptr<const model::WeightSnapshot> snapshot();
  /// With adapters on the CPU: what receivers form the current weights from, valid until the next call of the trainer.
  /// bucket_bytes: of the base's checksums, which are computed once.
  std::optional<AdapterSource> adapter_source(int64_t bucket_bytes);

  /// Writes a checkpoint: safetensors shards of parameters and optimizer moments, and a manifest with the
  /// sha256 of each file, the step, the version, and `extra_json` as given. Files are synced, then the folder
  /// is renamed atomically: a folder that exists is complete.
  void save(const std::string& directory, const std::string& extra_json);
  /// Copies the current state to `into`, which can then write, regardless of later steps, what save() would
  /// write now. A collective. Throws kOutOfMemory, or kCollective naming the rank that failed.
  void stage(const std::string& extra_json, StagedCheckpoint& into);
  /// Reads a checkpoint; returns the `extra_json` that it was saved with. Throws kFormat naming the file for
  /// a truncated or altered checkpoint.
  std::string load(const std::string& directory);

  /// Loads adapters from a PEFT folder. Throws kConfig if the trainer has no adapters, and the errors of
  /// model::load_adapters.
  void load_adapters(const std::string& directory);
  /// Writes the weights as engine and trainer read them, with adapters merged in: a model folder in f32.
  void save_model(const std::string& directory);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::trainer
