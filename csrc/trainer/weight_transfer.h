// Transfer of one weight version from a trainer, or from a process that has all of it, to the engines of other
// processes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/device.h"
#include "dist/communicator.h"
#include "model/weight_snapshot.h"

namespace hone::trainer {

inline constexpr int64_t kBucketBytes = int64_t(64) << 20;

/// Rank 0 of the group sends while all others receive(): the header is sent first and can be refused, then the
/// snapshot's packed tensors follow, in buckets of up to `bucket_bytes`. In host memory each bucket has a checksum.
/// GPUs exchange over NCCL, whose links have checksums. stream: the one whose memory has the snapshot.
/// Returns the ranks that refused this version or received damaged bytes; the group remains usable. Throws the
/// collectives' errors; then the group is lost.
std::vector<int> send_weights(dist::Communicator& group, const Stream& stream, const model::WeightSnapshot& weights,
                              int64_t bucket_bytes = kBucketBytes);

/// Receives weights for engines. Never passes on an incomplete version: it is written to a snapshot that no engine
/// holds. Keeps two at most. For a GPU, whose engines have their own copy and no memory for a second one, snapshots are
/// page-locked in host memory; one bucket at a time passes through the GPU. One thread makes all calls.
class WeightReceiver {
 public:
  /// device, storage, arithmetic: those of trainer and engines, so that the received bytes are the trainer's snapshot.
  /// Throws kCuda without a GPU to use; kOutOfMemory when the first version comes.
  WeightReceiver(const model::ModelConfig& config, Stream::Backend device, DType storage, ThreadPool* pool,
                 kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32);

  /// Receives one version from rank 0 of the group; returns it. Throws kState for a version older than the committed
  /// one, kConfig for weights of another model, kFormat naming the bucket for damaged bytes, kAborted if another rank
  /// refused before the transfer: the group remains usable. Throws the collectives' errors, and then the group is lost.
  /// After any of these there is nothing to commit.
  uint32_t receive(dist::Communicator& group);

  /// As rank 0 of a group whose others receive(): sends the last committed version, with its original buckets and
  /// checksums, so that every receiver gets what the trainer sent; returns the version. Throws kState, before sending
  /// anything, unless it is complete here and no later version was received; the collectives' errors, and then the
  /// group is lost.
  uint32_t send(dist::Communicator& group);

  /// The last received version, for engines. Throws kState unless it is complete.
  std::shared_ptr<const model::WeightSnapshot> commit();
  const model::ModelConfig& config() const { return config_; }
  Stream::Backend device() const { return device_.stream().backend; }

 private:
  model::WeightSnapshot& writable();
  void receive_buckets(dist::Communicator& group);
  /// Memory of the GPU for the next bucket; empty on the CPU.
  TensorView staging();

  model::ModelConfig config_;
  Device device_;
  DType storage_;
  kernels::Arithmetic arithmetic_;
  std::shared_ptr<model::WeightSnapshot> newest_, spare_;  // spare_: an engine may hold it, and newest_ once committed
  std::optional<uint32_t> received_, committed_;
  int64_t bucket_bytes_ = 0;         // of the last transfer received
  std::vector<uint32_t> checksums_;  // of its buckets, as sent; none between GPUs
  Arena staging_;
};

}  // namespace hone::trainer
