// Transfers one weight version from a trainer, or from another process that has all of it, to processes with
// engines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/device.h"
#include "dist/communicator.h"
#include "model/weight_snapshot.h"
#include "trainer/adapter_transfer.h"

namespace hone::trainer {

/// Sends a version from rank 0 of the group to all other ranks, which call receive(). Sends a header, which a
/// receiver can refuse, then the snapshot's packed tensors in buckets of at most `bucket_bytes`. In host
/// memory each bucket has a checksum; GPUs exchange over NCCL, whose links have checksums. stream: the one in
/// whose memory the snapshot lies. Returns the ranks that refused this version or received damaged bytes; the
/// group remains usable. Throws the collectives' errors, after which the group is lost.
std::vector<int> send_weights(dist::Communicator& group, const Stream& stream, const model::WeightSnapshot& weights,
                              int64_t bucket_bytes = kBucketBytes);

/// Receives weights for a process's engines. Writes each version to a snapshot that no engine holds, so that
/// no engine ever sees an incomplete version; keeps at most two snapshots. Of adapters it keeps the base, and
/// forms the weights. For a GPU, whose engines have
/// their own copy and no memory for a second one, snapshots are in page-locked host memory, and one bucket at
/// a time passes through the GPU. Not thread-safe.
class WeightReceiver {
 public:
  /// device, storage, arithmetic: those of trainer and engines, so that the received bytes are the trainer's
  /// snapshot. Throws kCuda without a usable GPU. The first receive() allocates and may throw kOutOfMemory.
  WeightReceiver(const model::ModelConfig& config, Stream::Backend device, DType storage, ThreadPool* pool,
                 kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32);

  /// Receives one version from rank 0 of the group and returns its number. Throws kState for a version older
  /// than the committed one, kConfig for weights of another model, kFormat naming the bucket for damaged
  /// bytes, kAborted if another rank refused before the transfer; after these the group remains usable.
  /// Throws the collectives' errors, after which the group is lost. After any error there is no version to
  /// commit.
  uint32_t receive(dist::Communicator& group);

  /// As rank 0 of a group whose other ranks call receive(): sends the last committed version, with its
  /// original buckets and checksums, so that every receiver gets the trainer's bytes. Returns the version.
  /// Throws kState, before sending anything, unless that version is complete here and no later one was
  /// received; the collectives' errors, after which the group is lost.
  uint32_t send(dist::Communicator& group);

  /// The last received version, for engines to use. Throws kState unless it is complete.
  std::shared_ptr<const model::WeightSnapshot> commit();
  const model::ModelConfig& config() const { return config_; }
  Stream::Backend device() const { return device_.stream().backend; }

 private:
  bool fits(const Announcement& coming);
  model::WeightSnapshot& writable(DType ends);
  void receive_buckets(dist::Communicator& group);
  /// GPU memory through which a bucket passes; empty on the CPU.
  TensorView staging();

  model::ModelConfig config_;
  Device device_;
  DType storage_;
  kernels::Arithmetic arithmetic_;
  AdapterReceiver adapted_;
  bool are_adapters_ = false;  // what came last
  // engines may hold spare_, and newest_ once it is committed
  std::shared_ptr<model::WeightSnapshot> newest_, spare_;
  std::optional<uint32_t> received_, committed_;
  int64_t bucket_bytes_ = 0;         // bucket size of the last received transfer
  std::vector<uint32_t> checksums_;  // checksums of its buckets, as sent; empty between GPUs
  Arena staging_;
};

}  // namespace hone::trainer
