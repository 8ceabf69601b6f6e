// A version of the weights from a trainer, or from who has it whole, to the engines of other processes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/stream.h"
#include "dist/communicator.h"
#include "model/parameters.h"
#include "model/weight_snapshot.h"
#include "trainer/packed_weights.h"

namespace hone::trainer {

inline constexpr int64_t kBucketBytes = int64_t(512) << 20;

/// Rank 0 of the group sends, all others receive(), at the same time: the header is sent first and can be refused, then
/// the parameters come in buckets of up to `bucket_bytes`, each with its checksum. From a GPU they are
/// copied to host memory first.
/// Returns the ranks that refused this version or got damaged bytes; the group goes on. Throws what collectives throw; the
/// group is lost then.
std::vector<int> send_weights(dist::Communicator& group, const model::Parameters& parameters, uint32_t version,
                              int64_t bucket_bytes = kBucketBytes);

/// Weights as they come, and what engines get of them. What is half received is never handed out: engines have packed
/// copies, which a transfer does not touch. For engines on the CPU. One thread calls everything.
class WeightReceiver {
 public:
  /// storage, arithmetic: those of the trainer, whose snapshots these then equal to the bit. `pool` does the packing. Throws kOutOfMemory.
  WeightReceiver(const model::ModelConfig& config, DType storage, ThreadPool* pool,
                 kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32);

  /// One version from rank 0 of the group; returns it. Throws kState for a version before the one that was committed,
  /// kConfig for weights of another model, kFormat naming the bucket for damaged bytes, kAborted where another rank
  /// refused before anything came: the group goes on. Throws what collectives throw, and the group is lost. After any of
  /// these nothing is there to commit.
  uint32_t receive(dist::Communicator& group);

  /// As rank 0 of a group whose others receive(): the version that was committed last, in the buckets and with the checksums
  /// that it came with, so that every receiver has what the trainer sent; returns the version. Throws kState, before
  /// anything is said to the group, unless it is here whole and nothing came since; what collectives throw, and the group
  /// is lost.
  uint32_t send(dist::Communicator& group);

  /// What was received last, for engines. Throws kState unless it is complete.
  std::shared_ptr<const model::WeightSnapshot> commit();
  const model::ModelConfig& config() const { return parameters_.config(); }

 private:
  void receive_buckets(dist::Communicator& group);

  Stream stream_;
  model::Parameters parameters_;
  PackedWeights packed_;
  std::optional<uint32_t> received_, committed_;
  int64_t bucket_bytes_ = 0;         // of what was received last
  std::vector<uint32_t> checksums_;  // of its buckets, as their sender said them
};

}  // namespace hone::trainer
