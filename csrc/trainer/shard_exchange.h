// Exchanges gradients, weights and sums between ranks, bucket by bucket.
#pragma once

#include <cstdint>
#include <vector>

#include "core/arena.h"
#include "dist/communicator.h"
#include "trainer/shard_layout.h"

namespace hone::trainer {

/// Every method is a collective: all ranks make the same calls in the same order, with the same sizes. Each
/// throws the communicator's errors. Keeps memory for one bucket in each direction. Gradients, weights and
/// shards are in the stream's memory, numbers per block in host memory.
class ShardExchange {
 public:
  /// All arguments must outlive this object.
  ShardExchange(const Stream& stream, const ShardLayout& layout, dist::Communicator& ranks);

  /// Adds the gradients of ranks 0, 1, .. `given` - 1 to `shard`, element by element in that order, so that
  /// the sum depends on the order of ranks only. gradients: those of all elements; not read on a rank without
  /// gradients. shard: this rank's.
  void reduce(const float* gradients, int given, float* shard);
  /// reduce() for one bucket, whose gradients are at `bucket_gradients`.
  void reduce_bucket(size_t bucket, const float* bucket_gradients, int given, float* shard);
  /// Completes `whole` on every rank: sends this rank's parts and overwrites the parts of the others.
  /// from_layer: begins with this layer; L for only the tensors outside of layers.
  void gather(float* whole, int64_t from_layer = 0);
  /// Overwrites `whole` with the shards of all ranks. shard: this rank's.
  void gather(const float* shard, float* whole);
  /// True if the parts of `whole` that other ranks own equal theirs, bit by bit. Transfers as many bytes as
  /// gather.
  bool same(const float* whole);
  /// own: one number for each of this rank's blocks. Returns the numbers of all blocks, in order.
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

/// Bytes of a ShardExchange in the stream's memory.
int64_t shard_exchange_bytes(const ShardLayout& layout);

}  // namespace hone::trainer
