// A version of the weights from a trainer, or from who has it whole, to the engines of other processes.
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

/// Rank 0 of the group sends, all others receive(), at the same time: the header is sent first and can be refused, then
/// the snapshot's tensors come, packed as they are read, in buckets of up to `bucket_bytes`. In the host's memory each
/// bucket has its checksum. GPUs exchange over NCCL, whose links have checksums.
/// stream: in whose memory the snapshot is.
/// Returns the ranks that refused this version or got damaged bytes; the group goes on. Throws what collectives throw; the
/// group is lost then.
std::vector<int> send_weights(dist::Communicator& group, const Stream& stream, const model::WeightSnapshot& weights,
                              int64_t bucket_bytes = kBucketBytes);

/// Weights as they come, for engines. A version that is half received is never handed out: it goes to a snapshot that no
/// engine holds. Keeps two at most. Those for a GPU, whose engines have a copy of their own and no memory for a second one,
/// lie page-locked in the host's memory; a bucket at a time passes through the GPU. One thread calls everything.
class WeightReceiver {
 public:
  /// device, storage, arithmetic: those of trainer and engines, so that the received bytes are the trainer's snapshot.
  /// Throws kCuda without a GPU to use; kOutOfMemory when the first version comes.
  WeightReceiver(const model::ModelConfig& config, Stream::Backend device, DType storage, ThreadPool* pool,
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
  int64_t bucket_bytes_ = 0;         // of what was received last
  std::vector<uint32_t> checksums_;  // of its buckets, as their sender said them; none between GPUs
  Arena staging_;
};

}  // namespace hone::trainer
