// Which rank owns which trained elements when ranks shard them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/tensor_block.h"

namespace hone::trainer {

/// Elements of a block, counted from the start of a layer; a rank owns whole blocks. A norm is the sum of its
/// blocks' sums in order, so that its bits are the same for any number of ranks.
inline constexpr int64_t kShardBlock = 4096;
/// Limit of the elements that one collective carries; a multiple of kShardBlock.
inline constexpr int64_t kShardBucket = int64_t(1) << 22;

/// Consecutive trained elements of one layer, which one collective carries.
struct ShardBucket {
  int64_t offset = 0, count = 0;
  int64_t layer = 0;         // L: outside of layers
  int64_t first_block = 0;   // index of the bucket's first block among all blocks
  int64_t blocks() const { return (count + kShardBlock - 1) / kShardBlock; }
};

/// The part of a bucket that one rank owns. May be empty.
struct ShardPart {
  int64_t offset = 0, count = 0;  // range within all trained elements
  int64_t local = 0;              // index of the part's first element in the rank's shard
  int64_t block = 0, blocks = 0;  // index of the part's first block among all blocks; number of blocks
};

/// Divides each bucket into one part per rank, of equally many blocks as far as possible. The parts of a
/// bucket are in rank order, but each bucket starts with another rank, which distributes small buckets over
/// all ranks.
class ShardLayout {
 public:
  /// specs: sorted by offset. layers: L of the model. bucket: limit of a bucket's elements, a multiple of
  /// kShardBlock.
  ShardLayout(const std::vector<model::TensorSpec>& specs, int64_t layers, int ranks, int64_t bucket = kShardBucket);

  int ranks() const { return ranks_; }
  const std::vector<ShardBucket>& buckets() const { return buckets_; }
  const ShardPart& part(size_t bucket, int rank) const { return parts_[bucket * size_t(ranks_) + size_t(rank)]; }
  /// Elements, in whole blocks, of the longest part of a bucket, which is the size of every rank's part in a
  /// collective.
  int64_t width(size_t bucket) const;
  int64_t widest() const;
  /// Elements of a rank's shard.
  int64_t elements(int rank) const { return elements_[size_t(rank)]; }
  /// Number of blocks in one rank's shard (blocks(rank)) and in all shards (blocks()).
  int64_t blocks(int rank) const;
  int64_t blocks() const;

 private:
  void append(int64_t offset, int64_t count, int64_t layer, int64_t bucket);
  void divide();

  int ranks_;
  std::vector<ShardBucket> buckets_;
  std::vector<ShardPart> parts_;    // [buckets, ranks]
  std::vector<int64_t> elements_;   // [ranks]
};

/// Bytes of sharded weights or gradients, which are f32.
inline int64_t float_bytes(int64_t elements) { return elements * int64_t(sizeof(float)); }

/// The layer to which a tensor belongs; `layers` for a tensor outside of layers.
int64_t layer_of(const model::TensorSpec& spec, int64_t layers);

}  // namespace hone::trainer
