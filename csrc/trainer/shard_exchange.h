// What ranks send one another of gradients, weights and sums, bucket after bucket.
#pragma once

#include <cstdint>
#include <vector>

#include "core/arena.h"
#include "dist/communicator.h"
#include "trainer/shard_layout.h"

namespace hone::trainer {

/// Every call is a collective: all ranks make the same in the same order, with the same sizes. Each throws what the
/// communicator throws. Keeps memory for one bucket in either direction. Gradients, weights and shards lie in the stream's
/// memory, numbers of blocks in the host's.
class ShardExchange {
 public:
  /// The three must outlive this.
  ShardExchange(const Stream& stream, const ShardLayout& layout, dist::Communicator& ranks);

  /// shard += gradients of ranks 0, 1, .. `given` - 1, in that order, each element by itself: a sum that depends on
  /// the order of ranks and on nothing else. gradients: whole; not read on a rank that gives none. shard: of this rank.
  void reduce(const float* gradients, int given, float* shard);
  /// The same of one bucket, whose elements are at `bucket_gradients`.
  void reduce_bucket(size_t bucket, const float* bucket_gradients, int given, float* shard);
  /// whole: this rank's parts are sent, those of all others overwritten. from_layer: L for what is outside of layers alone.
  void gather(float* whole, int64_t from_layer = 0);
  /// whole: overwritten with the shards of all ranks. shard: of this rank.
  void gather(const float* shard, float* whole);
  /// Whether all parts of others equal those in `whole`, bit by bit. Same traffic as gather.
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

/// Bytes that it takes in the stream's memory.
int64_t shard_exchange_bytes(const ShardLayout& layout);

}  // namespace hone::trainer
