#include "trainer/shard_layout.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace hone::trainer {

int64_t layer_of(const model::TensorSpec& spec, int64_t layers) {
  const std::string prefix = "model.layers.";
  return spec.name.starts_with(prefix) ? std::atoll(spec.name.c_str() + prefix.size()) : layers;
}

ShardLayout::ShardLayout(const std::vector<model::TensorSpec>& specs, int64_t layers, int ranks, int64_t bucket)
    : ranks_(ranks), elements_(size_t(ranks)) {
  for (size_t i = 0; i < specs.size();) {
    const int64_t layer = layer_of(specs[i], layers), begin = specs[i].offset;
    while (i < specs.size() && layer_of(specs[i], layers) == layer) ++i;
    const int64_t end = i < specs.size() ? specs[i].offset : model::total_elements(specs);
    append(begin, end - begin, layer, bucket);
  }
  divide();
}

void ShardLayout::append(int64_t offset, int64_t count, int64_t layer, int64_t bucket) {
  for (int64_t at = 0; at < count; at += bucket) {
    buckets_.push_back({offset + at, std::min(bucket, count - at), layer, blocks()});
  }
}

void ShardLayout::divide() {
  for (size_t b = 0; b < buckets_.size(); ++b) {
    const ShardBucket& bucket = buckets_[b];
    for (int rank = 0; rank < ranks_; ++rank) {
      const auto turn = int64_t((size_t(rank) + b) % size_t(ranks_));
      const int64_t first = turn * bucket.blocks() / ranks_, last = (turn + 1) * bucket.blocks() / ranks_;
      const int64_t begin = first * kShardBlock, end = std::min(last * kShardBlock, bucket.count);
      ShardPart part{bucket.offset + begin, end - begin, elements_[size_t(rank)], bucket.first_block + first, last - first};
      if (part.blocks == 0) part.count = 0;
      elements_[size_t(rank)] += part.count;
      parts_.push_back(part);
    }
  }
}

int64_t ShardLayout::width(size_t bucket) const {
  return (buckets_[bucket].blocks() + ranks_ - 1) / ranks_ * kShardBlock;
}

int64_t ShardLayout::widest() const {
  int64_t widest = 0;
  for (size_t b = 0; b < buckets_.size(); ++b) widest = std::max(widest, width(b));
  return widest;
}

int64_t ShardLayout::blocks(int rank) const {
  int64_t blocks = 0;
  for (size_t b = 0; b < buckets_.size(); ++b) blocks += part(b, rank).blocks;
  return blocks;
}

int64_t ShardLayout::blocks() const { return buckets_.empty() ? 0 : buckets_.back().first_block + buckets_.back().blocks(); }

}  // namespace hone::trainer
