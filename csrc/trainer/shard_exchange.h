// Exchange of gradients, weights and sums between ranks, bucket by bucket.
#pragma once

#include <cstdint>
#include <vector>

#include "core/arena.h"
#include "dist/communicator.h"
#include "trainer/shard_layout.h"

namespace hone::trainer {

/// Every call is a collective: all ranks make the same calls in the same order, with the same sizes. Each throws the
/// communicator's errors. Keeps memory for one bucket in each direction. Gradients, weights and shards are in the
/// stream's memory, block values in the host's.
class ShardExchange {
 public:
  /// All arguments must outlive this.
  ShardExchange(const Stream& stream, const ShardLayout& layout, dist::Communicator& ranks);

  /// shard += gradients of ranks 0, 1, .. `given` - 1, in that order, element by element: the sum depends on the order
  /// of ranks only. gradients: whole; not read on a rank without gradients. shard: of this rank.
  void reduce(const float* gradients, int given, float* shard);
  /// The same for one bucket, whose elements are at `bucket_gradients`.
  void reduce_bucket(size_t bucket, const float* bucket_gradients, int given, float* shard);
  /// Fills `whole` on every rank: sends this rank's parts and overwrites those of the others. from_layer: L
  /// for only the tensors outside of layers.
  void gather(float* whole, int64_t from_layer = 0);
  /// Overwrites `whole` with the shards of all ranks. shard: that of this rank.
  void gather(const float* shard, float* whole);
  /// True if all parts of other ranks equal those in `whole`, bit by bit. Same traffic as gather.
  bool same(const float* whole);
  /// own: a number for each of this rank's blocks. Returns those of all blocks in order.
  std::vector<double> gather_blocks(const std::vector<double>& own);

 private:
  template <class Take>
  void gather_buckets(const float* whole, int64_t from_layer, const Take& take);

  Stream stream_;
  const ShardLayout& layout_;
  dist::Communicator& ranks_;
  Arena memory_;
  float *out_ = nullptr, *in_ = nullptr;  // [ranks, widest]
};

/// Bytes that a ShardExchange takes in the stream's memory.
int64_t shard_exchange_bytes(const ShardLayout& layout);

}  // namespace hone::trainer
