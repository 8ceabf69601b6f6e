// Ownership of trained elements if ranks shard them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/tensor_block.h"

namespace hone::trainer {

/// Elements that are added up together, counted from the start of a layer: the same for any number of ranks, so that a
/// norm, which is the sum of its blocks in order, is too. A rank owns whole blocks.
inline constexpr int64_t kShardBlock = 4096;
/// Elements that one collective carries, at most: a multiple of kShardBlock.
inline constexpr int64_t kShardBucket = int64_t(1) << 22;

/// Neighbouring trained elements of one layer.
struct ShardBucket {
  int64_t offset = 0, count = 0;
  int64_t layer = 0;         // L: outside of the layers
  int64_t first_block = 0;   // its number among all blocks
  int64_t blocks() const { return (count + kShardBlock - 1) / kShardBlock; }
};

/// One rank's part of a bucket. May be empty.
struct ShardPart {
  int64_t offset = 0, count = 0;  // within all trained elements
  int64_t local = 0;              // where it begins in the rank's shard
  int64_t block = 0, blocks = 0;  // its first block among all blocks, and how many it has
};

/// Each bucket is divided into parts of equally many blocks, as far as possible, one per rank, in the order of ranks,
/// except that every bucket begins with the next rank: this distributes small buckets over all ranks.
class ShardLayout {
 public:
  /// specs: in order of their offsets. layers: L of the model. bucket: a multiple of kShardBlock.
  ShardLayout(const std::vector<model::TensorSpec>& specs, int64_t layers, int ranks, int64_t bucket = kShardBucket);

  int ranks() const { return ranks_; }
  const std::vector<ShardBucket>& buckets() const { return buckets_; }
  const ShardPart& part(size_t bucket, int rank) const { return parts_[bucket * size_t(ranks_) + size_t(rank)]; }
  /// Elements of the longest part of a bucket, in whole blocks: the size of each rank's part in a collective.
  int64_t width(size_t bucket) const;
  int64_t widest() const;
  /// Elements of a rank's shard.
  int64_t elements(int rank) const { return elements_[size_t(rank)]; }
  /// Blocks of a rank's shard, and of all.
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

/// Bytes of sharded data, all of which is f32.
inline int64_t float_bytes(int64_t elements) { return elements * int64_t(sizeof(float)); }

/// The layer of a tensor; `layers` for one outside of them.
int64_t layer_of(const model::TensorSpec& spec, int64_t layers);

}  // namespace hone::trainer
